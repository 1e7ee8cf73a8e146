import type { Instant } from '../base/instant.ts'
import type { Reader } from '../db/open.ts'

/** A stretch of one series and geo. */
export interface Stretch {
  readonly seriesId: number
  readonly geoId: number
  readonly from: Instant
  readonly to: Instant
}

/** A value with the length of its period in seconds. */
export interface ValueAt {
  readonly at: Instant
  readonly value: number | null
  readonly step: number
}

/** One time that a value was replaced or withdrawn. */
export interface Revision {
  readonly at: Instant
  /** What was said before. */
  readonly before: number | null
  /** What is said since; null where it was withdrawn, or has no number. */
  readonly after: number | null
  readonly withdrawn: boolean
  /** When we learned of it, UTC to the millisecond. */
  readonly revisedAt: string
}

const WHERE = 'series_id = :series and geo_id = :geo and at >= :from and at < :to'
const VERSIONS = `with v as (
  select v.at, v.value, v.step_s, v.fetch_id, v.superseded_by, f.finished_at as valid_from, n.finished_at as valid_to
  from (
    select at, value, step_s, fetch_id, null as superseded_by from observation where ${WHERE}
    union all
    select at, value, step_s, fetch_id, superseded_by from observation_revision where ${WHERE}
  ) v
  join _fetch f on f.id = v.fetch_id
  left join _fetch n on n.id = v.superseded_by
)`

const named = ({ seriesId, geoId, from, to }: Stretch) => ({ series: seriesId, geo: geoId, from, to })

/** The values of a stretch: as they are, as they were known at an instant (UTC to the millisecond), or as each was first. */
export function valuesThen(db: Reader, stretch: Stretch, then: string | 'now' | 'first'): ValueAt[] {
  const sql =
    then === 'now'
      ? `select at, value, step_s as step from observation where ${WHERE} order by at`
      : then === 'first'
        ? `${VERSIONS} select at, value, step_s as step from (
             select *, row_number() over (partition by at order by valid_from, fetch_id) as n from v) where n = 1 order by at`
        : `${VERSIONS} select at, value, step_s as step from v
           where valid_from <= :then and (valid_to is null or valid_to > :then) order by at`
  const parameters = then === 'now' || then === 'first' ? named(stretch) : { ...named(stretch), then }
  return db.all(sql, parameters) as ValueAt[]
}

/** Every time that a value of a stretch was replaced or withdrawn, after an instant where one is given; the latest first. */
export function revisionsOf(db: Reader, stretch: Stretch, after: string | null): Revision[] {
  const rows = db.all(
    `${VERSIONS} select old.at, old.value as "before", new.value as "after", new.at is null as withdrawn, old.valid_to as "revisedAt"
     from v old left join v new on new.at = old.at and new.fetch_id = old.superseded_by
     where old.superseded_by is not null and old.valid_to is not null and old.valid_to > :after
     order by old.valid_to desc, old.at`,
    { ...named(stretch), after: after ?? '' },
  ) as (Omit<Revision, 'withdrawn'> & { withdrawn: number })[]
  return rows.map((row) => ({ ...row, withdrawn: row.withdrawn === 1 }))
}

/** The last instant of which a replaced or withdrawn value is held; 0 where there is none. */
export const lastVersionAt = (db: Reader, { seriesId, geoId }: Pick<Stretch, 'seriesId' | 'geoId'>): Instant =>
  (db.get('select coalesce(max(at), 0) from observation_revision where series_id = ? and geo_id = ?', [
    seriesId,
    geoId,
  ]) ?? 0) as Instant
