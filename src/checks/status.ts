import { formatUtc } from '../base/instant.ts'
import type { Reader } from '../db/open.ts'
import { unknownNext } from '../job/again.ts'
import type { AnyParams } from '../services/routes.ts'
import { failures } from '../state/failures.ts'
import { type ReplyStoreState, replyStoreState } from '../state/replies.ts'
import { readUnknown } from '../state/unknown.ts'
import { staleSeries } from './lag.ts'
import { missedRuns } from './rhythm.ts'

/** A request that failed and was not answered since. */
export interface OpenFailure {
  readonly entry: string
  readonly route: string
  readonly target: string
  readonly outcome: string
  readonly failed_at: string
  readonly message: string | null
  readonly hint: string | null
  /** When a sync asks it again at the earliest, where the service does not know the id (UTC); null where the next one does. */
  readonly next_at: string | null
}

/** The last failure of every request of which something has not been answered well since. */
export const openFailures = (db: Reader): OpenFailure[] => {
  const unknown = readUnknown(db)
  return failures(db).map(({ entry, route, target, outcome, failed_at, message, hint, params }) => {
    const item = unknown.get(`${route} ${(JSON.parse(params) as AnyParams).id}`)
    const next_at = item ? formatUtc(unknownNext(item)) : null
    return { entry, route, target, outcome, failed_at, message, hint, next_at }
  })
}

/** The state of a database in a few numbers and lists. */
export interface Status {
  readonly runs: readonly object[]
  readonly series: readonly object[]
  readonly failures: readonly OpenFailure[]
  /** Jobs whose run is missed, and series that are further behind than usual, each in a sentence. */
  readonly late: readonly string[]
  readonly quarantined: number
  readonly replies: ReplyStoreState
  readonly rows: Readonly<Record<string, number>>
  /** Tables that are so large that their rows are not counted, but known from the planner's statistics. */
  readonly estimated: readonly string[]
}

const COUNTED = [
  'indicator',
  'observation',
  'observation_revision',
  'content',
  'archive',
  'archive_edition',
  'widget',
  '_reply',
]

/** Counting more than this takes seconds. */
const MANY = 5_000_000

/** How many rows a table has; of a large one, what the planner's statistics say, which is how many it had at the last run. */
function countOf(db: Reader, table: string): { rows: number; estimated: boolean } {
  const measured = db.get(`select 1 from sqlite_schema where name = 'sqlite_stat1'`) !== undefined
  const known = measured
    ? ((db.get('select max(cast(stat as integer)) from sqlite_stat1 where tbl = ?', [table]) as number | null) ?? 0)
    : 0
  const estimated = known > MANY
  return { rows: estimated ? known : (db.get(`select count(*) from ${table}`) as number), estimated }
}

/** Gathers what `status` shows. Times are UTC but for `last_local`; `lag_hours` is how long ago the last value begins, negative for the future. */
export function readStatus(db: Reader): Status {
  const now = Math.floor(Date.now() / 1000)
  const counts = COUNTED.map((table) => ({ table, ...countOf(db, table) }))
  return {
    runs: db.all('select * from runs limit 5') as object[],
    series:
      db.all(`select f.series_id, f.indicator_id, f.indicator_name, s.time_trunc, f.geo_id, f.geo_name, f.first_utc, f.last_local,
      round((julianday('now') - julianday(f.last_utc)) * 24, 1) as lag_hours, f.checked_at
      from freshness f join series s on s.id = f.series_id order by f.kind, f.indicator_id, f.series_id, f.geo_id`) as object[],
    failures: openFailures(db),
    late: [...missedRuns(db, now), ...staleSeries(db, now)].map(({ what }) => what),
    quarantined: db.get('select count(*) from _quarantine where resolved_at is null') as number,
    replies: replyStoreState(db),
    rows: Object.fromEntries(counts.map(({ table, rows }) => [table, rows])),
    estimated: counts.filter(({ estimated }) => estimated).map(({ table }) => table),
  }
}
