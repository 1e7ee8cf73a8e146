import type { Command, CommandModule } from '../command.ts'

/** Declares the commands of a group of the help. */
const group =
  (group: string) =>
  (about: string, load: () => Promise<CommandModule>): Command => ({ group, about, load })
const start = group('Start')
const fetch = group('Fetch')
const query = group('Read and publish')
const maintain = group('Maintain')

/** Every command, in the order of the help. A module is loaded when its command runs, or when its flags are shown. */
export const COMMANDS = {
  demo: start('Try it with invented data, without key or network', () => import('../commands/demo.ts')),
  init: start('Write a job file and .env.example', () => import('../commands/init.ts')),
  sync: start('Fetch new, missing and revisable data', () => import('../commands/sync.ts')),
  status: start('Show runs, freshness and failures', () => import('../commands/status.ts')),
  query: start('Run read-only SQL or a recipe', () => import('../commands/query.ts')),
  export: start('Write values to CSV, Excel, NDJSON or Parquet', () => import('../commands/export.ts')),
  validate: fetch('Check job files for mistakes', () => import('../commands/validate.ts')),
  discover: fetch('Search the catalogue of indicators', () => import('../commands/discover.ts')),
  plan: fetch('Show what a sync would fetch', () => import('../commands/plan.ts')),
  backfill: fetch('Fetch missing data of a date range', () => import('../commands/backfill.ts')),
  restate: fetch('Re-fetch a stored date range', () => import('../commands/restate.ts')),
  retry: fetch('Re-fetch failed requests', () => import('../commands/retry.ts')),
  schedule: fetch('Run jobs on their cron schedules', () => import('../commands/schedule.ts')),
  worker: fetch('Fetch planned requests from a shared queue', () => import('../commands/worker.ts')),
  archives: fetch('List, download or load archive files', () => import('../commands/archives.ts')),
  gaps: query('List missing data and its cause', () => import('../commands/gaps.ts')),
  check: query('Check the data; exit 6 on a finding', () => import('../commands/check.ts')),
  show: query('Draw a series in the terminal', () => import('../commands/show.ts')),
  diff: query('List changes between two instants or runs', () => import('../commands/diff.ts')),
  serve: query('Serve the database as a local web page', () => import('../commands/serve.ts')),
  publish: query('Make a copy or a static page for readers', () => import('../commands/publish.ts')),
  lake: query('Write the tables as Parquet files, or verify them', () => import('../commands/lake.ts')),
  replay: maintain('Rebuild all rows from stored responses', () => import('../commands/replay.ts')),
  quarantine: maintain('List or dismiss rejected rows', () => import('../commands/quarantine.ts')),
  prune: maintain('Delete old responses and records, or forget a job', () => import('../commands/prune.ts')),
  doctor: maintain('Check settings, clock, disk, database and lock', () => import('../commands/doctor.ts')),
  probe: maintain('Test the assumptions about the live service', () => import('../commands/probe.ts')),
  migrate: maintain('Update the schema, or copy a file to PostgreSQL', () => import('../commands/migrate.ts')),
  emulator: maintain('Serve an emulated copy of the service', () => import('../commands/emulator.ts')),
} as const satisfies Record<string, Command>

export type CommandName = keyof typeof COMMANDS

export const isCommand = (word: string | undefined): word is CommandName =>
  word !== undefined && Object.hasOwn(COMMANDS, word)
