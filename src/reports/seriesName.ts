import type { NamedSeries } from '../db/engine.ts'

/** The words for steps, if they differ from those of the service. */
const STEP_WORDS: Readonly<Record<string, string>> = {
  five_minutes: 'five minutes',
  ten_minutes: 'ten minutes',
  fifteen_minutes: 'quarter-hour',
}

/** Describes how the service grouped a series: `by the hour as sum of geos`; empty for a native one. */
export const groupingName = ({ time_trunc, geo_agg }: Pick<NamedSeries, 'time_trunc' | 'geo_agg'>): string =>
  [time_trunc && `by the ${STEP_WORDS[time_trunc] ?? time_trunc}`, geo_agg && `as ${geo_agg} of geos`]
    .filter(Boolean)
    .join(' ')

/** Names a series in a sentence: `indicator 600` if it is native, else `offer indicator 7 by the hour, series 4`. */
export function seriesName(series: NamedSeries): string {
  const indicator = `${series.kind.replace('_', ' ')} ${series.indicator_id}`
  const grouping = groupingName(series)
  return grouping === '' ? indicator : `${indicator} ${grouping}, series ${series.series_id}`
}
