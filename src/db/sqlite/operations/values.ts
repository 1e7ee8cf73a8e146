import type { Instant } from '../../../util/time/instant.ts'
import { type Blocks, type Extremes, type SeriesRange, toBlocks } from '../../engine.ts'
import { valuesQuery } from '../../queries/values.ts'
import type { Connection, Prepare } from '../connection.ts'

type Value = [at: Instant, value: number | null, step: number]

/** Reads values in order of time, with a separate statement, because several may be read concurrently. */
export const streamValues = (
  { kysely, raw }: Pick<Connection, 'kysely' | 'raw'>,
  range: SeriesRange,
  asOf: string | null,
): Blocks<Value> => {
  const { sql, parameters } = valuesQuery(range, asOf).compile(kysely)
  const statement = raw.prepare(sql).raw()
  return toBlocks(() => statement.iterate(...parameters) as IterableIterator<Value>)
}

const RANGE = 'series_id = :series and geo_id = :geo and at >= :from and at < :to'
const TOTALS = `select count(value) as count, min(value) as min, max(value) as max,
    sum(value) as sum, sum(value * step_s) as weighted, total(iif(value is null, 0, step_s)) as seconds from`
const TOTALS_NOW = `${TOTALS} observation where ${RANGE}`
/** The values of `valuesAsOfFetch`, as one text for all intervals. */
const TOTALS_AS_OF = `${TOTALS} (
    select value, step_s from observation where ${RANGE} and fetch_id <= :fetch
    union all
    select value, step_s from observation_revision where ${RANGE} and fetch_id <= :fetch and superseded_by > :fetch
  )`

type ExtremesRow = Omit<Extremes, 'mean'> & { readonly weighted: number | null }

/** Reads the aggregates of every interval between two adjacent borders, each by one range of the key. */
export function readExtremes(
  prepare: Prepare,
  { seriesId: series, geoId: geo }: Pick<SeriesRange, 'seriesId' | 'geoId'>,
  borders: readonly Instant[],
  fetchId: number | null,
): Extremes[] {
  const statement = prepare(fetchId === null ? TOTALS_NOW : TOTALS_AS_OF)
  const fetch = fetchId === null ? {} : { fetch: fetchId }
  return borders.slice(1).map((to, i) => {
    const { weighted, ...row } = statement.get({ series, geo, from: borders[i]!, to, ...fetch }) as ExtremesRow
    return { ...row, mean: weighted === null || row.seconds === 0 ? null : weighted / row.seconds }
  })
}
