import type { Options } from 'yargs'
import { NOTIFY_EVENTS, NOTIFY_STYLES } from '../job/notify.ts'
import { SERVICE_NAMES } from '../services/services.ts'
import { EXAMPLE, SECOND_EXAMPLE } from '../services/wellKnown.ts'

/** Flags that every command has. */
export const COMMON_FLAGS = {
  quiet: { type: 'boolean', default: false, describe: 'Only results and errors' },
  verbose: { type: 'boolean', default: false, describe: 'Tell the outcome of every request' },
  'log-format': { choices: ['pretty', 'json'], default: 'pretty', describe: 'Form of the lines on stderr' },
} as const satisfies Record<string, Options>

/** Forms in which rows are printed. */
export const FORMATS = ['table', 'csv', 'tsv', 'json', 'ndjson', 'markdown'] as const

/** Forms of an exported file. */
export const EXPORT_FORMS = ['csv', 'tsv', 'ndjson', 'parquet'] as const
export type ExportForm = (typeof EXPORT_FORMS)[number]

/** A flag or a positional as yargs takes it, and what a shell completes its value with where it has no choices. */
export type FlagOptions = Options & { readonly completion?: 'file' | undefined }

/** The name of a file or a folder, which a shell completes. */
export const FILE = { type: 'string', completion: 'file' } as const satisfies FlagOptions

/** The file of the database where nothing is said. */
export const DEFAULT_DATABASE = 'data/indicator-sync.db'

/** Where the database is. */
export const DATABASE_FLAGS = {
  database: { ...FILE, describe: `Database file (INDICATOR_SYNC_DATABASE; default ${DEFAULT_DATABASE})` },
} as const satisfies Record<string, Options>

/** The service, for commands that need its address and do not call it. */
export const NAMED_SERVICE_FLAGS = {
  service: { choices: SERVICE_NAMES, describe: 'Service (INDICATOR_SYNC_SERVICE; default generic)' },
} as const satisfies Record<string, Options>

/** The service, for commands that call it. */
export const SERVICE_FLAGS = {
  ...NAMED_SERVICE_FLAGS,
  'base-url': { type: 'string', describe: 'Base address of the service (INDICATOR_SYNC_BASE_URL)' },
  'api-key-file': { ...FILE, describe: 'File that holds the API key (or INDICATOR_SYNC_API_KEY)' },
  'allow-http': {
    type: 'boolean',
    describe: 'Send the key unencrypted to a host that is not this machine (INDICATOR_SYNC_ALLOW_HTTP=1)',
  },
  timeout: { type: 'number', describe: 'Seconds that one answer may take, from the request to its last byte; 600' },
} as const satisfies Record<string, Options>

/** A time that may begin with a minus sign: with `nargs` the next word is its value, and no flags. */
export const MOMENT = { type: 'string', nargs: 1 } as const satisfies Options

/** A part of the job's windows. */
export const RANGE_FLAGS = {
  from: { ...MOMENT, describe: 'First local day, or an instant: 2025-10-01, -30d' },
  to: { ...MOMENT, describe: 'First local day after it: 2025-11-01, -2d, +2d' },
} as const satisfies Record<string, Options>

/** A part of the job's indicators. */
export const ONLY_FLAGS = {
  only: { type: 'string', describe: `Only these indicators of the job: ${EXAMPLE},${SECOND_EXAMPLE}` },
} as const satisfies Record<string, Options>

export const JSON_FLAG = { json: { type: 'boolean', default: false, describe: 'The result as JSON' } } as const

/** The job files of a command. */
export const JOB_FLAGS = { jobs: { ...FILE, array: true, describe: 'Job files (YAML)' } } as const

/** Who carries out a plan. */
export const DISTRIBUTED_FLAGS = {
  distributed: {
    type: 'boolean',
    default: false,
    describe: 'Hand the planned requests to workers (`indicator-sync worker`), and wait for them; on PostgreSQL only',
  },
} as const satisfies Record<string, Options>

/** How sure a commit is. */
export const DURABILITY_FLAGS = {
  durability: { choices: ['normal', 'full'], default: 'normal', describe: 'full survives a loss of power' },
} as const

/** What happens to a reply that cannot be understood. */
export const ON_REJECT_FLAGS = {
  'on-reject': {
    choices: ['quarantine', 'fail'],
    default: 'quarantine',
    describe: 'What cannot be understood is set aside, or its reply is not loaded',
  },
} as const

/** The same, and what ends a run. */
export const REJECT_FLAGS = {
  'on-reject': {
    ...ON_REJECT_FLAGS['on-reject'],
    describe: `${ON_REJECT_FLAGS['on-reject'].describe} and the run ends`,
  },
  'max-rejects': { type: 'number', describe: 'End the run when more rows than this are in its quarantine' },
} as const

/** Who is notified of runs. */
export const NOTIFY_FLAGS = {
  notify: {
    type: 'string',
    array: true,
    nargs: 1,
    describe:
      'Address that is notified of how every run ended, or $NAME of a variable that holds it (INDICATOR_SYNC_NOTIFY)',
  },
  'notify-on': {
    choices: NOTIFY_EVENTS,
    array: true,
    nargs: 1,
    describe: 'Tell only this; all but start when left out, and with pings that, too',
  },
  'notify-style': {
    choices: ['auto', ...NOTIFY_STYLES],
    default: 'auto',
    describe: 'ping is the way of healthchecks.io, and taken by itself for its addresses',
  },
} as const satisfies Record<string, Options>

/** The values that yargs makes of the flags. */
export interface CommonArgs {
  readonly quiet: boolean
  readonly verbose: boolean
  readonly logFormat: 'pretty' | 'json'
}
export interface DatabaseArgs {
  readonly database?: string | undefined
}
export interface NamedServiceArgs extends DatabaseArgs {
  readonly service?: string | undefined
}
export interface ServiceArgs extends NamedServiceArgs {
  readonly baseUrl?: string | undefined
  readonly apiKeyFile?: string | undefined
  readonly allowHttp?: boolean | undefined
  readonly timeout?: number | undefined
}
export interface OnlyArgs {
  readonly only?: string | undefined
}
export interface RangeArgs {
  readonly from?: string | undefined
  readonly to?: string | undefined
}
