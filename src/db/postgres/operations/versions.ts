import type { Kysely } from 'kysely'
import type { Interval } from '../../../util/time/interval.ts'
import type { Blocks, Revision, SeriesRange, ValueAt, ValueVersion } from '../../engine.ts'
import type { Database } from '../../tables/schema.ts'
import { rowsOf } from '../connection/runSql.ts'
import { RANGE_CONDITION } from './values.ts'

const VALUE_VERSIONS = `with v as (
  select v.at, v.value, v.step_s, v.fetch_id, v.superseded_by, f.finished_at as valid_from, n.finished_at as valid_to
  from (
    select at, value, step_s, fetch_id, null::bigint as superseded_by from observation where ${RANGE_CONDITION}
    union all
    select at, value, step_s, fetch_id, superseded_by from observation_revision where ${RANGE_CONDITION}
  ) v
  join _fetch f on f.id = v.fetch_id
  left join _fetch n on n.id = v.superseded_by
)`

const bound = ({ seriesId, geoId, from, to }: SeriesRange): number[] => [seriesId, geoId, from, to]

/** The values of a range: as they are, as they were known at an instant (UTC to the millisecond), or as each was first. */
export function valuesThen(db: Kysely<Database>, range: SeriesRange, then: string): Promise<ValueAt[]> {
  if (then === 'now')
    return rowsOf(
      db,
      `select at, value, step_s as step from observation where ${RANGE_CONDITION} order by at`,
      bound(range),
    )
  if (then === 'first')
    return rowsOf(
      db,
      `${VALUE_VERSIONS} select distinct on (at) at, value, step_s as step from v order by at, valid_from, fetch_id`,
      bound(range),
    )
  return rowsOf(
    db,
    `${VALUE_VERSIONS} select at, value, step_s as step from v where valid_from <= $5 and (valid_to is null or valid_to > $5) order by at`,
    [...bound(range), then],
  )
}

const REVISIONS = `select old.at, old.value as "before", coalesce(now.value, next.value) as "after",
    now.at is null and next.at is null as withdrawn, f.finished_at as "revisedAt"
  from observation_revision old
  join _fetch f on f.id = old.superseded_by
  left join observation now on now.series_id = old.series_id and now.geo_id = old.geo_id and now.at = old.at
    and now.fetch_id = old.superseded_by
  left join observation_revision next on next.series_id = old.series_id and next.geo_id = old.geo_id and next.at = old.at
    and next.fetch_id = old.superseded_by
  where old.series_id = $1 and old.geo_id = $2 and old.at >= $3 and old.at < $4 and f.finished_at > $5
  order by f.finished_at desc, old.at`

/** Every time that a value of a range was replaced or withdrawn, after an instant where one is given; the latest first. */
export async function revisionsOf(db: Kysely<Database>, range: SeriesRange, after: string | null): Promise<Revision[]> {
  const rows = await rowsOf<Omit<Revision, 'withdrawn'> & { withdrawn: 0 | 1 }>(db, REVISIONS, [
    ...bound(range),
    after ?? '',
  ])
  return rows.map((row) => ({ ...row, withdrawn: row.withdrawn === 1 }))
}

/** Versions that began or ended between two instants: all that is needed to know both sides of what changed. */
const CHANGED = `select v.geo_id, v.at, v.value, v.step_s, f.finished_at as valid_from, n.finished_at as valid_to
  from (
    select geo_id, at, value, step_s, fetch_id, null::bigint as superseded_by
    from observation where series_id = $1 and at >= $2 and at < $3
    union all
    select geo_id, at, value, step_s, fetch_id, superseded_by
    from observation_revision where series_id = $1 and at >= $2 and at < $3
  ) v
  join _fetch f on f.id = v.fetch_id
  left join _fetch n on n.id = v.superseded_by
  where (f.finished_at > $4 and f.finished_at <= $5) or (n.finished_at > $4 and n.finished_at <= $5)
  order by v.geo_id, v.at, f.finished_at`

/** Versions of the values of a range, of all geos, that began or ended after one instant and not after another. */
export async function* changedVersions(
  db: Kysely<Database>,
  seriesId: number,
  { from, to }: Interval,
  between: { readonly from: string; readonly to: string },
): Blocks<ValueVersion> {
  const rows = await rowsOf<ValueVersion>(db, CHANGED, [seriesId, from, to, between.from, between.to])
  if (rows.length > 0) yield rows
}
