import { type Kysely, sql } from 'kysely'
import type { Instant } from '../../../util/time/instant.ts'
import type { Blocks, Extremes, SeriesRange } from '../../engine.ts'
import { valuesAsOfFetch, valuesQuery } from '../../queries/values.ts'
import type { Database } from '../../tables/schema.ts'

/** Each block starts after the previous one, so that nothing stays open between them. */
const VALUES_PER_BLOCK = 5_000

/** Reads values in order of time: now, or as of a time. */
export async function* streamValues(
  db: Kysely<Database>,
  range: SeriesRange,
  asOf: string | null,
): Blocks<readonly [at: Instant, value: number | null, step: number]> {
  for (let { from } = range; ; ) {
    const query = sql<{ at: Instant; value: number | null; step: number }>`
      ${valuesQuery({ ...range, from }, asOf)} limit ${sql.lit(VALUES_PER_BLOCK)}`
    const { rows } = await query.execute(db)
    if (rows.length > 0) yield rows.map(({ at, value, step }) => [at, value, step] as const)
    if (rows.length < VALUES_PER_BLOCK) return
    from = rows.at(-1)!.at + 1
  }
}

type Totals = Omit<Extremes, 'mean'> & { readonly weighted: number | null }

/** Reads the aggregates of every interval between two adjacent borders. */
export async function readExtremes(
  db: Kysely<Database>,
  series: Pick<SeriesRange, 'seriesId' | 'geoId'>,
  borders: readonly Instant[],
  fetchId: number | null,
): Promise<Extremes[]> {
  const from = borders[0]
  const to = borders.at(-1)
  if (from === undefined || to === undefined || borders.length < 2) return []
  const { rows } = await sql<Totals & { nth: number }>`
    select width_bucket(at, ${[...borders]}::bigint[]) as nth, count(value) as count, min(value) as min, max(value) as max,
      sum(value) as sum, sum(value * step_s) as weighted, coalesce(sum(step_s) filter (where value is not null), 0) as seconds
    from (${valuesAsOfFetch({ ...series, from, to }, fetchId)}) v group by 1`.execute(db)
  const totals = new Map(rows.map(({ nth, ...row }) => [nth, row]))
  return borders.slice(1).map((_, i) => {
    const empty = { count: 0, seconds: 0, min: null, max: null, sum: null, weighted: null }
    const { weighted, ...row } = totals.get(i + 1) ?? empty
    return { ...row, mean: weighted === null || row.seconds === 0 ? null : weighted / row.seconds }
  })
}
