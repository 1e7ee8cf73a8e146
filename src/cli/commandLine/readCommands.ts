import { PAGE_LOCALES } from '../../page/words/locale.ts'
import { EXAMPLE, SECOND_EXAMPLE } from '../../services/wellKnown.ts'
import {
  DATABASE_FLAGS,
  EXPORT_FORMS,
  FILE,
  FORMATS,
  JSON_FLAG,
  MOMENT,
  NAMED_SERVICE_FLAGS,
  RANGE_FLAGS,
} from '../flags.ts'
import type { Command } from './command.ts'

/** How CSV is written. */
const DIALECT = {
  safe: { type: 'boolean', default: false, describe: 'CSV: text that a spreadsheet takes for a formula gets a quote' },
  excel: { type: 'boolean', default: false, describe: 'CSV: semicolons, decimal comma, byte order mark; and --safe' },
} as const

const OVERWRITE = {
  type: 'boolean',
  default: false,
  describe: 'Replace existing files; never a folder or a live database',
} as const

/** Commands that read what is held. */
export const READ_COMMANDS = {
  status: {
    usage: 'status',
    about: 'Show runs, how far every series reaches, and what failed with its next step',
    flags: {
      ...DATABASE_FLAGS,
      ...NAMED_SERVICE_FLAGS,
      ...JSON_FLAG,
      format: { choices: ['text', 'json', 'prometheus'], default: 'text', describe: 'Form of the answer' },
      job: {
        ...FILE,
        array: true,
        nargs: 1,
        describe: 'A job file: also shows its lake and, with prometheus, its calls left',
      },
      lake: {
        ...FILE,
        array: true,
        nargs: 1,
        describe: 'The folder of a lake, or its s3:// address: also shows its age',
      },
    },
    example: 'status --format prometheus',
    run: async (args) => (await import('../commands/status.ts')).run(args),
  },
  gaps: {
    usage: 'gaps',
    about:
      'List missing data with exact local instants, the reason (never requested, failed, in doubt, or absent at the source) and the next run that fetches it',
    flags: {
      ...DATABASE_FLAGS,
      provisional: {
        type: 'boolean',
        default: false,
        describe: 'Also list missing data within the lookback, which every sync fetches again',
      },
      fail: { type: 'boolean', default: false, describe: 'Exit 6 if anything is listed' },
      ...JSON_FLAG,
    },
    example: 'gaps --fail',
    run: async (args) => (await import('../commands/gaps.ts')).run(args),
  },
  check: {
    usage: 'check',
    about:
      'Check the data: failed and missed runs, gaps, failures, geos without values, days too long, series further behind than usual, values out of range; exit 6 on a finding',
    flags: {
      ...DATABASE_FLAGS,
      deep: {
        type: 'boolean',
        default: false,
        describe: 'Compare the totals of days with every value, too; takes long',
      },
      ...JSON_FLAG,
    },
    example: 'check --json',
    run: async (args) => (await import('../commands/check.ts')).run(args),
  },
  show: {
    usage: 'show [indicator]',
    about: 'Draw a series in the terminal, or compare two series, or past values with current ones',
    positionals: { indicator: { type: 'number', describe: 'Number of the indicator' } },
    flags: {
      ...DATABASE_FLAGS,
      offer: { type: 'number', describe: 'An offer indicator in its place' },
      kind: { type: 'string', describe: 'The route of that number, where it is not indicator' },
      with: { type: 'number', describe: 'Another indicator, drawn below and compared' },
      geo: { type: 'number', describe: 'The geo; a main one of the service, or the first one, when left out' },
      last: { type: 'string', describe: 'So much up to now: 7d, 2mo, 1y; the last week that is held when left out' },
      ...RANGE_FLAGS,
      'as-of': { ...MOMENT, describe: 'Draw what was known at this instant: 2025-10-01T00:00:00.000Z, a day, -7d' },
      revisions: {
        type: 'boolean',
        default: false,
        describe:
          'Draw the first values, or with --as-of those of then, above the current ones, and list what was revised when',
      },
      ...JSON_FLAG,
    },
    example: `show ${EXAMPLE} --last 7d --with ${SECOND_EXAMPLE}`,
    endsWithOutput: true,
    run: async (args) => (await import('../commands/show.ts')).run(args),
  },
  diff: {
    usage: 'diff',
    about: 'Tell what changed between two instants or runs: values, texts, the catalogue',
    flags: {
      ...DATABASE_FLAGS,
      from: { ...RANGE_FLAGS.from, describe: 'What was known then is compared …; a day ago when left out' },
      to: { ...RANGE_FLAGS.to, describe: '… with what was known then; now when left out' },
      run: {
        type: 'number',
        array: true,
        nargs: 1,
        describe: 'What this run changed; two of them: what changed between',
      },
      indicator: { type: 'number', array: true, describe: 'Only these indicators' },
      what: { choices: ['all', 'value', 'text', 'catalogue'], default: 'all', describe: 'What is compared' },
      format: { choices: FORMATS, default: 'table', describe: 'Form of the answer; all but table give every row' },
      json: { type: 'boolean', default: false, describe: 'The same as --format json' },
      limit: { type: 'number', default: 50, describe: 'The most rows of the table; 0 for all' },
    },
    example: `diff --from -7d --indicator ${EXAMPLE} --format csv`,
    run: async (args) => (await import('../commands/diff.ts')).run(args),
  },
  query: {
    usage: 'query [sql]',
    about: 'Ask the database in SQL, read-only; or run a recipe',
    positionals: { sql: { type: 'string', describe: 'One SELECT statement' } },
    flags: {
      ...DATABASE_FLAGS,
      recipe: { type: 'string', describe: 'Name of a recipe, in place of SQL' },
      recipes: { type: 'boolean', default: false, describe: 'List the recipes' },
      param: { type: 'string', array: true, nargs: 1, describe: 'A value for a :name of the statement: name=value' },
      indicator: { type: 'number', describe: 'The same as --param indicator=…' },
      geo: { type: 'number', describe: 'The same as --param geo=…' },
      series: { type: 'number', describe: 'The same as --param series=…: one series, in place of the native one' },
      ...RANGE_FLAGS,
      format: { choices: FORMATS, default: 'table', describe: 'Form of the answer' },
      json: { type: 'boolean', default: false, describe: 'The same as --format json' },
      ...DIALECT,
      limit: { type: 'number', describe: 'The most rows, 0 for all; a table shows 1000, other forms all' },
      timeout: { type: 'number', default: 60, describe: 'Seconds that it may take; 0 for ever' },
    },
    example: `query --recipe daily-average --indicator ${EXAMPLE} --from 2025-10-01`,
    endsWithOutput: true,
    run: async (args) => (await import('../commands/query.ts')).run(args),
  },
  export: {
    usage: 'export',
    about:
      'Write values, or the answer of a statement, as CSV, TSV, NDJSON or Parquet; as known now or at a past instant',
    flags: {
      ...DATABASE_FLAGS,
      indicator: { type: 'number', array: true, describe: 'Numbers of indicators' },
      offer: { type: 'number', array: true, describe: 'Numbers of offer indicators' },
      kind: { type: 'string', describe: 'The route of the numbers of --indicator, where it is not indicator' },
      geo: { type: 'number', array: true, describe: 'Only these geos' },
      ...RANGE_FLAGS,
      'as-of': {
        ...MOMENT,
        describe: 'What was known at this instant, to the millisecond: 2025-10-01T00:00:00.000Z',
      },
      sql: { type: 'string', describe: 'A SELECT statement, in place of --indicator' },
      wide: { type: 'boolean', default: false, describe: 'A row an instant, a column a series and geo' },
      time: { choices: ['both', 'utc', 'local'], default: 'both', describe: 'Which times a row has' },
      partition: { choices: ['year'], describe: 'A folder with a file a local year: year=2025/data.parquet' },
      format: { choices: EXPORT_FORMS, describe: 'Format; default: by the extension of --output, otherwise csv' },
      ...DIALECT,
      output: {
        ...FILE,
        describe:
          'File (.csv, .tsv, .ndjson, .parquet), or folder with --partition; default: stdout (-). Replaces an export',
      },
      overwrite: OVERWRITE,
    },
    example: `export --indicator ${EXAMPLE} --from 2025-10-01 --output spot.parquet`,
    endsWithOutput: true,
    run: async (args) => (await import('../commands/export.ts')).run(args),
  },
  serve: {
    usage: 'serve',
    about: 'Serve a local web page on the database: what is held, what is missing and why, charts, runs, SQL',
    flags: {
      ...DATABASE_FLAGS,
      port: { type: 'number', describe: 'Port; 8420, or a free one where that is taken' },
      host: {
        type: 'string',
        default: '127.0.0.1',
        describe: 'Address to listen on; any but this machine alone needs the token that is printed',
      },
      open: { type: 'boolean', default: false, describe: 'Open it in the browser' },
    },
    example: 'serve --open',
    endsWithOutput: true,
    run: async (args) => (await import('../commands/serve.ts')).run(args),
  },
  publish: {
    usage: 'publish [file]',
    about:
      'Make a checked single-file copy for readers, with a manifest, or a page of files; the database may be in use',
    positionals: { file: { ...FILE, describe: 'The copy; one that publish made before is replaced at once' } },
    flags: {
      ...DATABASE_FLAGS,
      page: {
        ...FILE,
        describe:
          'Folder for a page that needs no server: status, coverage, series with their charts, texts. One that is there is replaced',
      },
      language: { choices: PAGE_LOCALES, default: PAGE_LOCALES[0], describe: 'Language of the page' },
      overwrite: OVERWRITE,
      bookkeeping: { type: 'boolean', default: false, describe: 'Keep the stored replies and requests too' },
      title: { type: 'string', default: 'Indicators', describe: 'Title of the publication (metadata.yaml)' },
      source: { type: 'string', describe: 'Whom to thank for the data; the host that was called when left out' },
      'source-url': { type: 'string', describe: 'Address of the source' },
      license: { type: 'string', describe: 'Licence of the data, as the source states it' },
      'license-url': { type: 'string', describe: 'Address of the licence' },
      ...JSON_FLAG,
    },
    example: 'publish public/market.db',
    run: async (args) => (await import('../commands/publish.ts')).run(args),
  },
  lake: {
    usage: 'lake <action> <folder>',
    about: 'Keep the rows as Parquet in a folder or a bucket for DuckDB, Spark, Polars and pandas, or check them',
    positionals: {
      action: { type: 'string', choices: ['sync', 'check'], describe: 'What to do' },
      folder: {
        ...FILE,
        describe:
          'The folder of the lake; one that is not there yet, or empty, becomes one. Or s3://bucket/name, reached as the AWS_* variables and files say',
      },
    },
    flags: {
      ...DATABASE_FLAGS,
      full: { type: 'boolean', default: false, describe: 'sync: read everything again, not only what changed' },
      grace: {
        type: 'number',
        default: 60,
        describe: 'sync: minutes that a snapshot stays after it was replaced, for those who read it',
      },
      ...JSON_FLAG,
    },
    example: 'lake sync data/lake',
    run: async (args) => (await import('../commands/lake.ts')).run(args),
  },
} as const satisfies Record<string, Command>
