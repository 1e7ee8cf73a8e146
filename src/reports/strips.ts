import type { Reader } from '../db/store.ts'

/** An interval of a series and geo with its state of coverage. */
export interface StateInterval {
  readonly from: number
  readonly to: number
  readonly state: string
}

/** A series and geo with its covered intervals. */
export interface CoveredSeries {
  readonly indicatorId: number
  readonly timeTrunc: string | null
  /** 0 when all geos were requested. */
  readonly geoId: number
  readonly intervals: readonly StateInterval[]
}

/** The coverage of every series, in order. */
export async function coveredSeries({ kysely }: Reader): Promise<CoveredSeries[]> {
  const rows = await kysely
    .selectFrom('coverage as c')
    .innerJoin('series as s', 's.id', 'c.series_id')
    .select(['s.id', 's.indicator_id as indicatorId', 's.time_trunc as timeTrunc', 'c.geo_id as geoId'])
    .select(['c.from_at as from', 'c.to_at as to', 'c.state'])
    .orderBy('s.kind')
    .orderBy('s.indicator_id')
    .orderBy('s.id')
    .orderBy('c.geo_id')
    .orderBy('c.from_at')
    .execute()
  const series: (CoveredSeries & { intervals: StateInterval[] })[] = []
  let last = ''
  for (const { id, indicatorId, timeTrunc, geoId, from, to, state } of rows) {
    if (`${id} ${geoId}` !== last) series.push({ indicatorId, timeTrunc, geoId, intervals: [] })
    last = `${id} ${geoId}`
    series.at(-1)!.intervals.push({ from, to, state })
  }
  return series
}
