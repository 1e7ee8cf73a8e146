import type { Instant } from '../base/instant.ts'
import type { Reader } from '../db/open.ts'
import { findGaps, type Gap } from './gaps.ts'
import { staleSeries } from './lag.ts'
import { missedRuns } from './rhythm.ts'
import { openFailures } from './status.ts'

/** Something that a check found. */
export interface Finding {
  readonly check: string
  readonly what: string
}

/** A check that one query makes: every row it answers is a finding. */
interface SqlCheck {
  readonly check: string
  readonly sql: string
}

const CHECKS: readonly SqlCheck[] = [
  {
    check: 'overlap',
    sql: `select 'indicator ' || indicator_id || ', geo ' || geo_id || ': ' || local_date || ' has ' || hours || ' hours of values' as what
      from observations_daily d
      where hours > (select (max(z.to_s) - min(z.from_s)) / 3600.0 from (
        select unixepoch(d.local_date) as from_s, unixepoch(d.local_date, '+1 day') as to_s) z) + 1
        and d.count > 1`,
  },
  {
    check: 'out of range',
    sql: `select 'indicator ' || s.indicator_id || ', geo ' || o.geo_id || ': ' || o.value || ' at ' || strftime('%Y-%m-%dT%H:%M:%SZ', o.at, 'unixepoch') as what
      from observation o join series s on s.id = o.series_id where abs(o.value) > 1e9`,
  },
  {
    check: 'quarantine',
    sql: `select path || ': ' || reason as what from _quarantine where resolved_at is null`,
  },
  {
    check: 'reference',
    sql: `select "table" || ' row ' || coalesce(rowid, '?') || ' points to no ' || parent as what from pragma_foreign_key_check`,
  },
]

/** When a hole that was answered is asked again. */
const againText = (reason: Gap['reason'], next: string | null): string =>
  next
    ? `, asked again from ${next} on`
    : reason === 'absent' || reason === 'doubt'
      ? ', asked again by restate only'
      : ''

/** Runs every check at an instant; an empty list is good. */
export function runChecks(db: Reader, now: Instant = Math.floor(Date.now() / 1000)): Finding[] {
  return [
    ...missedRuns(db, now).map(({ what }) => ({ check: 'no run', what })),
    ...findGaps(db).map(({ indicator_id, geo_id, from, to, reason, next_at }) => ({
      check: `gap (${reason})`,
      what: `indicator ${indicator_id}, geo ${geo_id}: ${from} to ${to}${againText(reason, next_at)}`,
    })),
    ...openFailures(db).map(({ target, message }) => ({ check: 'failure', what: `${target}: ${message}` })),
    ...staleSeries(db, now).map(({ what }) => ({ check: 'stale', what })),
    ...CHECKS.flatMap(({ check, sql }) => (db.all(sql) as { what: string }[]).map(({ what }) => ({ check, what }))),
  ]
}
