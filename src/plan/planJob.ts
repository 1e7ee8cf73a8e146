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
import { planCatalogue, planListings, planSelection } from './planListings.ts'
import { isInRange, type PlanContext, planRequest } from './planning.ts'
import { calculateRepeatShare, type DueRepeats, isRepeatDue, planRepeats } from './planRepeats.ts'
import { type DueWindows, planSeries } from './planSeries.ts'
import { createRegister } from './requestRegister.ts'
import {
  groupByTurn,
  isBacklog,
  listTurn,
  repeatTurn,
  seriesTurn,
  type Turn,
  type TurnRequest,
  takeTurns,
} from './turns.ts'

/** The planned requests of a job. Each iteration makes them anew, so that a long plan is never in memory as a whole. */
export interface JobPlan extends Iterable<PlannedRequest> {
  readonly total: number
}

/** The planned requests of a job by kind. Made once, because nothing is planned twice. */
interface JobNeeds {
  /** The catalogue and instants, which come first, and the other lists. */
  readonly first: readonly PlannedRequest[]
  readonly series: readonly DueWindows[]
  readonly listings: readonly PlannedRequest[]
  /** Due repeats of the series, which take a small share of the requests. */
  readonly dueRepeats: readonly DueRepeats[]
}

/** A job with its selectors replaced by ids. `selecting`: the job with selectors whose catalogue is refreshed in turn. */
type JobContext = PlanContext & { readonly selecting?: Job | undefined }

/**
 * Plans the requests that a job needs. If a budget may end the run, everything takes turns. Otherwise first come the catalogue and
 * instants, then series, then the other lists. Repeats that are due come last.
 */
export function planJob(input: Omit<JobContext, 'requested'> & Partial<Pick<JobContext, 'requested'>>): JobPlan {
  const planning = { requested: createRegister(), ...input }
  const needs = findNeeds(planning)
  const { first, series, listings, dueRepeats } = needs
  const seriesPeriods = series.reduce((sum, { periods }) => sum + periods, 0)
  const listPeriods = [...first, ...listings].reduce((sum, { periods = 0 }) => sum + periods, 0)
  const isInTurns = hasBudget(planning.job.pace)
  // With a budget, one small repeat gets its own turn; the rest come last.
  const takesTurn = isInTurns && isRepeatDue(planning)
  const repeats = planRepeats(planning, dueRepeats, calculateRepeatShare(seriesPeriods + listPeriods), takesTurn)
  const inTurn = takesTurn ? repeats.slice(0, 1) : []
  const last = takesTurn ? repeats.slice(1) : repeats
  const windows = series.reduce((sum, { windows }) => sum + windows.length, 0)
  return {
    total: first.length + windows + listings.length + inTurn.length + last.length,
    *[Symbol.iterator]() {
      if (isInTurns) {
        const ofRepeats: Turn = { lastAttempt: lastRepeat(planning), requests: inTurn }
        yield* takeTurns([...listTurns(planning, needs), ofRepeats])
      } else yield* inOrder(planning.job, needs)
      yield* last
    },
  }
}

/** Plans what a sync would request now: the catalogue, if the job selects by it and it is due, then the rest of the job. */
export function planPreview(planning: PlanContext, catalogue: readonly CatalogueIndicator[]): JobPlan {
  const { job } = planning
  const selecting = selectsInTurn(job, catalogue) ? job : undefined
  const before = selecting ? [] : [...planSelection(planning)]
  const recall = planning.duties && createRecall(planning.duties)
  const plan = planJob({ ...planning, job: resolveStored(job, catalogue, recall), selecting })
  return {
    total: before.length + plan.total,
    *[Symbol.iterator]() {
      yield* before
      yield* plan
    },
  }
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
  const context = { ...planning, requested: requested.copy(), job: selected, selecting: job }
  const needs = findNeeds(context)
  const attempts = listTurns(context, needs).map(({ lastAttempt }) => lastAttempt)
  if (needs.dueRepeats.length > 0 && isRepeatDue(context)) attempts.push(lastRepeat(context))
  return attempts.length === 0 ? null : Math.min(...attempts)
}

/** The last repeat of a job. */
const lastRepeat = ({ jobId, plannerState }: PlanContext): number =>
  jobId ? plannerState.attempts.turn(repeatTurn(jobId)) : 0

/** Finds the requests that a job needs. Notes them in the register, in the order in which they are sent without a budget. */
function findNeeds(planning: JobContext): JobNeeds {
  const { job, selecting, options } = planning
  const entries = sortEntries(job.series)
  const first = [
    ...(selecting ? planSelection({ ...planning, job: selecting }) : []),
    ...planCatalogue(planning),
    ...entries.flatMap((entry) => [...planInstants(planning, entry)]),
  ]
  const series: DueWindows[] = []
  const dueRepeats: DueRepeats[] = []
  for (const entry of entries)
    for (const selected of listSelectedSeries(planning, entry)) {
      const due = options.restate ? [] : findDueSpans(planning, selected)
      const planned = planSeries(planning, selected, due.filter(isOrdinary))
      const spans = due.filter(isRepeated)
      if (spans.length > 0) dueRepeats.push({ selected, spans })
      if (planned) series.push(planned)
    }
  return { first, series, listings: [...planListings(planning)], dueRepeats }
}

/** Yields everything but repeats in the order of the job. */
function* inOrder({ newestFirst }: Job, { first, series, listings }: JobNeeds): Generator<PlannedRequest> {
  yield* first
  if (newestFirst) yield* sortLatestFirst(series)
  else for (const { windows, plan } of series) yield* windows.values().map(plan)
  yield* listings
}

/** Lists the turns of a job that have a request, without repeats. */
const listTurns = (planning: JobContext, needs: JobNeeds): Turn[] =>
  groupByTurn(queueRequests(planning, needs), planning.plannerState.attempts.turn)

/** Lists the requests that take turns, in the order of the job: the first attempts of a new job keep it. */
function* queueRequests(planning: JobContext, { first, series, listings }: JobNeeds): Generator<TurnRequest> {
  const { attempts } = planning.plannerState
  yield* queueLists(planning, first)
  for (const { key, settledBefore, windows, plan } of series)
    for (const window of windows)
      yield {
        turn: seriesTurn(key, isBacklog(window, settledBefore)),
        lastAttempt: attempts.window(key, window),
        window,
        plan: () => plan(window),
      }
  yield* queueLists(planning, listings)
}

function* queueLists({ plannerState }: JobContext, lists: Iterable<PlannedRequest>): Generator<TurnRequest> {
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

/** R3 for one instant: whether a reply with rejected values is old enough to request the instant again. */
function isRejectedDue({ plannerState, now }: PlanContext, target: string, { refreshS }: Freshness): boolean {
  const last = plannerState.lastReplyAt(target)
  const since = plannerState.rejectedSince(target)
  if (last === undefined || since === undefined) return false
  return !isFresh(last, refreshS, now) && (isFuture(last, now) || now >= unverifiedNext(since, last))
}

/**
 * Merges the requests of many series, those with the latest end first. The windows of each series must be in that order. Each round
 * yields all requests with the latest end, so it visits each series once.
 */
export function* sortLatestFirst(series: Iterable<Pick<DueWindows, 'windows' | 'plan'>>): Generator<PlannedRequest> {
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
