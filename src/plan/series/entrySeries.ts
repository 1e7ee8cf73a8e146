import type { SeriesEntry } from '../../job/job.ts'
import { type SeriesIdentity, seriesKey } from '../../job/plannedRequest.ts'
import type { SeriesState } from '../../job/plannerState.ts'
import type { Interval } from '../../util/time/interval.ts'
import { findPeriods } from '../../util/time/periods.ts'
import { coveredGeos, longestLookbacks, toIdentity } from '../entries.ts'
import { type Freshness, toFreshness } from '../freshness.ts'
import { type Planning, wantedRange } from '../planning.ts'
import { borderUnit } from '../windows.ts'

/** One series of an entry, with what is wanted and what is known of it. */
export interface EntrySeries {
  readonly entry: SeriesEntry
  readonly series: SeriesIdentity
  readonly key: string
  readonly state: SeriesState
  /** The geos under which its coverage is recorded. */
  readonly geoIds: readonly number[]
  /** What the entry wants of it, stored or not. */
  readonly wanted: Interval
  /** Which of what is stored is still good, with the unit on whose borders its windows begin and end, and its calendar periods where it has some. */
  readonly freshness: Freshness
  /** The longest lookback with which it was or is requested, in seconds. */
  readonly lookbackS: number
}

/** The series of an entry with a window, or those of some of its indicators. */
export function* seriesOf(
  planning: Planning,
  entry: SeriesEntry,
  indicators: readonly number[] = entry.indicators,
): Generator<EntrySeries> {
  const { job, service, plannerState } = planning
  if (!entry.window) return
  const geoIds = coveredGeos(entry)
  const unit = borderUnit(entry.timeTrunc)
  const wanted = wantedRange(planning, entry.window, unit)
  const freshness = toFreshness(planning, entry, unit)
  for (const id of indicators) {
    const series = toIdentity(entry, id)
    const key = seriesKey(series)
    const state = plannerState.series(key)
    const periods = state.period && findPeriods(service.timeZone, state.period)
    const lookbackS = Math.max(state.lookbackS ?? 0, longestLookbacks(job).get(key)!)
    const own = periods?.isCalendar ? { ...freshness, periods } : freshness
    yield { entry, series, key, geoIds, state, wanted, freshness: own, lookbackS }
  }
}
