import type { Kysely } from 'kysely'
import type { Instant } from '../../../util/time/instant.ts'
import type { Blocks, Extremes, HeldValue, SeriesRange, SupersededValue, ValueAt } from '../../engine.ts'
import type { Database } from '../../tables/schema.ts'
import { rowsOf } from '../connection/runSql.ts'

/** Values that are read at a time. Each block begins where the one before ended, so that nothing stays open between them. */
const VALUES_PER_BLOCK = 5_000

/** The values of a series and geo in an interval: the first four parameters. */
export const RANGE_CONDITION = 'series_id = $1 and geo_id = $2 and at >= $3 and at < $4'
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
