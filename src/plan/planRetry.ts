import { ALL_GEOS } from '../db/tables/codes.ts'
import { DEFAULT_LOOKBACK_S } from '../job/normalize.ts'
import { type PlannedRequest, type RetryRequest, seriesKey } from '../job/plannedRequest.ts'
import { borderUnit } from '../judge/finality.ts'
import type { AnyParams } from '../service/routes.ts'
import type { Interval } from '../util/time/interval.ts'
import { floorTo } from '../util/time/zone.ts'
import { groupHoles } from './geoGroups.ts'
import { type PlanContext, planRequest } from './planning.ts'
import { createRegister, type RequestRegister } from './requestRegister.ts'

interface RetryPart {
  readonly geoIds: readonly number[]
  readonly window: Interval | null
  readonly params: AnyParams
}

/**
 * The requests in an order in which few of them cover all: windows of successive nights overlap, so a window that begins in the one before
 * and ends last comes first. None becomes larger than it was, because a fault in one day must not fail the others.
 */
function orderByCover(requests: readonly RetryRequest[]): RetryRequest[] {
  const groups = Map.groupBy(requests, ({ series, window, geoIds }) =>
    series && window ? `${seriesKey(series)} ${geoIds?.join() ?? ''}` : null,
  )
  return [...groups].flatMap(([key, group]) => (key === null ? group : coverInOrder(group)))
}

/** The windows of a series: first those that cover all of them, in order of time, then the others. */
function coverInOrder(requests: readonly RetryRequest[]): RetryRequest[] {
  const inOrder = requests.toSorted((a, b) => a.window!.from - b.window!.from)
  const covering = new Set<RetryRequest>()
  let coveredTo = Number.NEGATIVE_INFINITY
  for (let i = 0; i < inOrder.length; ) {
    const from = Math.max(coveredTo, inOrder[i]!.window!.from)
    let furthest = inOrder[i]!
    for (; i < inOrder.length && inOrder[i]!.window!.from <= from; i++)
      if (inOrder[i]!.window!.to > furthest.window!.to) furthest = inOrder[i]!
    if (furthest.window!.to <= coveredTo) continue
    covering.add(furthest)
    coveredTo = furthest.window!.to
  }
  return [...covering, ...inOrder.filter((request) => !covering.has(request))]
}

/** The parts of a request that are not requested yet. Geos with equal parts are requested together. */
function listRetryParts({ series, window, geoIds, params }: RetryRequest, requested: RequestRegister): RetryPart[] {
  if (!series || !window) return [{ geoIds: geoIds ?? (series ? [] : [ALL_GEOS]), window, params }]
  const key = seriesKey(series)
  const missing = (geoIds ?? [ALL_GEOS]).map((geoId) => ({
    geoId,
    holes: requested.findUnrequested(key, geoId, [window]),
  }))
  return groupHoles(missing).flatMap((group) => {
    requested.add(key, group.geoIds, group.holes)
    const filter = series.geoAgg === null && geoIds ? { geo_ids: group.geoIds } : {}
    return group.holes.map((hole) => ({ geoIds: group.geoIds, window: hole, params: { ...params, ...filter } }))
  })
}

/** Plans requests of a retry, each interval once. Their windows are absolute, so they do not depend on the current time. */
export function* planRetry(
  { service, now }: Pick<PlanContext, 'service' | 'now'>,
  retryRequests: readonly RetryRequest[],
): Generator<PlannedRequest> {
  const requested = createRegister()
  for (const request of orderByCover(retryRequests)) {
    const { entryPath, route, series, lookbackS, isUnfiltered } = request
    const pastRevision = now - (lookbackS ?? DEFAULT_LOOKBACK_S)
    for (const { geoIds, window, params } of listRetryParts(request, requested)) {
      const planned = planRequest({ service, now }, entryPath, route, params, {
        series,
        geoIds,
        window,
        isUnfiltered,
        reason: 'retry',
        settledBefore: floorTo(service.timeZone, pastRevision, borderUnit(series?.timeTrunc ?? null)),
      })
      if (window || requested.addTarget(planned.http.target)) yield planned
    }
  }
}
