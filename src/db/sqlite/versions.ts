import type { Blocks, Revision, SeriesRange, ValueAt, Version } from '../engine.ts'
import { inBlocks } from './blocks.ts'
import type { Connection } from './connection.ts'

type Prepare = Connection['prepare']

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

const named = ({ seriesId, geoId, from, to }: SeriesRange) => ({ series: seriesId, geo: geoId, from, to })

/** The values of a range: as they are, as they were known at an instant (UTC to the millisecond), or as each was first. */
export function valuesThen(prepare: Prepare, range: SeriesRange, then: string): ValueAt[] {
  const sql =
    then === 'now'
      ? `select at, value, step_s as step from observation where ${WHERE} order by at`
      : then === 'first'
        ? `${VERSIONS} select at, value, step_s as step from (
             select *, row_number() over (partition by at order by valid_from, fetch_id) as n from v) where n = 1 order by at`
        : `${VERSIONS} select at, value, step_s as step from v
           where valid_from <= :then and (valid_to is null or valid_to > :then) order by at`
  const parameters = then === 'now' || then === 'first' ? named(range) : { ...named(range), then }
  return prepare(sql).all(parameters) as ValueAt[]
}

/** Every time that a value of a range was replaced or withdrawn, after an instant where one is given; the latest first. */
export function revisionsOf(prepare: Prepare, range: SeriesRange, after: string | null): Revision[] {
  const rows = prepare(
    `select old.at, old.value as "before", coalesce(now.value, next.value) as "after",
       now.at is null and next.at is null as withdrawn, f.finished_at as "revisedAt"
     from observation_revision old
     join _fetch f on f.id = old.superseded_by
     left join observation now on now.series_id = old.series_id and now.geo_id = old.geo_id and now.at = old.at
       and now.fetch_id = old.superseded_by
     left join observation_revision next on next.series_id = old.series_id and next.geo_id = old.geo_id and next.at = old.at
       and next.fetch_id = old.superseded_by
     where old.series_id = :series and old.geo_id = :geo and old.at >= :from and old.at < :to and f.finished_at > :after
     order by f.finished_at desc, old.at`,
  ).all({ ...named(range), after: after ?? '' }) as (Omit<Revision, 'withdrawn'> & { withdrawn: number })[]
  return rows.map((row) => ({ ...row, withdrawn: row.withdrawn === 1 }))
}

/** Versions that began or ended between two instants: all that is needed to know both sides of what changed. */
const CHANGED = `select v.geo_id, v.at, v.value, v.step_s, f.finished_at as valid_from, n.finished_at as valid_to
  from (
    select o.geo_id, o.at, o.value, o.step_s, o.fetch_id, null as superseded_by
    from series_geo g cross join observation o on o.series_id = g.series_id and o.geo_id = g.geo_id
    where g.series_id = :series and o.at >= :first and o.at < :last
    union all
    select o.geo_id, o.at, o.value, o.step_s, o.fetch_id, o.superseded_by
    from series_geo g cross join observation_revision o on o.series_id = g.series_id and o.geo_id = g.geo_id
    where g.series_id = :series and o.at >= :first and o.at < :last
  ) v
  join _fetch f on f.id = v.fetch_id
  left join _fetch n on n.id = v.superseded_by
  where (f.finished_at > :from and f.finished_at <= :to) or (n.finished_at > :from and n.finished_at <= :to)
  order by v.geo_id, v.at, f.finished_at`

/** Versions of the values of a range, of all geos, that began or ended after one instant and not after another. */
export const changedVersions = (
  raw: Connection['raw'],
  seriesId: number,
  { from, to }: { readonly from: number; readonly to: number },
  between: { readonly from: string; readonly to: string },
): Blocks<Version> => {
  const parameters = { series: seriesId, first: from, last: to, ...between }
  return inBlocks(() => raw.prepare(CHANGED).iterate(parameters) as IterableIterator<Version>)
}
