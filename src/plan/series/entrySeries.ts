import type { Instant } from '../../base/time/instant.ts'
import type { Interval } from '../../base/time/interval.ts'
import { type Periods, periodsOf } from '../../base/time/periods.ts'
import { startOfDate } from '../../base/time/zone.ts'
import type { SeriesEntry } from '../../job/job.ts'
import { type PlannedRequest, type SeriesIdentity, seriesKey } from '../../job/plannedRequest.ts'
import type { SeriesState } from '../../job/plannerState.ts'
import { announcedChanges } from '../../services/resolutionChanges.ts'
import type { Service } from '../../services/service.ts'
import { identityOf, lookbacksOf, paramsOf, sentGeos } from '../entries.ts'
import type { Planning } from '../planning.ts'
import { planRequest } from '../planRequest.ts'

/** One series of an entry, with what is known of it. */
export interface EntrySeries {
  readonly entry: SeriesEntry
  readonly series: SeriesIdentity
  readonly key: string
  readonly state: SeriesState
  /** Its calendar periods; undefined where it has none or they are not known. */
  readonly periods: Periods | undefined
  /** The longest lookback with which it was or is requested, in seconds. */
  readonly lookbackS: number
}

/** The series of an entry for one of its indicators. */
export function entrySeries({ job, service, plannerState }: Planning, entry: SeriesEntry, id: number): EntrySeries {
  const series = identityOf(entry, id)
  const key = seriesKey(series)
  const state = plannerState.series(series)
  const periods = state.period && periodsOf(service.timeZone, state.period)
  const lookbackS = Math.max(state.lookbackS ?? 0, lookbacksOf(job).get(key)!)
  return { entry, series, key, state, periods: periods?.isCalendar ? periods : undefined, lookbackS }
}

/** Instants at which the resolution of a series changes, found or announced: no window spans one. */
export function changesOf(
  service: Service,
  { series: { indicatorId, timeTrunc }, state: { changes } }: EntrySeries,
): Instant[] {
  const announced = timeTrunc === null ? announcedChanges(service.changes, indicatorId) : []
  return [...changes, ...announced.map((date) => startOfDate(service.timeZone, date)!)].sort((a, b) => a - b)
}

/** Plans the request for a window of a series, for some of its geos. */
export const planWindow = (
  planning: Planning,
  { entry, series, lookbackS }: EntrySeries,
  window: Interval,
  about: Pick<PlannedRequest, 'geoIds' | 'settledBefore' | 'reason'>,
): PlannedRequest =>
  planRequest(planning, entry.where, entry.kind, paramsOf(entry, series.indicatorId, sentGeos(entry, about.geoIds)), {
    ...about,
    series,
    window,
    lookbackS,
  })
