import type { PlannedRequest } from '../../job/plannedRequest.ts'
import { announcedChanges } from '../../service/resolutions.ts'
import type { Service } from '../../service/service.ts'
import type { Size } from '../../service/windowSizes.ts'
import type { Instant } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { startOfDate } from '../../util/time/zone.ts'
import { sentGeos, toParams } from '../entries.ts'
import { settledBefore } from '../freshness.ts'
import type { Planning } from '../planning.ts'
import { planRequest } from '../planRequest.ts'
import { cutterFor } from '../windows.ts'
import type { EntrySeries } from './entrySeries.ts'

/** Instants at which the resolution of a series changes, found or announced: no window spans one. */
function findChanges(
  service: Service,
  { series: { indicatorId, timeTrunc }, state: { changes } }: EntrySeries,
): Instant[] {
  const announced = timeTrunc === null ? announcedChanges(service.changes, indicatorId) : []
  return [...changes, ...announced.map((date) => startOfDate(service.timeZone, date)!)].sort((a, b) => a - b)
}

/** The windows of a series: holes cut on local borders, and the request for each. */
export interface SeriesWindows {
  /** Periods that end before this are past revision. */
  readonly settledBefore: Instant
  cut(holes: readonly Interval[], size: Size): Interval[]
  /** Plans the request for a window, for some geos. */
  request(window: Interval, about: Pick<PlannedRequest, 'geoIds' | 'reason'>): PlannedRequest
}

/** The windows of a series of which something has to be requested. */
export function splitIntoWindows(planning: Planning, one: EntrySeries): SeriesWindows {
  const { service, now } = planning
  const { entry, series, lookbackS, freshness } = one
  const zone = service.timeZone
  const changes = findChanges(service, one)
  const settled = settledBefore(now, freshness)
  const cutter = cutterFor(zone, freshness.unit)
  return {
    settledBefore: settled,
    cut: (holes, size) => holes.flatMap((hole) => cutter(hole, size, changes)),
    request(window, about) {
      const params = toParams(entry, series.indicatorId, sentGeos(entry, about.geoIds))
      const extra = { ...about, series, window, settledBefore: settled, lookbackS }
      return planRequest(planning, entry.path, entry.route, params, extra)
    },
  }
}
