import type { Reader } from '../db/open.ts'

/** What is held of a series, for a geo that was asked for. */
export interface Stretch {
  readonly from: number
  readonly to: number
  readonly state: string
}

/** A series and geo with the stretches that are held of it. */
export interface CoveredSeries {
  readonly indicatorId: number
  readonly timeTrunc: string | null
  /** 0 when all geos were asked for. */
  readonly geoId: number
  readonly stretches: readonly Stretch[]
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
  const series: (CoveredSeries & { stretches: Stretch[] })[] = []
  let last = ''
  for (const { id, indicatorId, timeTrunc, geoId, from, to, state } of rows) {
    if (`${id} ${geoId}` !== last) series.push({ indicatorId, timeTrunc, geoId, stretches: [] })
    last = `${id} ${geoId}`
    series.at(-1)!.stretches.push({ from, to, state })
  }
  return series
}
