import type { NamedSeries } from '../db/engine.ts'

/** The words for steps, if they differ from those of the service. */
const STEP_WORDS: Readonly<Record<string, string>> = {
  five_minutes: 'five minutes',
  ten_minutes: 'ten minutes',
  fifteen_minutes: 'quarter-hour',
}

/** Names a series in a sentence: `indicator 600` if it is native, else `offer indicator 7 by the hour as sum of geos, series 4`. */
export function seriesName({ kind, indicator_id, time_trunc, geo_agg, series_id }: NamedSeries): string {
  const indicator = `${kind.replace('_', ' ')} ${indicator_id}`
  const grouping = [
    time_trunc && `by the ${STEP_WORDS[time_trunc] ?? time_trunc}`,
    geo_agg && `as ${geo_agg} of geos`,
  ].filter(Boolean)
  return grouping.length === 0 ? indicator : `${indicator} ${grouping.join(' ')}, series ${series_id}`
}
