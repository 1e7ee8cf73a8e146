import type { Kysely } from 'kysely'
import type { Instant } from '../../../util/time/instant.ts'
import type { Interval } from '../../../util/time/interval.ts'
import type {
  Blocks,
  Extremes,
  HeldValue,
  Revision,
  SeriesRange,
  SupersededValue,
  ValueAt,
  ValueVersion,
} from '../../engine.ts'
import type { Database } from '../../tables/schema.ts'
import { rowsOf } from '../connection/statements.ts'

/** Values that are read at a time. Each block begins where the one before ended, so that nothing stays open between them. */
const VALUES_PER_BLOCK = 5_000

/** The values of a series and geo in an interval: the first four parameters. */
const RANGE_CONDITION = 'series_id = $1 and geo_id = $2 and at >= $3 and at < $4'
const NOW = `select at, value, step_s from observation where ${RANGE_CONDITION} order by at limit ${VALUES_PER_BLOCK}`
const VALUES_THEN = `select v.at, v.value, v.step_s from (
    select at, value, step_s, fetch_id, null::bigint as superseded_by from observation where ${RANGE_CONDITION}
    union all
    select at, value, step_s, fetch_id, superseded_by from observation_revision where ${RANGE_CONDITION}
  ) v
  join _fetch f on f.id = v.fetch_id
  left join _fetch n on n.id = v.superseded_by
  where f.finished_at <= $5 and (n.finished_at is null or n.finished_at > $5)
  order by v.at limit ${VALUES_PER_BLOCK}`

interface ValueRow {
  readonly at: Instant
  readonly value: number | null
  readonly step_s: number
}

/** Values in the order of their instants: as they are, or as they were known at an instant. */
export async function* values(
  db: Kysely<Database>,
  { seriesId, geoId, from, to }: SeriesRange,
  asOf: string | null,
): Blocks<readonly [at: Instant, value: number | null, step: number]> {
  for (let start = from; ; ) {
    const range = [seriesId, geoId, start, to]
    const rows = await rowsOf<ValueRow>(db, asOf === null ? NOW : VALUES_THEN, asOf === null ? range : [...range, asOf])
    if (rows.length > 0) yield rows.map(({ at, value, step_s }) => [at, value, step_s] as const)
    if (rows.length < VALUES_PER_BLOCK) return
    start = rows.at(-1)!.at + 1
  }
}

/** All values of an interval, each with the fetch that brought it. */
export async function heldIn(db: Kysely<Database>, { seriesId, geoId, from, to }: SeriesRange): Promise<HeldValue[]> {
  const sql = `select at, value, step_s, fetch_id from observation where ${RANGE_CONDITION} order by at`
  const rows = await rowsOf<ValueRow & { fetch_id: number }>(db, sql, [seriesId, geoId, from, to])
  return rows.map(({ at, value, step_s, fetch_id }) => [at, value, step_s, fetch_id])
}

/** All superseded and withdrawn values of an interval. */
export async function supersededIn(
  db: Kysely<Database>,
  { seriesId, geoId, from, to }: SeriesRange,
): Promise<SupersededValue[]> {
  const sql = `select at, value, step_s, fetch_id, superseded_by from observation_revision where ${RANGE_CONDITION} order by at, fetch_id`
  const rows = await rowsOf<ValueRow & { fetch_id: number; superseded_by: number }>(db, sql, [
    seriesId,
    geoId,
    from,
    to,
  ])
  return rows.map((row) => [row.at, row.value, row.step_s, row.fetch_id, row.superseded_by])
}

/*
 * As they were known when a fetch had been recorded: fetches of a series are numbered in the order in which they were
 * recorded, so the two fetch numbers of a row are enough to know when it was valid.
 */
const CURRENT_VALUES = `select at, value, step_s from observation where ${RANGE_CONDITION}`
const KNOWN_VALUES = `${CURRENT_VALUES} and fetch_id <= $5
  union all
  select at, value, step_s from observation_revision where ${RANGE_CONDITION} and fetch_id <= $5 and superseded_by > $5`

/** The first values of an interval in order of time: as they are, or as they were known after a fetch. */
export function knownValues(
  db: Kysely<Database>,
  { seriesId, geoId, from, to }: SeriesRange,
  fetchId: number | null,
  limit: number,
): Promise<ValueAt[]> {
  const sql = `select at, value, step_s as step from (${fetchId === null ? CURRENT_VALUES : KNOWN_VALUES}) v order by at limit ${Math.trunc(limit)}`
  return rowsOf(db, sql, [seriesId, geoId, from, to, ...(fetchId === null ? [] : [fetchId])])
}

type Totals = Omit<Extremes, 'mean'> & { readonly weighted: number | null }

/** The extremes and the mean of every interval between two neighbours in a list of instants. */
export async function extremesOf(
  db: Kysely<Database>,
  { seriesId, geoId }: Pick<SeriesRange, 'seriesId' | 'geoId'>,
  borders: readonly Instant[],
  fetchId: number | null,
): Promise<Extremes[]> {
  const [from, to] = [borders[0], borders.at(-1)]
  if (from === undefined || to === undefined || borders.length < 2) return []
  const sql = `select width_bucket(at, $${fetchId === null ? 5 : 6}::bigint[]) as nth, count(value) as count, min(value) as min,
      max(value) as max, sum(value * step_s) as weighted, coalesce(sum(step_s) filter (where value is not null), 0) as seconds
    from (${fetchId === null ? CURRENT_VALUES : KNOWN_VALUES}) v group by 1`
  const parameters = [seriesId, geoId, from, to, ...(fetchId === null ? [] : [fetchId]), [...borders]]
  const rows = await rowsOf<Totals & { nth: number }>(db, sql, parameters)
  const found = new Map(rows.map(({ nth, ...row }) => [nth, row]))
  return borders.slice(1).map((_, i) => {
    const { weighted, ...row } = found.get(i + 1) ?? { count: 0, seconds: 0, min: null, max: null, weighted: null }
    return { ...row, mean: weighted === null || row.seconds === 0 ? null : weighted / row.seconds }
  })
}

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
