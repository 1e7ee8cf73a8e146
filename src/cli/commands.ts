import type { Options } from 'yargs'
import { DATABASE, JSON_FLAG, RANGE, SERVICE } from './flags.ts'
import { FORMATS } from './output.ts'

/** A command as help shows it; what it does is loaded only when it is called. */
export interface Command {
  /** Name and positionals, as yargs writes them. */
  readonly usage: string
  readonly about: string
  readonly positionals?: Readonly<Record<string, Options & { readonly type: 'string' }>>
  readonly flags: Readonly<Record<string, Options>>
  readonly example: string
  /** Answers the exit code. */
  readonly run: (args: never) => Promise<number>
}

const JOBS = { jobs: { type: 'string', array: true, describe: 'Job files (YAML)' } } as const

const DURABILITY = {
  durability: { choices: ['normal', 'full'], default: 'normal', describe: 'full survives a loss of power' },
} as const

const REJECTS = {
  'on-reject': {
    choices: ['quarantine', 'fail'],
    default: 'quarantine',
    describe: 'What cannot be understood is set aside, or its reply is not loaded and the run ends',
  },
  'max-rejects': { type: 'number', describe: 'End the run when more rows than this are in its quarantine' },
} as const

/** Every command, in the order in which a newcomer meets them. */
export const COMMANDS = {
  demo: {
    usage: 'demo',
    about: 'Run the main job against an embedded copy of the service, then show what SQL answers',
    flags: { ...DATABASE },
    example: 'demo --database /tmp/demo.db',
    run: async (args) => (await import('./demo.ts')).run(args),
  },
  init: {
    usage: 'init [dir]',
    about: 'Write a commented job file and .env.example; nothing is overwritten',
    positionals: { dir: { type: 'string', default: '.', describe: 'Folder' } },
    flags: {},
    example: 'init my-market',
    run: async (args) => (await import('./init.ts')).run(args),
  },
  validate: {
    usage: 'validate <jobs..>',
    about: 'Say every mistake of job files, with line, what is legal and what was meant',
    positionals: JOBS,
    flags: { ...JSON_FLAG },
    example: 'validate jobs/nightly.yaml',
    run: async (args) => (await import('./validate.ts')).run(args),
  },
  discover: {
    usage: 'discover [text]',
    about: 'Search the catalogue for indicators, and show what is held of them',
    positionals: { text: { type: 'string', describe: 'Words or a number; accents do not matter' } },
    flags: {
      ...DATABASE,
      ...SERVICE,
      refresh: { type: 'boolean', default: false, describe: 'Fetch the catalogue first' },
      in: { choices: ['catalogue', 'content', 'archives', 'all'], default: 'catalogue', describe: 'Which texts' },
      limit: { type: 'number', default: 50, describe: 'Rows at the most; 0 for all' },
      ...JSON_FLAG,
    },
    example: 'discover "precio mercado spot"',
    run: async (args) => (await import('./discover.ts')).run(args),
  },
  plan: {
    usage: 'plan <jobs..>',
    about: 'Show what a sync would ask, why, how many calls and how long; nothing is sent',
    positionals: JOBS,
    flags: { ...DATABASE, service: SERVICE.service, ...RANGE, ...JSON_FLAG },
    example: 'plan jobs/nightly.yaml --from 2025-01-01',
    run: async (args) => (await import('./plan.ts')).run(args),
  },
  sync: {
    usage: 'sync <jobs..>',
    about: 'Ask what is wanted and not held, and load it',
    positionals: JOBS,
    flags: {
      ...DATABASE,
      ...SERVICE,
      ...RANGE,
      'dry-run': { type: 'boolean', default: false, describe: 'The same as plan' },
      ...DURABILITY,
      ...REJECTS,
      ...JSON_FLAG,
    },
    example: 'sync jobs/nightly.yaml --service esios',
    run: async (args) => (await import('./sync.ts')).run(args),
  },
  backfill: {
    usage: 'backfill <jobs..>',
    about: 'Ask an explicit range of the job’s series and archives, as far as it is not held',
    positionals: JOBS,
    flags: {
      ...DATABASE,
      ...SERVICE,
      from: { ...RANGE.from, demandOption: true },
      to: { ...RANGE.to, demandOption: true },
      'newest-first': { type: 'boolean', default: false, describe: 'The latest windows first' },
      ...DURABILITY,
      ...REJECTS,
      ...JSON_FLAG,
    },
    example: 'backfill jobs/nightly.yaml --from 2015-01-01 --to 2020-01-01',
    run: async (args) => (await import('./sync.ts')).backfill(args),
  },
  restate: {
    usage: 'restate <jobs..>',
    about: 'Ask a range again that is held already; what changed is kept as a revision',
    positionals: JOBS,
    flags: {
      ...DATABASE,
      ...SERVICE,
      from: { ...RANGE.from, demandOption: true },
      to: { ...RANGE.to, demandOption: true },
      ...DURABILITY,
      ...REJECTS,
      ...JSON_FLAG,
    },
    example: 'restate jobs/nightly.yaml --from 2025-01-01 --to 2025-02-01',
    run: async (args) => (await import('./sync.ts')).restate(args),
  },
  retry: {
    usage: 'retry',
    about: 'Ask again what failed, exactly as it was asked',
    flags: { ...DATABASE, ...SERVICE, ...DURABILITY, ...REJECTS, ...JSON_FLAG },
    example: 'retry',
    run: async (args) => (await import('./sync.ts')).retry(args),
  },
  replay: {
    usage: 'replay',
    about: 'Rebuild the rows from the stored replies, without the network; in place, or into a new file',
    flags: {
      ...DATABASE,
      into: { type: 'string', describe: 'A new file that gets the rebuilt database; this one stays as it is' },
      incomplete: { type: 'boolean', default: false, describe: 'With --into: also when some replies were not kept' },
      ...JSON_FLAG,
    },
    example: 'replay --into rebuilt.db',
    run: async (args) => (await import('./replay.ts')).run(args),
  },
  quarantine: {
    usage: 'quarantine <action>',
    about: 'List what could not be understood, or try it again with this version of the program',
    positionals: { action: { type: 'string', choices: ['list', 'replay'], describe: 'What to do' } },
    flags: {
      ...DATABASE,
      all: { type: 'boolean', default: false, describe: 'List also what has been understood since' },
      ...JSON_FLAG,
    },
    example: 'quarantine list',
    run: async (args) => (await import('./quarantine.ts')).run(args),
  },
  prune: {
    usage: 'prune',
    about: 'Drop the bodies of old replies; rows, history and what quarantine needs stay',
    flags: {
      ...DATABASE,
      'older-than': { type: 'string', demandOption: true, describe: 'Bodies last seen longer ago than this: 90d, 2y' },
      ...JSON_FLAG,
    },
    example: 'prune --older-than 180d',
    run: async (args) => (await import('./prune.ts')).run(args),
  },
  gaps: {
    usage: 'gaps',
    about: 'List holes with exact local instants: never asked, failed, or absent at the source',
    flags: {
      ...DATABASE,
      fail: { type: 'boolean', default: false, describe: 'Exit 6 when there are any' },
      ...JSON_FLAG,
    },
    example: 'gaps --fail',
    run: async (args) => (await import('./gaps.ts')).run(args),
  },
  check: {
    usage: 'check',
    about: 'Check the data: gaps, days too long, stale series, values out of range; exit 6 on a finding',
    flags: { ...DATABASE, ...JSON_FLAG },
    example: 'check --json',
    run: async (args) => (await import('./check.ts')).run(args),
  },
  status: {
    usage: 'status',
    about: 'Show runs, how far every series reaches, and what failed with its next step',
    flags: {
      ...DATABASE,
      ...JSON_FLAG,
      format: { choices: ['text', 'json', 'prometheus'], default: 'text', describe: 'Form of the answer' },
    },
    example: 'status --format prometheus',
    run: async (args) => (await import('./status.ts')).run(args),
  },
  query: {
    usage: 'query [sql]',
    about: 'Ask the database in SQL, read-only; or run a recipe',
    positionals: { sql: { type: 'string', describe: 'One SELECT statement' } },
    flags: {
      ...DATABASE,
      recipe: { type: 'string', describe: 'Name of a recipe, in place of SQL' },
      recipes: { type: 'boolean', default: false, describe: 'List the recipes' },
      param: { type: 'string', array: true, nargs: 1, describe: 'A value for a :name of the statement: name=value' },
      indicator: { type: 'number', describe: 'The same as --param indicator=…' },
      geo: { type: 'number', describe: 'The same as --param geo=…' },
      from: { type: 'string', describe: 'The same as --param from=…: a local day' },
      to: { type: 'string', describe: 'The same as --param to=…: the first local day after it' },
      format: { choices: FORMATS, default: 'table', describe: 'Form of the answer' },
      json: { type: 'boolean', default: false, describe: 'The same as --format json' },
      limit: { type: 'number', default: 1000, describe: 'Rows at the most; 0 for all' },
      timeout: { type: 'number', default: 60, describe: 'Seconds that it may take; 0 for ever' },
    },
    example: 'query --recipe daily-average --indicator 600 --from 2025-10-01',
    run: async (args) => (await import('./query.ts')).run(args),
  },
  export: {
    usage: 'export',
    about: 'Write values, or the answer of a statement, as CSV, NDJSON or Parquet; as known now or at a past instant',
    flags: {
      ...DATABASE,
      indicator: { type: 'number', array: true, describe: 'Numbers of indicators' },
      geo: { type: 'number', array: true, describe: 'Only these geos' },
      ...RANGE,
      'as-of': { type: 'string', describe: 'What was known at this instant: 2025-10-01T00:00:00Z' },
      sql: { type: 'string', describe: 'A SELECT statement, in place of --indicator' },
      wide: { type: 'boolean', default: false, describe: 'A row an instant, a column a series and geo' },
      time: { choices: ['both', 'utc', 'local'], default: 'both', describe: 'Which time a row tells' },
      partition: { choices: ['year'], describe: 'A folder with a file a local year: year=2025/data.parquet' },
      format: { choices: ['csv', 'ndjson', 'parquet'], default: 'csv', describe: 'Form of the file' },
      output: { type: 'string', describe: 'File, or folder with --partition; stdout when left out' },
    },
    example: 'export --indicator 600 --geo 3 --from 2025-10-01 --format parquet --output spot.parquet',
    run: async (args) => (await import('./export.ts')).run(args),
  },
  publish: {
    usage: 'publish <file>',
    about: 'Make a checked single-file copy for readers, with a manifest; the database may be in use',
    positionals: { file: { type: 'string', describe: 'The copy; one that is there is replaced at once' } },
    flags: {
      ...DATABASE,
      bookkeeping: { type: 'boolean', default: false, describe: 'Keep the stored replies and requests too' },
      title: { type: 'string', default: 'Indicators', describe: 'Title of the publication (metadata.yaml)' },
      source: { type: 'string', describe: 'Whom to thank for the data; the host that was asked when left out' },
      'source-url': { type: 'string', describe: 'Address of the source' },
      license: { type: 'string', describe: 'Licence of the data, as the source states it' },
      'license-url': { type: 'string', describe: 'Address of the licence' },
      ...JSON_FLAG,
    },
    example: 'publish public/market.db',
    run: async (args) => (await import('./publish.ts')).run(args),
  },
  doctor: {
    usage: 'doctor',
    about: 'Check configuration, key, clock, zone data, disk, database and lock',
    flags: { ...DATABASE, ...SERVICE, ...JSON_FLAG },
    example: 'doctor',
    run: async (args) => (await import('./doctor.ts')).run(args),
  },
  migrate: {
    usage: 'migrate',
    about: 'Bring the schema up to date; this also happens by itself when a sync opens the file',
    flags: { ...DATABASE, list: { type: 'boolean', default: false, describe: 'Only show the state' }, ...JSON_FLAG },
    example: 'migrate --list',
    run: async (args) => (await import('./migrate.ts')).run(args),
  },
  schedule: {
    usage: 'schedule <jobs..>',
    about: 'Stay up and run jobs at their cron times, in their time zones, one at a time',
    positionals: JOBS,
    flags: { ...DATABASE, ...SERVICE, ...DURABILITY, ...REJECTS },
    example: 'schedule jobs/nightly.yaml --service esios',
    run: async (args) => (await import('./schedule.ts')).run(args),
  },
  emulator: {
    usage: 'emulator',
    about: 'Serve an embedded copy of the service on this machine, for trying and testing',
    flags: {
      port: { type: 'number', default: 0, describe: 'Port; 0 for a free one' },
      seed: { type: 'number', default: 1, describe: 'The same seed gives the same values' },
      faults: { type: 'string', describe: 'File of faults to meet (YAML, docs/emulator.md)' },
      now: { type: 'string', describe: "The service's clock: an instant such as 2025-11-04T12:00:00Z" },
    },
    example: 'emulator --port 8080 --seed 7',
    run: async (args) => (await import('./emulator.ts')).run(args),
  },
} as const satisfies Record<string, Command>

export type CommandName = keyof typeof COMMANDS
