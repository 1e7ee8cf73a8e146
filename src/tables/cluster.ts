import { flag, integer, optional, type RowOf, rowid, table, text } from './declare.ts'
import type { Database } from './schema.ts'

/** Tables by which many machines work as one. Only a database on a server has them; all times are those of its clock. */
const CLUSTER_TABLES = {
  _host: table(
    'How all who call a host behave towards it: one pace, one pause, one limit, one circuit breaker.',
    {
      host: text('The host, with the port where one is given'),
      next_at: integer('When the next call to it may begin (epoch milliseconds)'),
      hold_until: integer('Until when nobody calls it (epoch milliseconds)'),
      limit_now: integer('How many calls may be under way at once: one more after a good answer, half after a bad one'),
      failures: integer('Failures in a row'),
      openings: integer('How often in a row the circuit breaker has opened'),
    },
    { key: ['host'] },
  ),
  _call: table(
    'A call that is under way.',
    {
      id: rowid('Id'),
      host: text('The host that is called (_host.host)'),
      until_at: integer('When it is taken for over unless it is renewed: its process is dead (epoch milliseconds)'),
    },
    { key: ['id'] },
  ),
  _asking: table(
    'What a process (a worker, or a plain sync) is requesting at this moment, and no other one does: an interval of a series, or what has none (a listing, a series at one instant).',
    {
      claim: text(
        'Who requests it: the job of the queue (pgboss.job.id) and the number of its attempt, or a name of its own',
      ),
      series_id: optional(integer('The series (series.id); null for what has no interval')),
      geo_ids: optional(text('Its geos, separated by commas; null for all')),
      from_at: optional(integer('Where the interval begins (epoch seconds); null where there is none')),
      to_at: optional(integer('Where it ends, exclusive (epoch seconds); null where there is none')),
      target: optional(text('The path and query of what has no interval')),
      until_at: integer('When it is taken for over unless it is renewed: its process is dead (epoch milliseconds)'),
    },
    { key: ['claim'] },
  ),
  _worker: table(
    'A process that takes requests from the queue.',
    {
      id: rowid('Id'),
      machine: text('The machine that it runs on'),
      pid: integer('Process id'),
      version: text('Its version of indicator-sync'),
      host: text('The host whose requests it takes (_host.host)'),
      started_at: integer('When it began (epoch milliseconds)'),
      seen_at: integer('When it was last heard of (epoch milliseconds)'),
      claims: integer('Requests that it is executing'),
      done: integer('Requests that it has done'),
      draining: flag('1 when it takes no more'),
      runs: text('Its open runs (_run.id), separated by commas'),
      holding: optional(text('Why it waits, when it does')),
    },
    { key: ['id'] },
  ),
} as const

/** The database as Kysely sees it, with what only a server has. */
export type ClusterDatabase = Database & { [T in keyof typeof CLUSTER_TABLES]: RowOf<(typeof CLUSTER_TABLES)[T]> }
