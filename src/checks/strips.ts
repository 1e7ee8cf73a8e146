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
export function coveredSeries(db: Reader): CoveredSeries[] {
  const rows = db.all(
    `select s.id, s.indicator_id as "indicatorId", s.time_trunc as "timeTrunc", c.geo_id as "geoId", c.from_at as "from", c.to_at as "to", c.state
     from coverage c join series s on s.id = c.series_id
     order by s.kind, s.indicator_id, s.id, c.geo_id, c.from_at`,
  ) as (Omit<CoveredSeries, 'stretches'> & Stretch & { id: number })[]
  const series: (CoveredSeries & { stretches: Stretch[] })[] = []
  let last = ''
  for (const { id, indicatorId, timeTrunc, geoId, from, to, state } of rows) {
    if (`${id} ${geoId}` !== last) series.push({ indicatorId, timeTrunc, geoId, stretches: [] })
    last = `${id} ${geoId}`
    series.at(-1)!.stretches.push({ from, to, state })
  }
  return series
}
