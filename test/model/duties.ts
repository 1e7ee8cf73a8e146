/* What a command must ask, may ask and must not ask, told before it runs; and whether it did. */
import type { Summary } from '../../src/sync/sync.ts'
import { border, DAY, HOUR, noonOf, SERVICE_ZONE, startOf, type Unit, unitsOf } from './calendar.ts'
import type { Taken } from './intake.ts'
import {
  concerns,
  type Duty,
  dutyOf,
  type Oracle,
  type SeriesTruth,
  standingOf,
  truthOf,
  type Version,
} from './oracle.ts'
import { differ, type Scene } from './run.ts'
import { SCOPE } from './scope.ts'
import { type Question, resolutionAt } from './service.ts'
import { dateAt, datesOf, entriesOf, type MeantEntry } from './world.ts'

/** A command on jobs; ranges are instants on borders of the service's days. */
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

/** Duties by series, geo and the beginning of a unit. */
export interface Duties {
  /** Units in which something absent is long due: some of them have to be asked. */
  readonly due: readonly {
    readonly key: string
    readonly geo: number | null
    readonly from: number
    readonly to: number
  }[]
  readonly byUnit: ReadonlyMap<
    string,
    {
      readonly duty: Duty
      readonly key: string
      readonly geo: number | null
      readonly from: number
      readonly to: number
    }
  >
}

const unitOf = (trunc: string | null): Unit => (trunc === 'month' || trunc === 'year' ? trunc : 'day')
const nameOf = (key: string, geo: number | null, from: number): string => `${key} ${geo} ${from}`
const RANK: Readonly<Record<Duty, number>> = { not: 0, may: 1, must: 2 }

/** The interval that an entry wants, as its job's zone reads its dates. */
function wantedBy(entry: MeantEntry, zone: string, now: number): { from: number; to: number } {
  const { from, to } = datesOf(entry)
  return { from: startOf(zone, from), to: to === null ? border(zone, now, 'day', 2) : startOf(zone, to) }
}

/** Whether a regular series has no value for a part of a unit. */
export function isAbsent(truth: SeriesTruth, unit: { from: number; to: number }, geo: number | null): boolean {
  const geos = geo === null ? [...truth.values.keys()] : [geo]
  if (geos.length === 0) return true
  return geos.some((one) => {
    let at = unit.from
    const held = [...(truth.values.get(one) ?? [])]
      .flatMap(([when, versions]) => (versions.at(-1)?.to === null ? [{ when, step: versions.at(-1)!.step }] : []))
      .sort((a, b) => a.when - b.when)
    if (held.some(({ step }) => step === null)) return false
    for (const { when, step } of held) if (when <= at && when + step! > at) at = when + step!
    return at < unit.to
  })
}

/** The kind and number of an indicator, from the key of one of its series. */
const idOf = (key: string): string => String((JSON.parse(key) as unknown[]).slice(0, 2))

/** Whether the last word of the service on an indicator was that there is none. */
const isRefused = (oracle: Oracle, key: string): boolean =>
  [...oracle].some(([other, { events }]) => idOf(other) === idOf(key) && events.at(-1)?.outcome === 'refused')

/** An id that the service did not know is asked again after a day at the earliest. */
function refusedDuty(oracle: Oracle, key: string, now: number, otherwise: Duty): Duty {
  const events = [...oracle].flatMap(([other, truth]) => (idOf(other) === idOf(key) ? truth.events : []))
  const last = events.reduce<(typeof events)[number] | undefined>((a, b) => (a && a.at > b.at ? a : b), undefined)
  if (last?.outcome !== 'refused') return otherwise
  return now - last.at < DAY - 2 * HOUR ? 'not' : 'may'
}

/** What is absent is asked again after a day, then after as long as it has been so: 1, 2, 4, 8 … days. */
function isAbsentDue(
  scene: Scene,
  { events, values }: SeriesTruth,
  { key, trunc }: MeantEntry,
  unit: { from: number; to: number },
  geo: number | null,
): boolean {
  const lookback = (scene.lookbacks.get(key) ?? 2) * DAY
  const attempts = events.filter(
    ({ question, outcome }) =>
      outcome === 'answered' &&
      question.window &&
      question.window.from <= unit.from &&
      question.window.to >= unit.to &&
      concerns(question, geo),
  )
  const last = attempts.at(-1)
  // A row that could not be read may have been what is missing.
  const since = attempts.find(({ at, rejects }) => at >= unit.to + lookback && rejects.length === 0) ?? last
  if (!last || !since) return true
  // What was withdrawn is absent since then, whatever the unit lacked before.
  const begun = Math.max(since.at, withdrawnAt(values, unit, geo))
  // Events, by the hour or as they come, look regular here and there: whoever was told so first is asked anew.
  if (!isPromised(scene, key, trunc)) return scene.now - last.at >= DAY - 2 * HOUR
  const whole = geo === null ? emptySince(events, values, unit, lookback) : null
  // What became one row with its neighbour goes by the times of the older one: a day either way.
  if (whole !== null && whole < since.at) return scene.now - last.at >= Math.max(DAY, last.at - whole - DAY) - 2 * HOUR
  return scene.now - last.at >= Math.max(DAY, last.at - begun) - 2 * HOUR
}

/** When the newest of the values that are gone from a unit was withdrawn. */
function withdrawnAt(values: SeriesTruth['values'], unit: { from: number; to: number }, geo: number | null): number {
  const versions = geo === null ? [...values.values()] : [values.get(geo) ?? new Map<number, Version[]>()]
  return versions
    .flatMap((one) => [...one])
    .filter(([at]) => at >= unit.from && at < unit.to)
    .reduce((newest, [, all]) => Math.max(newest, all.at(-1)?.to ?? 0), 0)
}

/** Whether the last answer for all geos had nothing at all: what some of them are answered later does not tell of the others. */
const wasEmpty = ({ events }: SeriesTruth, unit: { from: number; to: number }): boolean =>
  events.findLast(
    ({ question, outcome }) =>
      outcome === 'answered' &&
      question.geos === null &&
      question.window &&
      question.window.from <= unit.from &&
      question.window.to >= unit.to,
  )?.present.size === 0

/**
 * Since when a unit without values has been absent of all geos: since any of them was asked for it soundly after its lookback, and
 * the last answer for all had nothing at all. Null where that is not so.
 */
function emptySince(
  events: SeriesTruth['events'],
  values: SeriesTruth['values'],
  unit: { from: number; to: number },
  lookback: number,
): number | null {
  const some = [...values.values()].some((one) => [...one.keys()].some((at) => at >= unit.from && at < unit.to))
  const attempts = events.filter(
    ({ question }) => question.window && question.window.from < unit.to && question.window.to > unit.from,
  )
  const last = attempts.at(-1)
  if (some || last?.question.geos !== null || last.present.size > 0) return null
  const isClean = ({ outcome, rejects, lost }: (typeof events)[number]): boolean =>
    outcome === 'answered' && rejects.length === 0 && lost.size === 0
  const first = attempts
    .slice(attempts.findLastIndex((one) => !isClean(one)) + 1)
    .find(({ at }) => at >= unit.to + lookback)
  return first?.at ?? null
}

/** Whether a series that has values in a unit lacks others since one answer that is long ago. */
function isLongDue(
  scene: Scene,
  truth: SeriesTruth,
  { key, trunc, lookback }: MeantEntry,
  unit: { from: number; to: number },
  geo: number | null,
): boolean {
  const longest = Math.max(lookback, scene.lookbacks.get(key) ?? 0) * DAY
  const attempts = truth.events.filter(
    ({ question }) => question.window && question.window.from < unit.to && question.window.to > unit.from,
  )
  const values = geo === null ? [...truth.values.values()] : [truth.values.get(geo) ?? []]
  const some = values
    .flatMap((one) => [...one])
    .some(([at, versions]) => at >= unit.from && at < unit.to && versions.at(-1)?.to === null)
  // A geo with a single value does not show that it should have had one before.
  const lacksSeveral = [...truth.values].some(
    ([one, held]) =>
      [...held.values()].filter((all) => all.at(-1)?.to === null).length > 1 && isAbsent(truth, unit, one),
  )
  const [only] = attempts
  if (
    attempts.length !== 1 ||
    only?.outcome !== 'answered' ||
    only.rejects.length > 0 ||
    !some ||
    (geo === null && !lacksSeveral) ||
    !isPromised(scene, key, trunc) ||
    !isPromised(scene, key, trunc, only.at)
  )
    return false
  return only.at >= unit.to + longest + HOUR && scene.now - only.at >= DAY + 2 * HOUR
}

const SECONDS: Readonly<Record<string, number>> = { hour: 3600, day: 23 * 3600, month: 28 * DAY }

/** Whether a series has a value for each of its periods by nature: events have not, nor have hours of what comes by the month. */
export function isPromised({ scripts, now: today }: Scene, key: string, trunc: string | null, now = today): boolean {
  const [kind, id] = JSON.parse(key) as [string, number]
  const script = scripts.find((one) => one.id === id && (one.kind ?? 'indicator') === kind)
  const every = script && resolutionAt(script, now, now).every
  if (every === undefined || every === 'irregular') return false
  return trunc === null || (typeof every === 'number' && every <= (SECONDS[trunc] ?? 0))
}

/** Whether a series comes by the month, or longer. */
export function isMonthly({ scripts, now }: Scene, key: string): boolean {
  const [kind, id] = JSON.parse(key) as [string, number]
  const script = scripts.find((one) => one.id === id && (one.kind ?? 'indicator') === kind)
  return script !== undefined && ['month', 'year'].includes(String(resolutionAt(script, now, now).every))
}

/** Whether a value of a series is held. */
const isHeld = ({ values }: SeriesTruth, geo: number | null): boolean =>
  [...values].some(
    ([one, versions]) => (geo === null || one === geo) && [...versions.values()].some((all) => all.at(-1)?.to === null),
  )

export function dutiesOf(scene: Scene, plan: Plan): Duties {
  const { oracle, world, now } = scene
  const byUnit = new Map<string, { duty: Duty; key: string; geo: number | null; from: number; to: number }>()
  const put = (key: string, geo: number | null, unit: { from: number; to: number }, duty: Duty): void => {
    const name = nameOf(key, geo, unit.from)
    const known = byUnit.get(name)
    if (!known || RANK[duty] > RANK[known.duty]) byUnit.set(name, { duty, key, geo, ...unit })
  }
  const due: { key: string; geo: number | null; from: number; to: number }[] = []
  if (plan.do === 'retry') {
    for (const [key, truth] of oracle)
      for (const { question } of truth.events) {
        if (!question.window) continue
        for (const unit of unitsOf(question.window.from, question.window.to, unitOf(question.trunc)))
          for (const geo of question.geos ?? [null]) {
            const standing = standingOf(truth, unit, geo)
            const failed = standing.lastOutcome !== 'answered'
            if (standing.state === 'never' && standing.lastOutcome === 'failed') put(key, geo, unit, 'must')
            else
              put(
                key,
                geo,
                unit,
                failed || standing.state === 'unverified' || standing.state === 'open' ? 'may' : 'not',
              )
            if (geo !== null) continue
            // A geo that an answer for all lacked may be asked for by itself.
            for (const known of truth.values.keys())
              if (['unverified', 'open'].includes(standingOf(truth, unit, known).state)) put(key, known, unit, 'may')
          }
      }
    return { byUnit, due: [] }
  }
  const spec = world.jobs[plan.job]
  for (const entry of entriesOf(spec)) {
    if (entry.mode === 'instant') continue
    const own = wantedBy(entry, spec.zone, now)
    const wanted =
      plan.do === 'sync'
        ? own
        : plan.do === 'backfill'
          ? { from: plan.from, to: plan.to }
          : { from: Math.max(own.from, plan.from), to: Math.min(own.to, plan.to) }
    if (wanted.from >= wanted.to) continue
    const truth = truthOf(oracle, entry.key)
    for (const unit of unitsOf(wanted.from, wanted.to, unitOf(entry.trunc)))
      for (const geo of entry.geoIds.length === 0 ? [null] : entry.geoIds) {
        const standing = standingOf(truth, unit, geo)
        const by = plan.do === 'restate' ? 'must' : dutyOf(standing, unit.to, now, entry)
        // What belongs to a month that is not over may be asked until it is, wherever in it one is.
        const month = entry.trunc === null && isMonthly(scene, entry.key)
        const last = month ? border(SERVICE_ZONE, unit.from, 'month', 1) : unit.to
        const later = by === 'not' ? dutyOf(standing, last, now, entry) : by
        // Where it begins, its value comes and is revised; who holds none does not know that it is a month.
        const begins = month && unit.from === border(SERVICE_ZONE, unit.from, 'month') && isHeld(truth, geo)
        // Answers that were accepted before its first value may have become one row, which counts as fetched when the oldest was.
        const isJoined = month && truth.dismissed.size > 0
        const mayBe = by === 'not' && (later === 'not' ? isJoined : !begins)
        const need = mayBe ? 'may' : later
        const duty = plan.do !== 'restate' && need !== 'not' ? refusedDuty(oracle, entry.key, now, need) : need
        const absent = need === 'not' && (isAbsent(truth, unit, geo) || (geo === null && wasEmpty(truth, unit)))
        if (absent && isLongDue(scene, truth, entry, unit, geo)) due.push({ key: entry.key, geo, ...unit })
        // What was settled for every lookback so far may have become one row with what is older: a longer one asks it anew.
        const isLonger = entry.lookback > (scene.lookbacks.get(entry.key) ?? 0)
        if (need === 'not' && isLonger) put(entry.key, geo, unit, 'may')
        put(entry.key, geo, unit, absent && isAbsentDue(scene, truth, entry, unit, geo) ? 'may' : duty)
      }
  }
  return { byUnit, due }
}

/** Tells of a question whether all that it is about was asked at an instant already. */
export function triedAt({ oracle }: Scene, at: number): (question: Question) => boolean {
  const before = new Map([...oracle].map(([key, { events }]) => [key, events.filter((event) => event.at === at)]))
  return ({ key, window, geos, trunc }) =>
    unitsOf(window!.from, window!.to, unitOf(trunc)).every((unit) =>
      (geos ?? [null]).every((geo) =>
        before
          .get(key)
          ?.some(
            ({ question }) =>
              question.window &&
              question.window.from <= unit.from &&
              question.window.to >= unit.to &&
              concerns(question, geo),
          ),
      ),
    )
}

const inside = (a: Question, b: Question): boolean =>
  a !== b &&
  a.key === b.key &&
  a.window !== null &&
  b.window !== null &&
  a.window.from >= b.window.from &&
  a.window.to <= b.window.to

/** Compares what was sent with what had to be. */
export function judgeAsked(scene: Scene, plan: Plan, { byUnit }: Duties, taken: Taken, summary: Summary | null): void {
  if (!SCOPE.has('asked')) return
  const { tally } = scene
  // What was dropped on the way is in the database only, what was sent by a process that died in the log only.
  const all = [...taken.sent, ...taken.fetches].flatMap(({ question }) => question ?? [])
  const sent = [...new Map(all.map((question) => [question.target, question])).values()]
  const whole = summary !== null && summary.stop === null
  const date = (at: number) => new Date(at * 1000).toISOString()
  if (plan.do !== 'retry')
    for (const { key, lookback } of entriesOf(scene.world.jobs[plan.job]))
      if (sent.some((question) => question.key === key)) {
        scene.lookbacks.set(key, Math.max(lookback, scene.lookbacks.get(key) ?? 0))
        scene.shortest.set(key, Math.min(lookback, scene.shortest.get(key) ?? lookback))
      }
  // Once the service does not know an id, no other window of it is asked for, even if it knows the id again a moment later.
  const refused = new Set(
    taken.fetches.flatMap(({ fetch, question }) =>
      question && fetch.outcome === 'refused' ? [idOf(question.key)] : [],
    ),
  )
  if (whole)
    for (const { duty, key, geo, ...unit } of byUnit.values()) {
      if (duty !== 'must' || isRefused(scene.oracle, key) || refused.has(idOf(key))) continue
      tally.comparisons++
      const isSent = sent.some(
        (question) =>
          question.key === key &&
          question.window &&
          question.window.from <= unit.from &&
          question.window.to >= unit.to &&
          concerns(question, geo),
      )
      // Halves of what was too large hold it together, though none holds a unit alone.
      if (!isSent)
        differ(
          `${plan.do}: not asked, though it must be: ${key} geo ${geo} ${date(unit.from)}`,
          unit,
          sent.map(({ target }) => target),
        )
    }
  for (const [i, question] of sent.entries()) {
    if (!question.window || sent.slice(0, i).some((other) => inside(question, other))) continue
    const units = unitsOf(question.window.from, question.window.to, unitOf(question.trunc))
    const dutyAt = (unit: { from: number }): Duty =>
      (question.geos ?? [null])
        .map((geo) => byUnit.get(nameOf(question.key, geo, unit.from))?.duty ?? 'not')
        .sort((a, b) => RANK[b] - RANK[a])[0]!
    tally.comparisons++
    if (units[0]!.from !== question.window.from || units.at(-1)!.to !== question.window.to)
      differ(`${plan.do}: a window is not on the service's borders`, units, question.target)
    const idle =
      plan.do === 'retry'
        ? units.every((unit) => dutyAt(unit) === 'not')
        : dutyAt(units[0]!) === 'not' || dutyAt(units.at(-1)!) === 'not'
    if (idle)
      differ(
        `${plan.do}: asked, though there is no need`,
        units.filter((unit) => dutyAt(unit) === 'not').map(({ from }) => date(from)),
        question.target,
      )
  }
  judgeOverlap(plan, taken)
  judgeBudget(scene, plan, taken)
  judgeShare(scene, plan, taken)
  judgeInstants(scene, plan, taken)
  judgeRange(scene, plan, sent, whole)
}

/** The number under which events come: nobody has heard of it. */
const EVENTS = 300

/** Nothing is asked twice in one run, but for what has to be told apart or was too large. */
function judgeOverlap(plan: Plan, { fetches }: Taken): void {
  const all = fetches.flatMap(({ fetch, question }) =>
    question?.window ? [{ fetch, question, window: question.window }] : [],
  )
  const good = all.filter(({ fetch }) => fetch.outcome === 'ok' || fetch.outcome === 'empty')
  // What may be sums of something finer is asked by single days before it is believed.
  const excused = all.filter(
    ({ fetch, question }) =>
      fetch.outcome === 'coarse' || (question.trunc === null && [223, EVENTS].includes(fetch.resolution_id ?? 0)),
  )
  for (const [i, a] of good.entries())
    for (const b of good.slice(0, i)) {
      if (a.question.key !== b.question.key || a.window.from >= b.window.to || b.window.from >= a.window.to) continue
      const geos = a.question.geos
      if (geos && b.question.geos && !geos.some((geo) => b.question.geos!.includes(geo))) continue
      if (excused.some(({ question }) => inside(a.question, question) || inside(b.question, question))) continue
      differ(`${plan.do}: the same is asked twice in one run`, [], [a.question.target, b.question.target])
    }
}

function judgeBudget(scene: Scene, plan: Plan, { requests }: Taken): void {
  if (plan.do === 'retry' || requests === 0) return
  const limit = scene.world.jobs[plan.job].callsPerDay
  if (limit === null) return
  const spent = scene.emulator.requests.slice(scene.first).filter(({ at }) => at > scene.now - DAY).length
  scene.tally.comparisons++
  if (spent > limit) differ(`${plan.do}: more calls within a day than the job allows`, limit, spent)
}

/** What is absent takes a tenth of the calls of a run, or one call a day. */
function judgeShare(scene: Scene, plan: Plan, { sent, fetches, requests }: Taken): void {
  if (plan.do === 'retry') return
  const absent = fetches.filter(({ fetch }) => fetch.reason === 'absent')
  const calls = sent.filter(({ entry }) => absent.some(({ fetch }) => fetch.target === entry.url)).length
  const last = scene.absentAt.get(plan.job)
  const isDaily = last === undefined || scene.now - last >= DAY - HOUR
  // The plan counts the windows of an id of which the service says in this run that it does not know it.
  const isCut = fetches.some(({ fetch }) => fetch.outcome === 'refused')
  const share = plan.do === 'restate' ? 0 : Math.max(Math.floor((requests - calls) / 10), isDaily || isCut ? 1 : 0)
  scene.tally.comparisons++
  if (absent.length > share)
    differ(
      `${plan.do}: more requests for what is absent than its share`,
      share,
      absent.map(({ fetch }) => fetch.target),
    )
  if (absent.length > 0) scene.absentAt.set(plan.job, scene.now)
}

/** Questions about one instant and listings have no window: they are not asked again while they are fresh. */
function judgeInstants(scene: Scene, plan: Plan, { fetches }: Taken): void {
  for (const { fetch, question } of fetches) {
    if (question?.window || plan.do === 'restate' || plan.do === 'retry') continue
    const last = scene.singles.get(fetch.target)
    const least = question ? HOUR : 12 * HOUR
    scene.tally.comparisons++
    if (last !== undefined && scene.now - last < least)
      differ(`${plan.do}: asked again too soon`, scene.now - last, fetch.target)
  }
  for (const { fetch, question } of fetches)
    if (!question?.window && (fetch.outcome === 'ok' || fetch.outcome === 'empty'))
      scene.singles.set(fetch.target, scene.now)
}

/** A command about a range asks the instants that lie in it and no others; a restatement all of them. */
function judgeRange(scene: Scene, plan: Plan, sent: readonly Question[], whole: boolean): void {
  if (plan.do !== 'restate' && plan.do !== 'backfill') return
  const isInside = (at: number): boolean => at >= plan.from && at < plan.to
  const instants = sent.filter(({ instant }) => instant !== null)
  scene.tally.comparisons++
  for (const { instant, target } of instants)
    if (!isInside(instant!)) differ(`${plan.do}: an instant outside the range is asked`, plan, target)
  if (plan.do === 'backfill' || !whole) return
  const spec = scene.world.jobs[plan.job]
  for (const { key, mode, from } of entriesOf(spec)) {
    const at = noonOf(spec.zone, dateAt(from))
    if (mode !== 'instant' || !isInside(at) || isRefused(scene.oracle, key)) continue
    if (!instants.some((question) => question.key === key && question.instant === at))
      differ('restate: an instant of the range is not asked', at, instants)
  }
}

/** What a healthy service was asked for is held, or known to be unverified: however little it answers at once. */
export function judgeHeld(scene: Scene, plan: Plan, { byUnit, due }: Duties, { sent }: Taken): void {
  if (!SCOPE.has('asked')) return
  const isAsked = (one: Duties['due'][number]): boolean =>
    sent.some(
      ({ question }) =>
        question.key === one.key && question.window && question.window.from <= one.from && question.window.to >= one.to,
    )
  // A run of few calls takes a window a day.
  const last = plan.do === 'sync' ? scene.absentAt.get(plan.job) : undefined
  if (due.length > 0 && plan.do === 'sync' && (last === undefined || scene.now - last >= DAY - HOUR)) {
    scene.tally.comparisons++
    if (!due.some(isAsked))
      differ(
        'sync: nothing of what is absent is asked again',
        due[0],
        sent.map(({ question }) => question.target),
      )
  }
  for (const { duty, key, geo, ...unit } of byUnit.values()) {
    if (duty !== 'must' || isRefused(scene.oracle, key)) continue
    const [kind, id] = JSON.parse(key) as [string, number]
    const script = scene.scripts.find((one) => one.id === id && (one.kind ?? 'indicator') === kind)
    const days = Math.round((unit.to - unit.from) / DAY)
    // All geos of an entry may be in one question.
    if (!script || days * script.geos.length > scene.limit) continue
    const standing = standingOf(truthOf(scene.oracle, key), unit, geo)
    scene.tally.comparisons++
    if (standing.state === 'never' && standing.lastOutcome !== 'coarse')
      differ(`${plan.do}: not held after a run without faults: ${key} geo ${geo}`, unit, standing)
  }
}
