import type { Command } from '../command.ts'

/** Every command, in the order of the help. A module is loaded when its command runs, or when its flags are shown. */
export const COMMANDS = {
  demo: {
    group: 'Start',
    about: 'Try it with invented data, without key or network',
    load: () => import('../commands/demo.ts'),
  },
  init: {
    group: 'Start',
    about: 'Write a job file and .env.example',
    load: () => import('../commands/init.ts'),
  },
  sync: { group: 'Start', about: 'Fetch new, missing and revisable data', load: () => import('../commands/sync.ts') },
  status: {
    group: 'Start',
    about: 'Show runs, freshness, coverage and failures',
    load: () => import('../commands/status.ts'),
  },
  query: { group: 'Start', about: 'Run read-only SQL or a recipe', load: () => import('../commands/query.ts') },
  export: {
    group: 'Start',
    about: 'Write values to CSV, TSV, NDJSON or Parquet',
    load: () => import('../commands/export.ts'),
  },
  validate: {
    group: 'Fetch',
    about: 'Check job files for mistakes',
    load: () => import('../commands/validate.ts'),
  },
  discover: {
    group: 'Fetch',
    about: 'Search the catalogue of indicators',
    load: () => import('../commands/discover.ts'),
  },
  plan: { group: 'Fetch', about: 'Show what a sync would fetch', load: () => import('../commands/plan.ts') },
  backfill: {
    group: 'Fetch',
    about: 'Fetch missing data of a date range',
    load: () => import('../commands/backfill.ts'),
  },
  restate: { group: 'Fetch', about: 'Re-fetch a stored date range', load: () => import('../commands/restate.ts') },
  retry: { group: 'Fetch', about: 'Re-fetch failed requests', load: () => import('../commands/retry.ts') },
  schedule: {
    group: 'Fetch',
    about: 'Run jobs on their cron schedules',
    load: () => import('../commands/schedule.ts'),
  },
  worker: {
    group: 'Fetch',
    about: 'Fetch planned requests from a shared queue',
    load: () => import('../commands/worker.ts'),
  },
  archives: {
    group: 'Fetch',
    about: 'List, download or load archive files',
    load: () => import('../commands/archives.ts'),
  },
  gaps: {
    group: 'Query and export',
    about: 'List missing data and its cause',
    load: () => import('../commands/gaps.ts'),
  },
  check: {
    group: 'Query and export',
    about: 'Check the data; exit 6 on a finding',
    load: () => import('../commands/check.ts'),
  },
  show: {
    group: 'Query and export',
    about: 'Draw a series in the terminal',
    load: () => import('../commands/show.ts'),
  },
  diff: {
    group: 'Query and export',
    about: 'List changes between two instants or runs',
    load: () => import('../commands/diff.ts'),
  },
  serve: {
    group: 'Query and export',
    about: 'Serve the database as a local web page',
    load: () => import('../commands/serve.ts'),
  },
  publish: {
    group: 'Query and export',
    about: 'Make a copy or a static page for readers',
    load: () => import('../commands/publish.ts'),
  },
  lake: {
    group: 'Query and export',
    about: 'Write the tables as Parquet files, or verify them',
    load: () => import('../commands/lake.ts'),
  },
  replay: {
    group: 'Maintain',
    about: 'Rebuild all rows from stored responses',
    load: () => import('../commands/replay.ts'),
  },
  quarantine: {
    group: 'Maintain',
    about: 'List, re-parse or dismiss rejected rows',
    load: () => import('../commands/quarantine.ts'),
  },
  prune: {
    group: 'Maintain',
    about: 'Delete old responses, or forget a deleted job',
    load: () => import('../commands/prune.ts'),
  },
  doctor: {
    group: 'Maintain',
    about: 'Check settings, clock, disk, database and lock',
    load: () => import('../commands/doctor.ts'),
  },
  migrate: {
    group: 'Maintain',
    about: 'Update the schema, or copy a file to PostgreSQL',
    load: () => import('../commands/migrate.ts'),
  },
  emulator: {
    group: 'Maintain',
    about: 'Serve an emulated copy of the service',
    load: () => import('../commands/emulator.ts'),
  },
  completion: {
    group: 'Maintain',
    about: 'Print a shell completion script',
    load: () => import('./completion.ts'),
  },
} as const satisfies Record<string, Command>

export type CommandName = keyof typeof COMMANDS

export const isCommand = (word: string | undefined): word is CommandName =>
  word !== undefined && Object.hasOwn(COMMANDS, word)
