import type { Reader } from '../db/open.ts'
import { findGaps } from './gaps.ts'
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
        select unixepoch(d.local_date) as from_s, unixepoch(d.local_date, '+1 day') as to_s) z) + 1`,
  },
  {
    check: 'stale',
    sql: `select 'indicator ' || f.indicator_id || ', geo ' || f.geo_id || ': the last value is ' || f.last_utc || ', asked ' || f.checked_at as what
      from freshness f
      where f.last_utc < strftime('%Y-%m-%dT%H:%M:%SZ', f.checked_at, '-7 days')
        and exists (select 1 from _coverage c where c.series_id = f.series_id and c.geo_id in (0, f.geo_id) and c.to_at >= unixepoch(f.checked_at))`,
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

/** Runs every check; an empty list is good. */
export function runChecks(db: Reader): Finding[] {
  return [
    ...findGaps(db).map(({ indicator_id, geo_id, from, to, reason }) => ({
      check: `gap (${reason})`,
      what: `indicator ${indicator_id}, geo ${geo_id}: ${from} to ${to}`,
    })),
    ...openFailures(db).map(({ target, message }) => ({ check: 'failure', what: `${target}: ${message}` })),
    ...CHECKS.flatMap(({ check, sql }) => (db.all(sql) as { what: string }[]).map(({ what }) => ({ check, what }))),
  ]
}
