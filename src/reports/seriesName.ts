import type { NamedSeries } from '../db/engine.ts'

/** The words for steps in a sentence, where they differ from those of the service. */
const STEP_WORDS: Readonly<Record<string, string>> = {
  five_minutes: 'five minutes',
  ten_minutes: 'ten minutes',
  fifteen_minutes: 'quarter-hour',
}

/** How the service grouped a series: `by the hour as sum of geos`; empty where it did not. */
export const groupingName = ({ time_trunc, geo_agg }: Pick<NamedSeries, 'time_trunc' | 'geo_agg'>): string =>
  [time_trunc && `by the ${STEP_WORDS[time_trunc] ?? time_trunc}`, geo_agg && `as ${geo_agg} of geos`]
    .filter(Boolean)
    .join(' ')

/** A series in a sentence: `indicator 600` as it came, `offer indicator 7 by the hour, series 4` where it is grouped. */
export function seriesName(series: NamedSeries): string {
  const indicator = `${series.kind.replace('_', ' ')} ${series.indicator_id}`
  const grouping = groupingName(series)
  return grouping === '' ? indicator : `${indicator} ${grouping}, series ${series.series_id}`
}
