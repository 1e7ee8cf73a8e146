/* Predicts what a command must, may and must not request before it runs, and compares this with its requests. */
import type { Summary } from '../../src/sync/sync.ts'
import { border, DAY, HOUR, noonOf, SERVICE_ZONE, startOf, type Unit, unitsOf } from './calendar.ts'
import { periodsOf } from './missing.ts'
import {
  includesGeo,
  judgeRequirement,
  judgeState,
  type Oracle,
  type Requirement,
  type SeriesTruth,
  truthOf,
  type Version,
} from './oracle.ts'
import type { CommandRecords } from './records.ts'
import { differ, type Scene } from './run.ts'
import { SCOPE } from './scope.ts'
import { resolutionAt, type SeriesRequest } from './service.ts'
import { dateAt, datesOf, entriesOf, type ResolvedEntry } from './world.ts'

/** A command on jobs; ranges are instants at the service's day boundaries. */
export type Plan =
  | { readonly do: 'sync'; readonly job: 0 | 1 }
  | { readonly do: 'retry' }
  | {
      readonly do: 'backfill' | 'restate'
      readonly job: 0 | 1
      readonly from: number
      readonly to: number
      readonly newestFirst: boolean
    }

/** What a command must and may request, by series, geo and start of a unit. */
export interface RequiredRanges {
  /** The expected periods of each series before the command. */
  readonly weights: ReadonlyMap<string, Weight>
  /** The instants with a value before the command, by series and geo. */
  readonly instants: ReadonlyMap<string, ReadonlyMap<number, readonly number[]>>
  /** Series that were requested before the command. */
  readonly attempted: ReadonlySet<string>
  /** Units with absent data that is long due: some of them must be requested. */
  readonly due: readonly {
    readonly key: string
    readonly geo: number | null
    readonly from: number
    readonly to: number
  }[]
  readonly byUnit: ReadonlyMap<
    string,
    {
      readonly requirement: Requirement
      readonly key: string
      readonly geo: number | null
      readonly from: number
      readonly to: number
    }
  >
}

const unitOf = (trunc: string | null): Unit => (trunc === 'month' || trunc === 'year' ? trunc : 'day')
const nameOf = (key: string, geo: number | null, from: number): string => `${key} ${geo} ${from}`
const RANK: Readonly<Record<Requirement, number>> = { not: 0, may: 1, must: 2 }

/** Returns the interval of an entry in its job's time zone. */
function selectedInterval(entry: ResolvedEntry, zone: string, now: number): { from: number; to: number } {
  const { from, to } = datesOf(entry)
  return { from: startOf(zone, from), to: to === null ? border(zone, now, 'day', 2) : startOf(zone, to) }
}

/** Whether a job that was run requires a part of a unit for a geo, or for all. */
export const isRequired = (
  { ran, world, now }: Scene,
  key: string,
  unit: { readonly from: number; readonly to: number },
  geo: number | null,
): boolean =>
  [...ran].some((job) => {
    const spec = world.jobs[job]
    return entriesOf(spec).some((entry) => {
      if (entry.key !== key || entry.mode === 'instant') return false
      if (entry.geoIds.length > 0 && (geo === null || !entry.geoIds.includes(geo))) return false
      const { from, to } = selectedInterval(entry, spec.zone, now)
      return from < unit.to && to > unit.from
    })
  })

/** Whether a regular series lacks a value in a unit. */
function isAbsent(truth: SeriesTruth, unit: { from: number; to: number }, geo: number | null): boolean {
  const geos = geo === null ? [...truth.values.keys()] : [geo]
  if (geos.length === 0) return true
  return geos.some((one) => {
    let at = unit.from
    const stored = [...(truth.values.get(one) ?? [])]
      .flatMap(([when, versions]) => (versions.at(-1)?.to === null ? [{ when, step: versions.at(-1)!.step }] : []))
      .sort((a, b) => a.when - b.when)
    if (stored.some(({ step }) => step === null)) return false
    // Less than fourteen days of a coarser step beside a finer one count as thinned.
    if (new Set(stored.flatMap(({ step }) => (step! <= HOUR ? [step] : []))).size > 1) return true
    for (const { when, step } of stored) if (when <= at && when + step! > at) at = when + step!
    return at < unit.to
  })
}

/** Returns kind and id of an indicator from the key of one of its series. */
const idOf = (key: string): string => String((JSON.parse(key) as unknown[]).slice(0, 2))

/** Whether the service last reported an indicator as unknown. */
const isRefused = (oracle: Oracle, key: string): boolean =>
  [...oracle].some(([other, { events }]) => idOf(other) === idOf(key) && events.at(-1)?.outcome === 'refused')

/** An unknown id is requested again after at least one day. */
function refusedRequirement(oracle: Oracle, key: string, now: number, otherwise: Requirement): Requirement {
  const events = [...oracle].flatMap(([other, truth]) => (idOf(other) === idOf(key) ? truth.events : []))
  const last = events.reduce<(typeof events)[number] | undefined>((a, b) => (a && a.at > b.at ? a : b), undefined)
  if (last?.outcome !== 'refused') return otherwise
  return now - last.at < DAY - 2 * HOUR ? 'not' : 'may'
}

/** Absent data is requested again after a day, then after its age: 1, 2, 4, 8 … days. */
function isAbsentDue(
  scene: Scene,
  { events, values }: SeriesTruth,
  { key, trunc }: ResolvedEntry,
  unit: { from: number; to: number },
  geo: number | null,
): boolean {
  const lookback = (scene.lookbacks.get(key) ?? 2) * DAY
  const attempts = events.filter(
    ({ request, outcome }) =>
      outcome === 'loaded' &&
      request.window &&
      request.window.from <= unit.from &&
      request.window.to >= unit.to &&
      includesGeo(request, geo),
  )
  const last = attempts.at(-1)
  // An unreadable row may have been the missing one.
  const since = attempts.find(({ at, rejects }) => at >= unit.to + lookback && rejects.length === 0) ?? last
  if (!last || !since) return true
  // Periods that are missing by a cadence found later have the time of their coverage, which is that of its oldest part (S16).
  if ((scene.learnedAt.get(key) ?? Number.NEGATIVE_INFINITY) >= last.at) return true
  // A withdrawn value is absent since its withdrawal, whatever was missing before.
  const begun = Math.max(since.at, withdrawnAt(values, unit, geo))
  // Events may look regular in places, so that earlier absences are requested again.
  if (!hasEveryPeriod(scene, key, trunc)) return scene.now - last.at >= DAY - 2 * HOUR
  const whole = geo === null ? emptySince(events, values, unit, lookback) : null
  // Merged rows use the times of the older one: a day either way.
  if (whole !== null && whole < since.at) return scene.now - last.at >= Math.max(DAY, last.at - whole - DAY) - 2 * HOUR
  return scene.now - last.at >= Math.max(DAY, last.at - begun) - 2 * HOUR
}

/** Returns when the newest missing value of a unit was withdrawn. */
function withdrawnAt(values: SeriesTruth['values'], unit: { from: number; to: number }, geo: number | null): number {
  const versions = geo === null ? [...values.values()] : [values.get(geo) ?? new Map<number, Version[]>()]
  return versions
    .flatMap((one) => [...one])
    .filter(([at]) => at >= unit.from && at < unit.to)
    .reduce((newest, [, all]) => Math.max(newest, all.at(-1)?.to ?? 0), 0)
}

/** Whether the last reply for all geos was empty. Later replies for single geos do not change the state of others. */
const wasEmpty = ({ events }: SeriesTruth, unit: { from: number; to: number }): boolean =>
  events.findLast(
    ({ request, outcome }) =>
      outcome === 'loaded' &&
      request.geos === null &&
      request.window &&
      request.window.from <= unit.from &&
      request.window.to >= unit.to,
  )?.present.size === 0

/**
 * Returns since when a unit without values is absent for all geos: since any geo was fetched correctly after its
 * lookback, if the last reply for all was empty. Otherwise null.
 */
function emptySince(
  events: SeriesTruth['events'],
  values: SeriesTruth['values'],
  unit: { from: number; to: number },
  lookback: number,
): number | null {
  const some = [...values.values()].some((one) => [...one.keys()].some((at) => at >= unit.from && at < unit.to))
  const attempts = events.filter(
    ({ request }) => request.window && request.window.from < unit.to && request.window.to > unit.from,
  )
  const last = attempts.at(-1)
  if (some || last?.request.geos !== null || last.present.size > 0) return null
  const isClean = ({ outcome, rejects, lost }: (typeof events)[number]): boolean =>
    outcome === 'loaded' && rejects.length === 0 && lost.size === 0
  const clean = attempts
    .slice(attempts.findLastIndex((one) => !isClean(one)) + 1)
    .filter(({ at }) => at >= unit.to + lookback)
  // What is missing for a geo is due by the requests that included it; the newest geo is due first.
  const begun = [...values.keys()].map((geo) => clean.find(({ request }) => includesGeo(request, geo))?.at ?? null)
  if (begun.some((at) => at === null)) return null
  return begun.length === 0 ? (clean[0]?.at ?? null) : Math.max(...begun.map((at) => at!))
}

/** Whether a series with values in a unit lacks others since one old reply. */
function isLongDue(
  scene: Scene,
  truth: SeriesTruth,
  { key, trunc, lookback }: ResolvedEntry,
  unit: { from: number; to: number },
  geo: number | null,
): boolean {
  const longest = Math.max(lookback, scene.lookbacks.get(key) ?? 0) * DAY
  const attempts = truth.events.filter(
    ({ request }) => request.window && request.window.from < unit.to && request.window.to > unit.from,
  )
  const values = geo === null ? [...truth.values.values()] : [truth.values.get(geo) ?? []]
  const some = values
    .flatMap((one) => [...one])
    .some(([at, versions]) => at >= unit.from && at < unit.to && versions.at(-1)?.to === null)
  // A single value of a geo does not imply earlier ones.
  const lacksSeveral = [...truth.values].some(
    ([one, stored]) =>
      [...stored.values()].filter((all) => all.at(-1)?.to === null).length > 1 && isAbsent(truth, unit, one),
  )
  const [only] = attempts
  if (
    attempts.length !== 1 ||
    only?.outcome !== 'loaded' ||
    only.rejects.length > 0 ||
    !some ||
    (geo === null && !lacksSeveral) ||
    !hasEveryPeriod(scene, key, trunc) ||
    !hasEveryPeriod(scene, key, trunc, only.at)
  )
    return false
  // Only what is missing between values of a regular timeline is requested again.
  const isMissing = [...truth.values.keys()].some(
    (one) =>
      (geo === null || one === geo) &&
      periodsOf(truth, one)?.isRegular &&
      periodsOf(truth, one)!.missing.some((at) => at >= unit.from && at < unit.to),
  )
  if (!isMissing) return false
  return only.at >= unit.to + longest + HOUR && scene.now - only.at >= DAY + 2 * HOUR
}

const SECONDS: Readonly<Record<string, number>> = { hour: 3600, day: 23 * 3600, month: 28 * DAY }

/** Whether a series has a value for each period, unlike events and the hours of monthly series. */
export function hasEveryPeriod(
  { scripts, now: today }: Scene,
  key: string,
  trunc: string | null,
  now = today,
): boolean {
  const [kind, id] = JSON.parse(key) as [string, number]
  const script = scripts.find((one) => one.id === id && (one.kind ?? 'indicator') === kind)
  const every = script && resolutionAt(script, now, now).every
  if (every === undefined || every === 'irregular') return false
  return trunc === null || (typeof every === 'number' && every <= (SECONDS[trunc] ?? 0))
}

/** Whether the periods of a series are months or longer. */
function isMonthly({ scripts, now }: Scene, key: string): boolean {
  const [kind, id] = JSON.parse(key) as [string, number]
  const script = scripts.find((one) => one.id === id && (one.kind ?? 'indicator') === kind)
  return script !== undefined && ['month', 'year'].includes(String(resolutionAt(script, now, now).every))
}

/** Whether a value of a series is stored. */
const hasStoredValue = ({ values }: SeriesTruth, geo: number | null): boolean =>
  [...values].some(
    ([one, versions]) => (geo === null || one === geo) && [...versions.values()].some((all) => all.at(-1)?.to === null),
  )

/** True if some day of the month may be requested again: the month can still change. */
const isMonthOpen = (
  truth: SeriesTruth,
  unit: { from: number },
  geo: number | null,
  now: number,
  entry: ResolvedEntry,
) => {
  const [from, to] = [border(SERVICE_ZONE, unit.from, 'month'), border(SERVICE_ZONE, unit.from, 'month', 1)]
  const states = unitsOf(from, to, 'day').map((day) => judgeState(truth, day, geo))
  return states.some((judged) => judged.state === 'complete' && judgeRequirement(judged, to, now, entry) !== 'not')
}

export function findRequiredRanges(scene: Scene, plan: Plan): RequiredRanges {
  const { oracle, world, now } = scene
  const byUnit = new Map<
    string,
    { requirement: Requirement; key: string; geo: number | null; from: number; to: number }
  >()
  const put = (key: string, geo: number | null, unit: { from: number; to: number }, requirement: Requirement): void => {
    const name = nameOf(key, geo, unit.from)
    const known = byUnit.get(name)
    if (!known || RANK[requirement] > RANK[known.requirement]) byUnit.set(name, { requirement, key, geo, ...unit })
  }
  const due: { key: string; geo: number | null; from: number; to: number }[] = []
  const before = {
    weights: new Map([...oracle].map(([key, truth]) => [key, weightOf(truth)])),
    instants: new Map(
      [...oracle].map(([key, { values }]) => [key, new Map([...values].map(([geo, own]) => [geo, [...own.keys()]]))]),
    ),
    attempted: new Set([...oracle].flatMap(([key, { events }]) => (events.length > 0 ? [key] : []))),
  }
  if (plan.do === 'retry') {
    for (const [key, truth] of oracle)
      for (const { request } of truth.events) {
        if (!request.window) continue
        for (const unit of unitsOf(request.window.from, request.window.to, unitOf(request.trunc)))
          for (const geo of request.geos ?? [null]) {
            const judged = judgeState(truth, unit, geo)
            const failed = judged.lastOutcome !== 'loaded'
            if (judged.state === 'uncovered' && judged.lastOutcome === 'failed') put(key, geo, unit, 'must')
            else
              put(
                key,
                geo,
                unit,
                failed || judged.state === 'unverified' || judged.state === 'undecided' ? 'may' : 'not',
              )
            if (geo !== null) continue
            // A geo that is missing in a reply for all may be requested alone.
            for (const known of truth.values.keys())
              if (['unverified', 'undecided'].includes(judgeState(truth, unit, known).state))
                put(key, known, unit, 'may')
          }
      }
    return { byUnit, due: [], ...before }
  }
  const spec = world.jobs[plan.job]
  for (const entry of entriesOf(spec)) {
    if (entry.mode === 'instant') continue
    const own = selectedInterval(entry, spec.zone, now)
    const selected =
      plan.do === 'sync'
        ? own
        : plan.do === 'backfill'
          ? { from: plan.from, to: plan.to }
          : {
              // The first bucket is required as a whole.
              from: Math.max(border(SERVICE_ZONE, own.from, unitOf(entry.trunc)), plan.from),
              to: Math.min(own.to, plan.to),
            }
    if (selected.from >= selected.to) continue
    const truth = truthOf(oracle, entry.key)
    for (const unit of unitsOf(selected.from, selected.to, unitOf(entry.trunc)))
      for (const geo of entry.geoIds.length === 0 ? [null] : entry.geoIds) {
        const judged = judgeState(truth, unit, geo)
        const by = plan.do === 'restate' ? 'must' : judgeRequirement(judged, unit.to, now, entry)
        // A unit of the current month may be requested until the month is over.
        const month = entry.trunc === null && isMonthly(scene, entry.key)
        const last = month ? border(SERVICE_ZONE, unit.from, 'month', 1) : unit.to
        const later = by === 'not' ? judgeRequirement(judged, last, now, entry) : by
        // A monthly value appears and is revised at the start of its month. Without stored values, the month is
        // unknown.
        const begins = month && unit.from === border(SERVICE_ZONE, unit.from, 'month') && hasStoredValue(truth, geo)
        // Days that were settled before the series proved monthly may be merged with days of the month that were fetched earlier.
        const isMerged = month && later === 'not' && isMonthOpen(truth, unit, geo, now, entry)
        const mayBe = by === 'not' && (later !== 'not' || isMerged) && !begins
        const need = mayBe ? 'may' : later
        const requirement =
          plan.do !== 'restate' && need !== 'not' ? refusedRequirement(oracle, entry.key, now, need) : need
        const absent = need === 'not' && (isAbsent(truth, unit, geo) || (geo === null && wasEmpty(truth, unit)))
        if (absent && isLongDue(scene, truth, entry, unit, geo)) due.push({ key: entry.key, geo, ...unit })
        // Units settled for every lookback so far may be merged with older ones: a longer lookback requests them again.
        const isLonger = entry.lookback > (scene.lookbacks.get(entry.key) ?? 0)
        if (need === 'not' && isLonger) put(entry.key, geo, unit, 'may')
        // While a source is up to two weeks behind, nothing is final from the day of its last value on.
        const lasts = [...truth.values].flatMap(([one, values]) =>
          geo === null || one === geo
            ? [Math.max(...[...values].flatMap(([at, all]) => (all.at(-1)?.to === null ? [at] : [])))]
            : [],
        )
        const isBehind = lasts.some((last) => unit.to > last && now - last < 16 * DAY)
        if (need === 'not' && isBehind) put(entry.key, geo, unit, 'may')
        // What precedes the first value of a geo or follows its last one is requested again by name, but not the next day.
        for (const [one, values] of truth.values) {
          if (need !== 'not' || (geo !== null && geo !== one)) continue
          const current = [...values].filter(([, all]) => all.at(-1)?.to === null)
          const isOutside = current.every(([at]) => at >= unit.from) || current.every(([at]) => at < unit.to)
          // A day with a dismissed reject shares the row of the values after it, which may have the time of an older reply.
          const { hasRejects, lastTry } = judgeState(truth, unit, one)
          if (!isOutside || (!hasRejects && now - lastTry < DAY - 2 * HOUR)) continue
          put(entry.key, geo, unit, 'may')
          put(entry.key, one, unit, 'may')
        }
        // If a monthly series is grouped by shorter units, its values decide whether its periods are these or months.
        const monthEnd = border(SERVICE_ZONE, unit.from, 'month', 1)
        const isGrouped = entry.trunc !== null && isMonthly(scene, entry.key)
        if (need === 'not' && isGrouped && judgeRequirement(judged, monthEnd, now, entry) !== 'not')
          put(entry.key, geo, unit, 'may')
        put(entry.key, geo, unit, absent && isAbsentDue(scene, truth, entry, unit, geo) ? 'may' : requirement)
      }
  }
  return { byUnit, due, ...before }
}

/** Returns whether everything in a request was already requested at an instant. */
export function wasRequestedAt({ oracle }: Scene, at: number): (request: SeriesRequest) => boolean {
  const before = new Map([...oracle].map(([key, { events }]) => [key, events.filter((event) => event.at === at)]))
  return ({ key, window, geos, trunc }) =>
    unitsOf(window!.from, window!.to, unitOf(trunc)).every((unit) =>
      (geos ?? [null]).every((geo) =>
        before
          .get(key)
          ?.some(
            ({ request }) =>
              request.window &&
              request.window.from <= unit.from &&
              request.window.to >= unit.to &&
              includesGeo(request, geo),
          ),
      ),
    )
}

const inside = (a: SeriesRequest, b: SeriesRequest): boolean =>
  a !== b &&
  a.key === b.key &&
  a.window !== null &&
  b.window !== null &&
  a.window.from >= b.window.from &&
  a.window.to <= b.window.to

/** Compares the sent requests with the required ranges. */
export function checkRequests(
  scene: Scene,
  plan: Plan,
  required: RequiredRanges,
  records: CommandRecords,
  summary: Summary | null,
): void {
  if (!SCOPE.has('requests')) return
  const { tally } = scene
  const { byUnit } = required
  // Requests lost in transit are only in the database, and those of a killed process only in the log.
  const all = [...records.sent, ...records.fetches].flatMap(({ request }) => request ?? [])
  const sent = [...new Map(all.map((request) => [request.target, request])).values()]
  const whole = summary !== null && summary.earlyEnd === null
  const date = (at: number) => new Date(at * 1000).toISOString()
  if (plan.do !== 'retry')
    for (const { key, lookback } of entriesOf(scene.world.jobs[plan.job]))
      if (sent.some((request) => request.key === key)) {
        scene.lookbacks.set(key, Math.max(lookback, scene.lookbacks.get(key) ?? 0))
        scene.shortest.set(key, Math.min(lookback, scene.shortest.get(key) ?? lookback))
      }
  // Once an id is unknown, no other window of it is requested in the run, even if the id becomes known.
  const refused = new Set(
    records.fetches.flatMap(({ fetch, request }) =>
      request && fetch.outcome === 'refused' ? [idOf(request.key)] : [],
    ),
  )
  if (whole)
    for (const { requirement, key, geo, ...unit } of byUnit.values()) {
      if (requirement !== 'must' || isRefused(scene.oracle, key) || refused.has(idOf(key))) continue
      tally.comparisons++
      const isSent = sent.some(
        (request) =>
          request.key === key &&
          request.window &&
          request.window.from <= unit.from &&
          request.window.to >= unit.to &&
          includesGeo(request, geo),
      )
      // Halves of a window that was too large cover it together, though neither covers a unit alone.
      if (!isSent)
        differ(
          `${plan.do}: not requested, though it must be: ${key} geo ${geo} ${date(unit.from)}`,
          unit,
          sent.map(({ target }) => target),
        )
    }
  for (const [i, request] of sent.entries()) {
    if (!request.window || sent.slice(0, i).some((other) => inside(request, other))) continue
    const units = unitsOf(request.window.from, request.window.to, unitOf(request.trunc))
    const requirementAt = (unit: { from: number }): Requirement =>
      (request.geos ?? [null])
        .map((geo) => byUnit.get(nameOf(request.key, geo, unit.from))?.requirement ?? 'not')
        .sort((a, b) => RANK[b] - RANK[a])[0]!
    tally.comparisons++
    if (units[0]!.from !== request.window.from || units.at(-1)!.to !== request.window.to)
      differ(`${plan.do}: a window is not on the service's borders`, units, request.target)
    const idle =
      plan.do === 'retry'
        ? units.every((unit) => requirementAt(unit) === 'not')
        : requirementAt(units[0]!) === 'not' || requirementAt(units.at(-1)!) === 'not'
    if (idle)
      differ(
        `${plan.do}: requested, though there is no need`,
        units.filter((unit) => requirementAt(unit) === 'not').map(({ from }) => date(from)),
        request.target,
      )
  }
  checkRepeats(plan, records)
  checkBudget(scene, plan, records)
  checkShareOfAbsent(scene, plan, required, records, whole)
  checkTurns(scene, plan, required, sent, summary)
  checkInstants(scene, plan, records)
  checkRange(scene, plan, sent, whole)
}

/** The unknown resolution id of events. */
const EVENTS = 300

/** Expects no repeated request in one run, except samples and parts of large windows. */
function checkRepeats(plan: Plan, { fetches }: CommandRecords): void {
  const all = fetches.flatMap(({ fetch, request }) =>
    request?.window ? [{ fetch, request, window: request.window }] : [],
  )
  const good = all.filter(({ fetch }) => fetch.outcome === 'ok' || fetch.outcome === 'empty')
  // Possible sums of finer values are sampled by single days.
  const excused = all.filter(
    ({ fetch, request }) =>
      fetch.outcome === 'coarse' || (request.trunc === null && [223, EVENTS].includes(fetch.resolution_id ?? 0)),
  )
  for (const [i, a] of good.entries())
    for (const b of good.slice(0, i)) {
      if (a.request.key !== b.request.key || a.window.from >= b.window.to || b.window.from >= a.window.to) continue
      const geos = a.request.geos
      if (geos && b.request.geos && !geos.some((geo) => b.request.geos!.includes(geo))) continue
      if (excused.some(({ request }) => inside(a.request, request) || inside(b.request, request))) continue
      differ(`${plan.do}: the same is requested twice in one run`, [], [a.request.target, b.request.target])
    }
}

function checkBudget(scene: Scene, plan: Plan, { requests }: CommandRecords): void {
  if (plan.do === 'retry' || requests === 0) return
  const limit = scene.world.jobs[plan.job].callsPerDay
  if (limit === null) return
  const spent = scene.emulator.requests.slice(scene.first).filter(({ at }) => at > scene.now - DAY).length
  scene.tally.comparisons++
  if (spent > limit) differ(`${plan.do}: more calls within a day than the job allows`, limit, spent)
}

/** Absent data takes a tenth of the periods of a run, or one day of one series per day, in windows of nothing else. */
function checkShareOfAbsent(
  scene: Scene,
  plan: Plan,
  { byUnit, weights, instants }: RequiredRanges,
  { fetches }: CommandRecords,
  whole: boolean,
): void {
  if (plan.do === 'retry') return
  const requested = fetches.flatMap(({ fetch, request }) => (request?.window ? [{ fetch, request }] : []))
  const absent = requested.filter(({ fetch }) => fetch.reason === 'absent')
  const others = requested.filter(({ fetch }) => fetch.reason !== 'absent')
  const isPart = (part: SeriesRequest): boolean => others.some(({ request }) => inside(part, request))
  /** Days without values, and those of the first and the last value, count as one period each, because they are probably empty. */
  const isSilent = ({ key, geos, window }: SeriesRequest): boolean =>
    [...(instants.get(key) ?? [])].every(([geo, own]) => {
      const [first, last] = [Math.min(...own), Math.max(...own)]
      const isNearEnd = (at: number): boolean => at - first < DAY || last - at < DAY
      const inside = own.filter((at) => at >= window!.from && at < window!.to)
      return (geos !== null && !geos.includes(geo)) || inside.every(isNearEnd)
    })
  const count = (one: SeriesRequest, window = one.window!): number =>
    (weights.get(one.key) ?? HOURLY)(one.geos) * (window.to - window.from)
  const countAbsent = (one: SeriesRequest): number =>
    isSilent(one) ? Math.round((one.window!.to - one.window!.from) / DAY) : count(one)
  const sum = (all: typeof requested, weigh = count): number =>
    all.reduce((total, { request }) => total + weigh(request), 0)
  const last = scene.absentAt.get(plan.job)
  const isDaily = last === undefined || scene.now - last >= DAY - HOUR
  // The plan also counts windows of an id that this run finds to be unknown.
  const isCut = !whole || fetches.some(({ fetch }) => fetch.outcome === 'refused')
  const share = Math.floor(sum(others.filter(({ request }) => !isPart(request))) / 10)
  const [first] = absent
  const small = first
    ? isSilent(first.request)
      ? countAbsent(first.request)
      : count(
          first.request,
          unitsOf(first.request.window!.from, first.request.window!.to, unitOf(first.request.trunc))[0]!,
        )
    : 0
  const limit = plan.do === 'restate' ? 0 : Math.max(share, isDaily || isCut ? small : 0)
  scene.tally.comparisons++
  // The length of events is not known. A rounding error is no period.
  if (!(sum(absent, countAbsent) <= limit + 0.001) && !Number.isNaN(sum(requested)))
    differ(
      `${plan.do}: more periods of what is absent than its share`,
      limit,
      absent.map(({ request }) => [request.target, countAbsent(request)]),
    )
  for (const { request } of absent)
    for (const unit of unitsOf(request.window!.from, request.window!.to, unitOf(request.trunc))) {
      const required = (request.geos ?? [null]).map(
        (geo) => byUnit.get(nameOf(request.key, geo, unit.from))?.requirement,
      )
      scene.tally.comparisons++
      if (required.every((requirement) => (requirement ?? 'not') === 'not'))
        differ(`${plan.do}: a request for what is absent has a day that lacks nothing`, unit, request.target)
    }
  if (absent.length > 0) scene.absentAt.set(plan.job, scene.now)
}

/** The periods in a second of a reply to a request for some geos; null for all. */
type Weight = (geos: readonly number[] | null) => number
const HOURLY: Weight = (geos) => (geos?.length ?? 1) / HOUR

/** The expected periods of each series by its newest value; NaN if that has no length. */
function weightOf({ values }: SeriesTruth): Weight {
  const [first] = [...values].sort(([a], [b]) => a - b)
  const stored = [...(first?.[1] ?? [])].filter(([, versions]) => versions.at(-1)?.to === null)
  const newest = stored.sort(([a], [b]) => b - a)[0]?.[1].at(-1)
  const step = newest ? (newest.step ?? Number.NaN) : HOUR
  return (geos) => (geos?.length ?? Math.max(1, values.size)) / step
}

/** If a budget ends a run, what was never requested does not wait for current data that was. */
function checkTurns(
  scene: Scene,
  plan: Plan,
  { byUnit, attempted }: RequiredRanges,
  sent: readonly SeriesRequest[],
  summary: Summary | null,
): void {
  if (plan.do !== 'sync' || summary?.earlyEnd?.code !== 'budget') return
  const never = [...byUnit.values()].find(
    ({ requirement, key }) =>
      requirement === 'must' &&
      !attempted.has(key) &&
      !isRefused(scene.oracle, key) &&
      !sent.some((request) => request.key === key),
  )
  const again = sent.find(({ key, window }) => window && window.to > scene.now && attempted.has(key))
  scene.tally.comparisons++
  if (never && again) differ('sync: requested again before something that was never requested', never, again.target)
}

/** Expects instants and listings, which have no window, not to be requested while fresh. */
function checkInstants(scene: Scene, plan: Plan, { fetches }: CommandRecords): void {
  for (const { fetch, request } of fetches) {
    if (request?.window || plan.do === 'restate' || plan.do === 'retry') continue
    const last = scene.singles.get(fetch.target)
    const least = request ? HOUR : 12 * HOUR
    scene.tally.comparisons++
    if (last !== undefined && scene.now - last < least)
      differ(`${plan.do}: requested again too soon`, scene.now - last, fetch.target)
  }
  for (const { fetch, request } of fetches)
    if (!request?.window && (fetch.outcome === 'ok' || fetch.outcome === 'empty'))
      scene.singles.set(fetch.target, scene.now)
}

/** A command with a range requests only instants within it; a restate requests all of these. */
function checkRange(scene: Scene, plan: Plan, sent: readonly SeriesRequest[], whole: boolean): void {
  if (plan.do !== 'restate' && plan.do !== 'backfill') return
  const isInside = (at: number): boolean => at >= plan.from && at < plan.to
  const instants = sent.filter(({ instant }) => instant !== null)
  scene.tally.comparisons++
  for (const { instant, target } of instants)
    if (!isInside(instant!)) differ(`${plan.do}: an instant outside the range is requested`, plan, target)
  if (plan.do === 'backfill' || !whole) return
  const spec = scene.world.jobs[plan.job]
  for (const { key, mode, from } of entriesOf(spec)) {
    const at = noonOf(spec.zone, dateAt(from))
    if (mode !== 'instant' || !isInside(at) || isRefused(scene.oracle, key)) continue
    if (!instants.some((request) => request.key === key && request.instant === at))
      differ('restate: an instant of the range is not requested', at, instants)
  }
}

/** Expects data requested from a healthy service to be stored or unverified, however small its limit. */
export function checkLoaded(scene: Scene, plan: Plan, { byUnit, due }: RequiredRanges, { sent }: CommandRecords): void {
  if (!SCOPE.has('requests')) return
  const isRequested = (one: RequiredRanges['due'][number]): boolean =>
    sent.some(
      ({ request }) =>
        request.key === one.key && request.window && request.window.from <= one.from && request.window.to >= one.to,
    )
  // A run with few calls requests one window per day.
  const last = plan.do === 'sync' ? scene.absentAt.get(plan.job) : undefined
  if (due.length > 0 && plan.do === 'sync' && (last === undefined || scene.now - last >= DAY - HOUR)) {
    scene.tally.comparisons++
    if (!due.some(isRequested))
      differ(
        'sync: nothing of what is absent is requested again',
        due[0],
        sent.map(({ request }) => request.target),
      )
  }
  for (const { requirement, key, geo, ...unit } of byUnit.values()) {
    if (requirement !== 'must' || isRefused(scene.oracle, key)) continue
    const [kind, id] = JSON.parse(key) as [string, number]
    const script = scene.scripts.find((one) => one.id === id && (one.kind ?? 'indicator') === kind)
    const days = Math.round((unit.to - unit.from) / DAY)
    // One request may contain all geos of an entry.
    if (!script || days * script.geos.length > scene.limit) continue
    const judged = judgeState(truthOf(scene.oracle, key), unit, geo)
    scene.tally.comparisons++
    if (judged.state === 'uncovered' && judged.lastOutcome !== 'coarse')
      differ(`${plan.do}: not stored after a run without faults: ${key} geo ${geo}`, unit, judged)
  }
}
