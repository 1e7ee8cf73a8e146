import type { SeriesEntry } from '../job/job.ts'
import { resolveMoment } from '../job/moment.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { type CatalogueIndicator, resolveStored } from '../job/select.ts'
import { coversAllGeos, createRecall, listSelectedSeries, seriesKeys, toIdentity, toParams } from './entries.ts'
import { isDue, isSkipped, toFreshness } from './freshness.ts'
import { planAbsences } from './planAbsences.ts'
import { planCatalogue, planListings, planSelection } from './planListings.ts'
import { isInRange, type PlanContext, planRequest } from './planning.ts'
import { planSeries, type SeriesRequests } from './planSeries.ts'
import { createRegister } from './requestRegister.ts'

/**
 * Plans the requests that a job needs, lazily: first the catalogue, then series, then the other listings, then absences that are due.
 */
export function* planJob(
  input: Omit<PlanContext, 'requested'> & Partial<Pick<PlanContext, 'requested'>>,
): Generator<PlannedRequest> {
  const { requested = createRegister() } = input
  const job = { ...input.job, series: sortEntries(input.job.series) }
  const planning = { ...input, job, requested }
  const before = requested.count()
  yield* planCatalogue(planning)
  for (const entry of job.series) yield* planInstants(planning, entry)
  if (job.newestFirst) yield* sortLatestFirst(planAllSeries(planning))
  else for (const { requests } of planAllSeries(planning)) yield* requests
  yield* planListings(planning)
  yield* planAbsences(planning, requested.count() - before)
}

/** Plans what a sync would request now: the catalogue, if the job selects by it and it is due, then the rest of the job. */
export function* planPreview(
  planning: PlanContext,
  catalogue: readonly CatalogueIndicator[],
): Generator<PlannedRequest> {
  yield* planSelection(planning)
  const recall = planning.duties && createRecall(planning.duties)
  yield* planJob({ ...planning, job: resolveStored(planning.job, catalogue, recall) })
}

/** Keeps the order of entries, but moves those for some geos after those for all geos of the same series, which cover them. */
function sortEntries(entries: readonly SeriesEntry[]): readonly SeriesEntry[] {
  if (entries.every(coversAllGeos) || !entries.some(coversAllGeos)) return entries
  const whole = new Set(entries.filter(coversAllGeos).flatMap(seriesKeys))
  const isPart = (entry: SeriesEntry): boolean =>
    !coversAllGeos(entry) && seriesKeys(entry).some((key) => whole.has(key))
  return [...entries.filter((entry) => !isPart(entry)), ...entries.filter(isPart)]
}

/** Plans an entry with `datetime`: one request for each indicator, for one instant. */
function* planInstants(planning: PlanContext, entry: SeriesEntry): Generator<PlannedRequest> {
  const { job, plannerState, now, options, requested } = planning
  if (!entry.datetime) return
  const datetime = resolveMoment(entry.datetime, job.timeZone, now)
  if (!isInRange(planning, datetime)) return
  const freshness = toFreshness(planning, entry)
  for (const indicatorId of entry.indicators) {
    const params = { ...toParams(entry, indicatorId, entry.geoIds), datetime }
    const extra = { series: toIdentity(entry, indicatorId), geoIds: [] }
    const planned = planRequest(planning, entry.path, entry.route, params, extra)
    const { target } = planned.http
    const window = { from: datetime, to: datetime + 1 }
    if (!options.restate && !isDue(plannerState.lastReplyAt(target), window, freshness)) continue
    if (isSkipped(planning, entry.path, entry.route, indicatorId)) continue
    if (requested.addTarget(target)) yield planned
  }
}

/** Plans the series in the order of the job; if a budget may end the run, those first that were not requested for the longest time. */
function* planAllSeries(planning: PlanContext): Generator<SeriesRequests> {
  const { series, pace } = planning.job
  const selectedSeries = series.flatMap((entry) => [...listSelectedSeries(planning, entry)])
  if (pace.callsPerHour ?? pace.callsPerDay) selectedSeries.sort((a, b) => a.state.lastFetchId - b.state.lastFetchId)
  for (const selected of selectedSeries) {
    const planned = planSeries(planning, selected)
    if (planned) yield planned
  }
}

/**
 * Merges the requests of many series, those with the latest end first. The requests of each series must be in that order. Each round
 * yields all requests with the latest end, so it visits each series once.
 */
export function* sortLatestFirst(series: Iterable<SeriesRequests>): Generator<PlannedRequest> {
  let queues = Array.from(series, ({ windows, requests }) => ({
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
