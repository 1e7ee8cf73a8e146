import { ALL_GEOS } from '../db/tables/codes.ts'
import type { SeriesEntry } from '../job/job.ts'
import { resolveMoment } from '../job/moment.ts'
import { type PlannedRequest, seriesKey } from '../job/plannedRequest.ts'
import { type Interval, merge } from '../util/time/interval.ts'
import { coversAllGeos, seriesKeys, toIdentity, toParams } from './entries.ts'
import { isDue, isSkipped, toFreshness } from './freshness.ts'
import { planCatalogue, planListings } from './listings.ts'
import { isInRange, type Planning } from './planning.ts'
import { planRequest } from './planRequest.ts'
import { createRequested } from './requested.ts'
import { planAbsences } from './series/absences.ts'
import { seriesOf } from './series/entrySeries.ts'
import { findMissing, type MissingLater } from './series/missing.ts'
import { planSeries, type SeriesRequests } from './series/seriesRequests.ts'

function findMissingLater(planning: Planning): ReadonlyMap<string, readonly Interval[]> {
  const { job, later: others = [] } = planning
  const found = new Map<string, readonly Interval[]>()
  if (others.length === 0) return found
  const own = new Set(job.series.filter((entry) => !coversAllGeos(entry)).flatMap(seriesKeys))
  for (const later of own.size === 0 ? [] : others)
    for (const entry of later.job.series.filter(coversAllGeos)) {
      const laterPlanning = { ...planning, ...later }
      const shared = entry.indicators.filter((id) => own.has(seriesKey(toIdentity(entry, id))))
      for (const one of seriesOf(laterPlanning, entry, shared))
        found.set(one.key, merge([...(found.get(one.key) ?? []), ...findMissing(laterPlanning, one, ALL_GEOS)]))
    }
  return found
}

/**
 * Finds, on the first call, what later jobs need for all geos of a series. Where this job names only some geos, all are requested
 * at once, so that nothing is requested twice.
 */
function createMissingLater(planning: Planning): MissingLater {
  let found: ReturnType<typeof findMissingLater> | undefined
  return (series) => {
    found ??= findMissingLater(planning)
    return found.get(series) ?? []
  }
}

/** Plans an entry with `datetime`: one request an indicator, for one instant. */
function* planInstants(planning: Planning, entry: SeriesEntry): Generator<PlannedRequest> {
  const { job, plannerState, now, options, requested } = planning
  if (!entry.datetime) return
  const datetime = resolveMoment(entry.datetime, job.timeZone, now)
  if (!isInRange(planning, datetime)) return
  const freshness = toFreshness(planning, entry)
  for (const indicatorId of entry.indicators) {
    const params = { ...toParams(entry, indicatorId, entry.geoIds), datetime }
    const extra = { series: toIdentity(entry, indicatorId), geoIds: [] }
    const planned = planRequest(planning, entry.path, entry.route, params, extra)
    const { target } = planned.request
    const window = { from: datetime, to: datetime + 1 }
    if (!options.restate && !isDue(plannerState.lastReplyAt(target), window, freshness)) continue
    if (isSkipped(planning, entry.path, entry.route, indicatorId)) continue
    if (requested.addTarget(target)) yield planned
  }
}

/**
 * Merges the requests of many series, those with the latest end first; the requests of each series must be in that order. Each
 * round yields all requests with the latest end, so that a round looks at each series once.
 */
export function* latestFirst(given: Iterable<SeriesRequests>): Generator<PlannedRequest> {
  let queues = Array.from(given, ({ windows, requests }) => ({
    windows,
    next: 0,
    requests: requests[Symbol.iterator](),
  }))
  for (;;) {
    queues = queues.filter(({ windows, next }) => next < windows.length)
    if (queues.length === 0) return
    const latest = queues.reduce((end, { windows, next }) => Math.max(end, windows[next]!.to), Number.NEGATIVE_INFINITY)
    for (const queue of queues) {
      if (queue.windows[queue.next]!.to < latest) continue
      queue.next++
      yield queue.requests.next().value!
    }
  }
}

/**
 * Job + planner state + clock → the requests that are needed, lazily: first the catalogue, then series, then the other
 * listings, then absences that are due.
 */
export function* planJob(
  given: Omit<Planning, 'requested'> & Partial<Pick<Planning, 'requested'>>,
): Generator<PlannedRequest> {
  const { requested = createRequested() } = given
  const job = { ...given.job, series: inOrder(given.job.series) }
  const planning = { ...given, job, requested }
  const before = requested.requests()
  const missingLater = createMissingLater(planning)
  yield* planCatalogue(planning)
  for (const entry of job.series) yield* planInstants(planning, entry)
  const series = seriesRequests(planning, missingLater)
  if (job.newestFirst) yield* latestFirst(series)
  else for (const { requests } of series) yield* requests
  yield* planListings(planning)
  yield* planAbsences(planning, requested.requests() - before, missingLater)
}

/** The requests of every series of a job. */
function* seriesRequests(planning: Planning, missingLater: MissingLater): Generator<SeriesRequests> {
  for (const entry of planning.job.series) yield* planSeries(planning, entry, missingLater)
}

/** Entries in the order of the job, except that entries for some geos come after entries for all geos of the same series, which cover them. */
function inOrder(entries: readonly SeriesEntry[]): readonly SeriesEntry[] {
  if (entries.every(coversAllGeos) || !entries.some(coversAllGeos)) return entries
  const whole = new Set(entries.filter(coversAllGeos).flatMap(seriesKeys))
  const isPart = (entry: SeriesEntry): boolean =>
    !coversAllGeos(entry) && seriesKeys(entry).some((key) => whole.has(key))
  return [...entries.filter((entry) => !isPart(entry)), ...entries.filter(isPart)]
}
