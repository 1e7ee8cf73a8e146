import { DEFAULT_DATABASE } from '../db/address.ts'
import { SERVICE_NAMES } from '../service/services.ts'
import { EXAMPLE, SECOND_EXAMPLE } from '../service/wellKnown.ts'
import type { Flags, Positionals } from './command.ts'

/** Flags that every command has. */
export const COMMON_FLAGS = {
  quiet: { type: 'boolean', default: false, describe: 'Print only results, errors and warnings that need attention' },
  verbose: { type: 'boolean', default: false, describe: 'Log more detail' },
  'log-format': { choices: ['pretty', 'json'], default: 'pretty', describe: 'Set the format of the log on stderr' },
} as const satisfies Flags

export const FORMATS = ['table', 'csv', 'tsv', 'json', 'ndjson', 'markdown'] as const

export const EXPORT_FORMS = ['csv', 'tsv', 'ndjson', 'parquet', 'xlsx'] as const
export type ExportForm = (typeof EXPORT_FORMS)[number]

export { DEFAULT_DATABASE }

export const DATABASE_FLAG = {
  database: {
    type: 'string',
    defaultDescription: DEFAULT_DATABASE,
    describe: 'Set the database: a file or postgres://…',
  },
} as const satisfies Flags

export const SERVICE_FLAG = {
  service: {
    choices: SERVICE_NAMES,
    defaultDescription: 'generic',
    describe: 'Choose the service; generic needs a base URL',
  },
} as const satisfies Flags

/** Flags of commands that call the service. */
export const SERVICE_FLAGS = {
  ...SERVICE_FLAG,
  'base-url': { type: 'string', describe: 'Set the base URL of the service' },
  'api-key-file': { type: 'string', describe: 'Read the API key from this file' },
} as const satisfies Flags

export const RANGE_FLAGS = {
  from: { type: 'string', describe: 'Set the first day or instant: 2025-10-01, -30d' },
  to: { type: 'string', describe: 'Set the end, exclusive: 2025-11-01, -2d, +2d' },
} as const satisfies Flags

export const REQUIRED_RANGE = {
  from: { ...RANGE_FLAGS.from, demandOption: true },
  to: { ...RANGE_FLAGS.to, demandOption: true },
} as const satisfies Flags

export const ONLY_FLAG = {
  only: { type: 'string', describe: `Limit to these indicators: ${EXAMPLE},${SECOND_EXAMPLE}` },
} as const satisfies Flags

export const JSON_FLAG = { json: { type: 'boolean', default: false, describe: 'Print JSON' } } as const

export const LIMIT_FLAG = {
  limit: { type: 'number', default: 50, describe: 'Set the maximum number of rows (0 = all)' },
} as const satisfies Flags

export const OVERWRITE_FLAG = {
  overwrite: { type: 'boolean', default: false, describe: 'Replace existing files' },
} as const satisfies Flags

export const CSV_FLAGS = {
  safe: { type: 'boolean', default: false, describe: 'Escape CSV cells that spreadsheets treat as formulas' },
  excel: {
    type: 'boolean',
    default: false,
    describe: 'Write CSV for Excel: semicolons, decimal commas, BOM; implies --safe',
  },
} as const satisfies Flags

export const DISTRIBUTED_FLAG = {
  distributed: { type: 'boolean', default: false, describe: 'Queue the requests for workers (PostgreSQL only)' },
} as const satisfies Flags

export const ON_REJECT_FLAG = {
  'on-reject': {
    choices: ['quarantine', 'fail'],
    default: 'quarantine',
    describe: 'On invalid rows: quarantine them, or end the run',
  },
} as const satisfies Flags

/** Flags of commands that run jobs. */
export const RUN_FLAGS = {
  ...DATABASE_FLAG,
  ...SERVICE_FLAGS,
  durability: { choices: ['normal', 'full'], default: 'normal', describe: 'full: no commit is lost on power failure' },
  ...ON_REJECT_FLAG,
  notify: { type: 'string', array: true, nargs: 1, describe: 'Notify this webhook URL (or $VARIABLE) of each run' },
} as const satisfies Flags

export const JOBS = {
  jobs: { type: 'string', array: true, demandOption: true, describe: 'Job files (YAML)' },
} as const satisfies Positionals
