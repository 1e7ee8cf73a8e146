/* Compares the requests of a command with what it must, may and must not request. */
import type { Summary } from '../../../src/sync/sync.ts'
import { DAY, HOUR, noonOf, unitsOf } from '../calendar.ts'
import { judgeState } from '../judgedState.ts'
import { truthOf } from '../oracle.ts'
import type { CommandRecords } from '../records.ts'
import { differ, type Plan, type Scene, timeText } from '../scene.ts'
import { SCOPE } from '../scope.ts'
import type { SeriesRequest } from '../service.ts'
import { covers, includesGeo, isPartOf, isWithin, unitOf } from '../units.ts'
import { dateAt, entriesOf } from '../world.ts'
import { scriptOf } from './published.ts'
import { checkRepeats, checkWithoutWindow } from './repeats.ts'
import type { RequiredRanges } from './requiredRanges.ts'
import { requirementAt } from './requirements.ts'
import { checkShare } from './share.ts'
import { checkBudget, checkTurns } from './turns.ts'
import { indicatorOf, isUnknown } from './unknownIds.ts'

/** Compares the sent requests with the required ranges. */
export function checkRequests(
  scene: Scene,
  plan: Plan,
  required: RequiredRanges,
  records: CommandRecords,
  summary: Summary | null,
): void {
  if (!SCOPE.has('requests')) return
  const sent = distinctRequests(records)
  const isWhole = summary !== null && summary.earlyEnd === null
  recordLookbacks(scene, plan, sent)
  if (isWhole) checkRequired(scene, plan, required, records, sent)
  checkNeeded(scene, plan, required, sent)
  checkRepeats(plan, records)
  checkBudget(scene, plan, records)
  checkShare(scene, plan, required, records, isWhole)
  checkTurns(scene, plan, required, sent, summary)
  checkWithoutWindow(scene, plan, records)
  checkRange(scene, plan, sent, isWhole)
}

/** Returns the requests of a command. Those lost in transit are only in the database, and those of a killed process only in the log. */
function distinctRequests({ sent, fetches }: CommandRecords): SeriesRequest[] {
  const all = [...sent, ...fetches].flatMap(({ request }) => request ?? [])
  return [...new Map(all.map((request) => [request.target, request])).values()]
}

/** Records the lookbacks with which a command requested its series. */
function recordLookbacks({ world, lookbacks, shortest }: Scene, plan: Plan, sent: readonly SeriesRequest[]): void {
  if (plan.do === 'retry') return
  for (const { key, lookback } of entriesOf(world.jobs[plan.job])) {
    if (!sent.some((request) => request.key === key)) continue
    lookbacks.set(key, Math.max(lookback, lookbacks.get(key) ?? 0))
    shortest.set(key, Math.min(lookback, shortest.get(key) ?? lookback))
  }
}

/** R1–R3: expects a whole run to request all that it must. */
function checkRequired(
  { oracle, tally }: Scene,
  plan: Plan,
  { requirements }: RequiredRanges,
  { fetches }: CommandRecords,
  sent: readonly SeriesRequest[],
): void {
  // Once an id is unknown, no other window of it is requested in the run, even if the id becomes known.
  const refused = fetches.flatMap(({ fetch, request }) => (fetch.outcome === 'refused' ? (request ?? []) : []))
  const unknown = new Set(refused.map(({ key }) => indicatorOf(key)))
  for (const { requirement, key, geo, from, to } of requirements.values()) {
    if (requirement !== 'must' || isUnknown(oracle, key) || unknown.has(indicatorOf(key))) continue
    tally.comparisons++
    // A window that was too large counts, although only its parts were loaded.
    const isSent = (request: SeriesRequest): boolean =>
      request.key === key && covers(request, { from, to }) && includesGeo(request, geo)
    if (!sent.some(isSent))
      differ(
        `${plan.do}: not requested, though it must be: ${key} geo ${geo} ${timeText(from)}`,
        { from, to },
        sent.map(({ target }) => target),
      )
  }
}

/** R1–R7: expects each request to be needed from its first to its last unit, and to be on the borders of units. */
function checkNeeded({ tally }: Scene, plan: Plan, { requirements }: RequiredRanges, sent: readonly SeriesRequest[]) {
  for (const [i, request] of sent.entries()) {
    const { window, trunc, target } = request
    if (!window || sent.slice(0, i).some((other) => isPartOf(request, other))) continue
    const units = unitsOf(window.from, window.to, unitOf(trunc))
    const first = units[0]!
    const last = units.at(-1)!
    tally.comparisons++
    if (first.from !== window.from || last.to !== window.to)
      differ(`${plan.do}: a window is not on the service's borders`, units, target)
    const needless = units.filter((unit) => requirementAt(requirements, request, unit) === 'not')
    // A retry repeats a failed window as it was.
    const isNeedless =
      plan.do === 'retry' ? needless.length === units.length : needless.includes(first) || needless.includes(last)
    if (isNeedless)
      differ(
        `${plan.do}: requested, though there is no need`,
        needless.map(({ from }) => timeText(from)),
        target,
      )
  }
}

/** Expects a command with a range to request only instants within it, and a restate to request all of these. */
function checkRange(scene: Scene, plan: Plan, sent: readonly SeriesRequest[], isWhole: boolean): void {
  if (plan.do !== 'restate' && plan.do !== 'backfill') return
  const instants = sent.filter(({ instant }) => instant !== null)
  scene.tally.comparisons++
  for (const { instant, target } of instants)
    if (!isWithin(instant!, plan)) differ(`${plan.do}: an instant outside the range is requested`, plan, target)
  if (plan.do === 'backfill' || !isWhole) return
  const spec = scene.world.jobs[plan.job]
  for (const { key, mode, from } of entriesOf(spec)) {
    const at = noonOf(spec.zone, dateAt(from))
    if (mode !== 'instant' || !isWithin(at, plan) || isUnknown(scene.oracle, key)) continue
    if (!instants.some((request) => request.key === key && request.instant === at))
      differ('restate: an instant of the range is not requested', at, instants)
  }
}

/** Expects data requested from a healthy service to be stored or unverified, however small its limit. */
export function checkLoaded(scene: Scene, plan: Plan, required: RequiredRanges, { sent }: CommandRecords): void {
  if (!SCOPE.has('requests')) return
  const requests = sent.map(({ request }) => request)
  if (plan.do === 'sync') checkRepeated(scene, plan.job, required, requests)
  checkStored(scene, plan, required)
}

/** R4 and R5: expects some of the periods that are missing for long to be requested again. */
function checkRepeated(
  { repeatedAt, now, tally }: Scene,
  job: 0 | 1,
  { overdue }: RequiredRanges,
  requests: readonly SeriesRequest[],
): void {
  const last = repeatedAt.get(job)
  // A run with few calls requests one window per day.
  const isFirstOfDay = last === undefined || now - last >= DAY - HOUR
  if (overdue.length === 0 || !isFirstOfDay) return
  tally.comparisons++
  if (!overdue.some((unit) => requests.some((request) => request.key === unit.key && covers(request, unit))))
    differ(
      'sync: no missing period is requested again',
      overdue[0],
      requests.map(({ target }) => target),
    )
}

/** Expects all that a command must request to be stored, if one request for all geos is within the limit of the service. */
function checkStored(scene: Scene, plan: Plan, { requirements }: RequiredRanges): void {
  for (const { requirement, key, geo, from, to } of requirements.values()) {
    if (requirement !== 'must' || isUnknown(scene.oracle, key)) continue
    const script = scriptOf(scene, key)
    const days = Math.round((to - from) / DAY)
    if (!script || days * script.geos.length > scene.limit) continue
    const judged = judgeState(truthOf(scene.oracle, key), { from, to }, geo)
    scene.tally.comparisons++
    if (judged.state === 'uncovered' && judged.lastOutcome !== 'coarse')
      differ(`${plan.do}: not stored after a run without faults: ${key} geo ${geo}`, { from, to }, judged)
  }
}
