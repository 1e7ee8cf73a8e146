import type { Options } from 'yargs'
import { SERVICE_NAMES } from '../api/services.ts'

/** Flags that every command has. */
export const COMMON = {
  quiet: { type: 'boolean', default: false, describe: 'Only results and errors' },
  verbose: { type: 'boolean', default: false, describe: 'Tell every request' },
  'log-format': { choices: ['pretty', 'json'], default: 'pretty', describe: 'Form of the lines on stderr' },
} as const satisfies Record<string, Options>

/** Where the database is. */
export const DATABASE = {
  database: { type: 'string', describe: 'Database file (INDICATOR_SYNC_DATABASE; default data/indicator-sync.db)' },
} as const satisfies Record<string, Options>

/** Which service is asked. */
export const SERVICE = {
  service: { type: 'string', describe: `Service profile: ${SERVICE_NAMES.join(' or ')} (INDICATOR_SYNC_SERVICE)` },
  'base-url': { type: 'string', describe: 'Base address of the service (INDICATOR_SYNC_BASE_URL)' },
  'api-key-file': { type: 'string', describe: 'File that holds the API key (or INDICATOR_SYNC_API_KEY)' },
} as const satisfies Record<string, Options>

/** A part of the job's windows. */
export const RANGE = {
  from: { type: 'string', describe: 'First local day, or an instant: 2025-10-01, -30d' },
  to: { type: 'string', describe: 'First local day after it: 2025-11-01, +2d' },
} as const satisfies Record<string, Options>

export const JSON_FLAG = { json: { type: 'boolean', default: false, describe: 'The result as JSON' } } as const

/** The job files of a command. */
export const JOBS = { jobs: { type: 'string', array: true, describe: 'Job files (YAML)' } } as const

/** How sure a commit is. */
export const DURABILITY = {
  durability: { choices: ['normal', 'full'], default: 'normal', describe: 'full survives a loss of power' },
} as const

/** What happens to what cannot be understood. */
export const REJECTS = {
  'on-reject': {
    choices: ['quarantine', 'fail'],
    default: 'quarantine',
    describe: 'What cannot be understood is set aside, or its reply is not loaded and the run ends',
  },
  'max-rejects': { type: 'number', describe: 'End the run when more rows than this are in its quarantine' },
} as const

/** The values that yargs makes of the flags. */
export interface CommonArgs {
  readonly quiet: boolean
  readonly verbose: boolean
  readonly logFormat: 'pretty' | 'json'
}
export interface DatabaseArgs {
  readonly database?: string | undefined
}
export interface ServiceArgs extends DatabaseArgs {
  readonly service?: string | undefined
  readonly baseUrl?: string | undefined
  readonly apiKeyFile?: string | undefined
}
export interface RangeArgs {
  readonly from?: string | undefined
  readonly to?: string | undefined
}
