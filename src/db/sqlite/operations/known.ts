import type { Instant } from '../../../util/time/instant.ts'
import type { Extremes, SeriesRange, ValueAt } from '../../engine.ts'
import type { Prepare } from '../connection.ts'

/*
 * Values as they are, or as they were known when a fetch had been recorded. Fetches of a series are numbered in the order in
 * which they were recorded, so that two numbers of a row tell its version, and nothing is looked up.
 */

const KNOWN_NOW = `select at, value, step_s as step from observation
  where series_id = :series and geo_id = :geo and at >= :from and at < :to`
const KNOWN_THEN = `${KNOWN_NOW} and fetch_id <= :fetch
  union all
  select at, value, step_s as step from observation_revision
  where series_id = :series and geo_id = :geo and at >= :from and at < :to and fetch_id <= :fetch and superseded_by > :fetch`

const versionsThen = (fetchId: number | null): string => (fetchId === null ? KNOWN_NOW : KNOWN_THEN)

/** The parameters by name: `fetch` only for a statement about a fetch. */
const bound = ({ seriesId, geoId, from, to }: SeriesRange, fetchId: number | null): object => ({
  series: seriesId,
  geo: geoId,
  from,
  to,
  ...(fetchId === null ? {} : { fetch: fetchId }),
})

/** The first values of an interval in order of time: as they are, or as they were known after a fetch. */
export const knownValues = (prepare: Prepare, of: SeriesRange, fetchId: number | null, limit: number): ValueAt[] =>
  prepare(`${versionsThen(fetchId)} order by at limit :limit`).all({ ...bound(of, fetchId), limit }) as ValueAt[]

const totalsSqlThen = (
  fetchId: number | null,
): string => `select count(value) as count, min(value) as min, max(value) as max,
    sum(value * step_s) as weighted, total(iif(value is null, 0, step_s)) as seconds
  from (${versionsThen(fetchId).replaceAll('step_s as step', 'step_s')})`

type ExtremesRow = Omit<Extremes, 'mean'> & { readonly weighted: number | null }

/** The extremes and the mean of every interval between two neighbours in a list of instants; each is one look at the key. */
export function extremesOf(
  prepare: Prepare,
  { seriesId, geoId }: Pick<SeriesRange, 'seriesId' | 'geoId'>,
  borders: readonly Instant[],
  fetchId: number | null,
): Extremes[] {
  const statement = prepare(totalsSqlThen(fetchId))
  return borders.slice(1).map((to, i) => {
    const { weighted, ...row } = statement.get(
      bound({ seriesId, geoId, from: borders[i]!, to }, fetchId),
    ) as ExtremesRow
    return { ...row, mean: weighted === null || row.seconds === 0 ? null : weighted / row.seconds }
  })
}
