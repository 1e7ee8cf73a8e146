import type { Job, SeriesEntry } from '../job/job.ts'
import { resolveMoment } from '../job/moment.ts'
import { hasBudget } from '../job/pace.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { applySelectors, type CatalogueIndicator, needsCatalogue, resolveStored } from '../job/select.ts'
import { unverifiedNext } from '../judge/distances.ts'
import { isFresh } from '../judge/finality.ts'
import { isFuture } from '../util/time/instant.ts'
import { findDueSpans, isOrdinary, isRepeated } from './due.ts'
import { coversAllGeos, createRecall, listSelectedSeries, seriesKeys, toIdentity, toParams } from './entries.ts'
import { type Freshness, isDue, isSkipped, toFreshness } from './freshness.ts'
import { calculateAbsentShare, isAbsenceDue, planAbsences, type SeriesRepeats } from './planAbsences.ts'
import { planCatalogue, planListings, planSelection } from './planListings.ts'
import { isInRange, type PlanContext, planRequest } from './planning.ts'
import { planSeries, type SeriesRequests } from './planSeries.ts'
import { createRegister } from './requestRegister.ts'
import {
  absenceTurn,
  groupByTurn,
  isBacklog,
  listTurn,
  type QueuedRequest,
  seriesTurn,
  type Turn,
  takeTurns,
} from './turns.ts'

/** What a job needs, with selectors replaced by ids. */
type JobContext = PlanContext & {
  /** The job with selectors whose catalogue is refreshed in turn. */
  readonly selecting?: Job | undefined
  /** What of the series planned so far is requested again as a small share. */
  readonly repeats: SeriesRepeats[]
}

/**
 * Plans the requests that a job needs, lazily. If a budget may end the run, everything takes turns. Otherwise first come the
 * catalogue and instants, then series, then the other lists. Absences that are due come last.
 */
export function* planJob(
  input: Omit<JobContext, 'requested' | 'repeats'> & Partial<Pick<JobContext, 'requested'>>,
): Generator<PlannedRequest> {
  const planning = prepare(input)
  let otherPeriods = 0
  const absences = planAbsences(planning, planning.repeats, () => calculateAbsentShare(otherPeriods))
  const requests = hasBudget(planning.job.pace)
    ? takeTurns([...listTurns(planning), createAbsenceTurn(planning, absences)])
    : planInOrder(planning)
  for (const planned of requests) {
    if (planned.reason !== 'absent') otherPeriods += planned.periods ?? 0
    yield planned
  }
  yield* absences
}

/** Plans what a sync would request now: the catalogue, if the job selects by it and it is due, then the rest of the job. */
export function* planPreview(
  planning: PlanContext,
  catalogue: readonly CatalogueIndicator[],
): Generator<PlannedRequest> {
  const { job } = planning
  const selecting = selectsInTurn(job, catalogue) ? job : undefined
  if (!selecting) yield* planSelection(planning)
  const recall = planning.duties && createRecall(planning.duties)
  yield* planJob({ ...planning, job: resolveStored(job, catalogue, recall), selecting })
}

/** Whether the catalogue that a job selects by takes turns like other lists: the stored one is good enough until then. */
export const selectsInTurn = (job: Job, catalogue: readonly CatalogueIndicator[]): boolean =>
  hasBudget(job.pace) &&
  needsCatalogue(job) &&
  applySelectors(job, catalogue).series.every(({ indicators }) => indicators.length > 0)

/**
 * The id of the oldest last attempt of all turns of a job: 0 if something was never attempted, null if nothing is due. The job with
 * the lowest is next.
 */
export function findOldestAttempt(planning: PlanContext, catalogue: readonly CatalogueIndicator[]): number | null {
  const { job, requested, duties } = planning
  const selected = applySelectors(job, catalogue, duties && createRecall(duties))
  const prepared = prepare({ ...planning, requested: requested.copy(), job: selected, selecting: job })
  const attempts = listTurns(prepared).map(({ lastAttempt }) => lastAttempt)
  if (prepared.repeats.length > 0 && isAbsenceDue(prepared)) attempts.push(lastAbsence(prepared))
  return attempts.length === 0 ? null : Math.min(...attempts)
}

/** The last request of a job for absences. */
const lastAbsence = ({ jobId, plannerState }: PlanContext): number =>
  jobId ? plannerState.attempts.turn(absenceTurn(jobId)) : 0

const prepare = (input: Parameters<typeof planJob>[0]): JobContext => ({
  ...input,
  job: { ...input.job, series: sortEntries(input.job.series) },
  requested: input.requested ?? createRegister(),
  repeats: [],
})

/** Plans everything but absences in the order of the job. */
function* planInOrder(planning: JobContext): Generator<PlannedRequest> {
  yield* planFirstLists(planning)
  if (planning.job.newestFirst) yield* sortLatestFirst(planAllSeries(planning))
  else for (const { windows, plan } of planAllSeries(planning)) yield* windows.values().map(plan)
  yield* planListings(planning)
}

/** Plans the catalogue and instants. */
function* planFirstLists(planning: JobContext): Generator<PlannedRequest> {
  const { job, selecting } = planning
  if (selecting) yield* planSelection({ ...planning, job: selecting })
  yield* planCatalogue(planning)
  for (const entry of job.series) yield* planInstants(planning, entry)
}

/** Lists the turns of a job that have a request, without absences. */
const listTurns = (planning: JobContext): Turn[] =>
  groupByTurn(queueRequests(planning), planning.plannerState.attempts.turn)

/** Lists the requests that take turns, in the order of the job: the first attempts of a new job keep it. */
function* queueRequests(planning: JobContext): Generator<QueuedRequest> {
  const { attempts } = planning.plannerState
  yield* queueLists(planning, planFirstLists(planning))
  for (const { key, settledBefore, windows, plan } of planAllSeries(planning))
    for (const window of windows)
      yield {
        turn: seriesTurn(key, isBacklog(window, settledBefore)),
        lastAttempt: attempts.window(key, window),
        window,
        plan: () => plan(window),
      }
  yield* queueLists(planning, planListings(planning))
}

function* queueLists({ plannerState }: JobContext, lists: Iterable<PlannedRequest>): Generator<QueuedRequest> {
  for (const planned of lists) {
    const { route, params, window, settledBefore, http } = planned
    yield {
      turn: listTurn(route, params, isBacklog(window, settledBefore)),
      lastAttempt: plannerState.attempts.target(http.target),
      window,
      plan: () => planned,
    }
  }
}

/** The small request for absences of a day takes its turn. The others wait until the share is known. */
const createAbsenceTurn = (planning: PlanContext, absences: Generator<PlannedRequest>): Turn => ({
  lastAttempt: lastAbsence(planning),
  requests: (function* () {
    const first = isAbsenceDue(planning) ? absences.next() : undefined
    if (first && !first.done) yield first.value
  })(),
})

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
    const last = plannerState.lastReplyAt(target)
    if (!options.restate && !isDue(last, window, freshness) && !isRejectedDue(planning, target, freshness)) continue
    if (isSkipped(planning, entry.path, entry.route, indicatorId)) continue
    if (requested.addTarget(target)) yield planned
  }
}

/** Rule 24 for one instant: whether a reply with rejected values is old enough to request the instant again. */
function isRejectedDue({ plannerState, now }: PlanContext, target: string, { refreshS }: Freshness): boolean {
  const last = plannerState.lastReplyAt(target)
  const since = plannerState.rejectedSince(target)
  if (last === undefined || since === undefined) return false
  return !isFresh(last, refreshS, now) && (isFuture(last, now) || now >= unverifiedNext(since, last))
}

/** Plans the series in the order of the job, and notes what is requested again. */
function* planAllSeries(planning: JobContext): Generator<SeriesRequests> {
  const { job, options, repeats } = planning
  for (const entry of job.series)
    for (const selected of listSelectedSeries(planning, entry)) {
      const due = options.restate ? [] : findDueSpans(planning, selected)
      const planned = planSeries(planning, selected, due.filter(isOrdinary))
      const spans = due.filter(isRepeated)
      if (spans.length > 0) repeats.push({ selected, spans })
      if (planned) yield planned
    }
}

/**
 * Merges the requests of many series, those with the latest end first. The windows of each series must be in that order. Each round
 * yields all requests with the latest end, so it visits each series once.
 */
export function* sortLatestFirst(
  series: Iterable<Pick<SeriesRequests, 'windows' | 'plan'>>,
): Generator<PlannedRequest> {
  let queues = Array.from(series, ({ windows, plan }) => ({ windows, plan, next: 0 }))
  for (;;) {
    queues = queues.filter(({ windows, next }) => next < windows.length)
    if (queues.length === 0) return
    const latest = queues.reduce((end, { windows, next }) => Math.max(end, windows[next]!.to), Number.NEGATIVE_INFINITY)
    for (const queue of queues) {
      const window = queue.windows[queue.next]!
      if (window.to < latest) continue
      queue.next++
      yield queue.plan(window)
    }
  }
}
