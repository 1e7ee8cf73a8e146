import { ALL_GEOS } from '../db/tables/codes.ts'
import { DEFAULT_LOOKBACK } from '../job/normalize.ts'
import { type FailedRequest, type PlannedRequest, seriesKey } from '../job/plannedRequest.ts'
import type { AnyParams } from '../service/routes.ts'
import type { Interval } from '../util/time/interval.ts'
import { floorTo } from '../util/time/zone.ts'
import type { Planning } from './planning.ts'
import { planRequest } from './planRequest.ts'
import { createRequested, type Requested } from './requested.ts'
import { groupHoles } from './series/groups.ts'
import { borderUnit } from './windows.ts'

interface RetryPart {
  readonly geoIds: readonly number[]
  readonly window: Interval | null
  readonly params: AnyParams
}

/** The parts of a request that are not requested yet; geos with the same parts are requested together. */
function retryParts({ series, window, geoIds, params }: FailedRequest, requested: Requested): RetryPart[] {
  if (!series || !window) return [{ geoIds: geoIds ?? (series ? [] : [ALL_GEOS]), window, params }]
  const key = seriesKey(series)
  const missing = (geoIds ?? [ALL_GEOS]).map((geoId) => ({ geoId, holes: requested.untouched(key, geoId, [window]) }))
  return groupHoles(missing).flatMap(({ geoIds: own, holes }) => {
    requested.add(key, own, holes)
    const some = series.geoAgg === null && geoIds ? { geo_ids: own } : {}
    return holes.map((hole) => ({ geoIds: own, window: hole, params: { ...params, ...some } }))
  })
}

/** Plans failed requests again, but nothing twice. Their windows are absolute, so they are the same at any later time. */
export function* planRetry(
  { service, now }: Pick<Planning, 'service' | 'now'>,
  failed: readonly FailedRequest[],
): Generator<PlannedRequest> {
  const requested = createRequested()
  for (const one of failed) {
    const { entry, route, series, lookbackS, complete } = one
    const pastRevision = now - (lookbackS ?? DEFAULT_LOOKBACK)
    for (const { geoIds, window, params } of retryParts(one, requested)) {
      const planned = planRequest({ service, now }, entry, route, params, {
        series,
        geoIds,
        window,
        complete,
        reason: 'retry',
        settledBefore: floorTo(service.timeZone, pastRevision, borderUnit(series?.timeTrunc ?? null)),
      })
      if (window || requested.addTarget(planned.request.target)) yield planned
    }
  }
}
