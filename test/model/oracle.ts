/* Predicts the contents of the database from the replies of the service and their times. */
import { DAY, HOUR } from './calendar.ts'
import { dayOf, isLong } from './missing.ts'
import type { Reply, SeriesRequest } from './service.ts'

/** A version of a value, valid from an instant until the next one. */
export interface Version {
  readonly value: number
  /** The step of the last reply with this value: a step is no revision. */
  step: number | null
  readonly from: number
  to: number | null
}

/** The outcome of a request, in order of recording. */
export interface Event {
  readonly request: SeriesRequest
  readonly at: number
  readonly outcome: 'loaded' | 'coarse' | 'failed' | 'refused' | 'unread'
  /** Invalid rows, and whether all were dismissed before. */
  readonly rejects: readonly string[]
  readonly accepted: boolean
  /** Geos with values in the reply. */
  readonly present: ReadonlySet<number>
  /** Known geos with stored values in the window that are missing in the reply. */
  readonly lost: ReadonlySet<number>
  /** Days of which the reply lacks many final values, by geo: it is not trusted about them yet. */
  readonly unverifiedDays: ReadonlyMap<number, readonly { readonly from: number; readonly to: number }[]>
  /** Previously known geos. */
  readonly known: ReadonlySet<number>
  readonly command: number
}

/** The effect of a stored reply. */
export interface Effect {
  fresh: number
  unchanged: number
  revised: number
  withdrawn: number
}

export interface SeriesTruth {
  readonly values: Map<number, Map<number, Version[]>>
  readonly events: Event[]
  /** Dismissed invalid rows. */
  readonly dismissed: Set<string>
  /** When a reply first lacked many final values of a day, by geo and day. */
  readonly suspectedSince: Map<string, number>
}

/** What decides whether a reply may withdraw final values. */
export interface Guard {
  /** Values before this instant can no longer be revised. */
  readonly settledBefore: number
  readonly isRestate: boolean
}

/** Two replies at this distance prove a withdrawal. */
const SECOND_AFTER = 20 * HOUR

/** The state of the model: every series with all versions of its values and all requests. */
export type Oracle = Map<string, SeriesTruth>

export const truthOf = (oracle: Oracle, key: string): SeriesTruth => {
  let truth = oracle.get(key)
  if (!truth) {
    truth = { values: new Map(), events: [], dismissed: new Set(), suspectedSince: new Map() }
    oracle.set(key, truth)
  }
  return truth
}

const current = (versions: Version[] | undefined): Version | undefined => {
  const last = versions?.at(-1)
  return last?.to === null ? last : undefined
}

interface StoredValue {
  readonly at: number
  readonly version: Version
}

/**
 * Decides which stored values of a geo a reply withdraws. It needs a second reply for a day of which it lacks more than an eighth of
 * the final values, or more than one period of a day and longer.
 */
function judgeWithdrawal(
  { suspectedSince }: SeriesTruth,
  geo: number,
  stored: readonly StoredValue[],
  sent: ReadonlySet<number>,
  now: number,
  { settledBefore, isRestate }: Guard,
): { readonly gone: StoredValue[]; readonly unverifiedDays: { from: number; to: number }[] } {
  const isFinal = ({ at, version: { step } }: StoredValue): boolean => at + (step ?? 0) <= settledBefore
  const lacks = (one: StoredValue): boolean => !sent.has(one.at)
  const longLacking = stored.filter((one) => isLong(one.version.step) && isFinal(one) && lacks(one)).length
  const gone: StoredValue[] = []
  const unverifiedDays: { from: number; to: number }[] = []
  for (const [from, ofDay] of Map.groupBy(stored, ({ at }) => dayOf(at).from)) {
    const name = `${geo} ${from}`
    const final = ofDay.filter(isFinal)
    const lacking = final.filter(lacks)
    const since = suspectedSince.get(name)
    const isMuch = lacking.every(({ version }) => isLong(version.step))
      ? lacking.length > 0 && (longLacking > 1 || since !== undefined)
      : lacking.length * 8 > final.length
    const isConfirmed = isRestate || (since !== undefined && now - since >= SECOND_AFTER)
    if (isMuch && !isConfirmed) {
      suspectedSince.set(name, since ?? now)
      const ends = ofDay.flatMap(({ at, version: { step } }) => (isLong(step) ? [at + step!] : []))
      unverifiedDays.push({ from, to: Math.max(dayOf(from).to, ...ends) })
      continue
    }
    suspectedSince.delete(name)
    gone.push(...ofDay.filter(lacks))
  }
  return { gone, unverifiedDays }
}

/** Adds a stored reply. */
export function loadReply(
  oracle: Oracle,
  request: SeriesRequest,
  reply: Reply,
  at: number,
  command: number,
  guard: Guard,
): Effect {
  const truth = truthOf(oracle, request.key)
  const { window } = request
  const effect: Effect = { fresh: 0, unchanged: 0, revised: 0, withdrawn: 0 }
  const known = new Set(truth.values.keys())
  const present = new Set(reply.values.map(({ geo }) => geo))
  const lost = new Set<number>()
  const unverifiedDays = new Map<number, readonly { from: number; to: number }[]>()
  for (const geo of known) {
    const stored = [...truth.values.get(geo)!].flatMap(([when, versions]): StoredValue[] => {
      const version = current(versions)
      return window && when >= window.from && when < window.to && version ? [{ at: when, version }] : []
    })
    if (stored.length > 0 && !present.has(geo) && includesGeo(request, geo)) lost.add(geo)
    if (!present.has(geo) || reply.rejects.length > 0) continue
    const sent = new Set(reply.values.flatMap((value) => (value.geo === geo ? [value.at] : [])))
    const verdict = judgeWithdrawal(truth, geo, stored, sent, at, guard)
    for (const { version } of verdict.gone) version.to = at
    effect.withdrawn += verdict.gone.length
    if (verdict.unverifiedDays.length > 0) unverifiedDays.set(geo, verdict.unverifiedDays)
  }
  for (const { geo, at: when, value, step } of reply.values) {
    const series = truth.values.get(geo) ?? new Map<number, Version[]>()
    truth.values.set(geo, series)
    const versions = series.get(when) ?? []
    series.set(when, versions)
    const now = current(versions)
    if (now && now.value === value) {
      now.step = step
      effect.unchanged++
      continue
    }
    if (now) now.to = at
    effect[now ? 'revised' : 'fresh']++
    versions.push({ value, step, from: at, to: null })
  }
  const { rejects } = reply
  const accepted = rejects.every((row) => truth.dismissed.has(row))
  truth.events.push({
    ...{
      request,
      at,
      outcome: 'loaded',
      rejects,
      accepted,
      present,
      lost,
      unverifiedDays,
      known,
      command,
    },
  })
  return effect
}

/** Adds a request without a usable reply. */
export function recordOutcome(
  oracle: Oracle,
  request: SeriesRequest,
  outcome: Event['outcome'],
  at: number,
  command: number,
): void {
  const none = new Set<number>()
  truthOf(oracle, request.key).events.push({
    request,
    at,
    outcome,
    rejects: [],
    accepted: true,
    command,
    present: none,
    lost: none,
    unverifiedDays: new Map(),
    known: none,
  })
}

/** Whether a request included a geo. */
export const includesGeo = ({ geos }: SeriesRequest, geo: number | null): boolean =>
  geos === null || (geo !== null && geos.includes(geo))

const covers = ({ window }: SeriesRequest, unit: { from: number; to: number }): boolean =>
  window !== null && window.from <= unit.from && window.to >= unit.to

/** The state of a unit of a series, for one geo or (null) for all. */
export interface JudgedState {
  /** `unverified`: the last reply is not valid; `undecided`: either is permitted. */
  readonly state: 'uncovered' | 'complete' | 'unverified' | 'undecided'
  /** When it was last fetched. */
  readonly at: number
  /** Start of the unverified state, if any. */
  readonly since: number
  /** The last request for it and its outcome. */
  readonly lastTry: number
  readonly lastOutcome: Event['outcome'] | null
  /** Whether the last reply had invalid rows, though it was accepted. */
  readonly hasRejects: boolean
}

/** Whether a reply is valid about a unit, for one geo or for all. */
function judgeReply(
  event: Event,
  geo: number | null,
  unit: { from: number; to: number },
): 'complete' | 'unverified' | 'undecided' {
  if (!event.accepted) return 'unverified'
  const hasUnverifiedDay = (one: number): boolean =>
    event.unverifiedDays.get(one)?.some(({ from, to }) => from < unit.to && to > unit.from) ?? false
  if (geo !== null && hasUnverifiedDay(geo)) return 'unverified'
  if (geo === null && [...event.unverifiedDays.keys()].some(hasUnverifiedDay)) return 'undecided'
  const known = geo === null ? event.known : new Set([geo])
  // All stored values of a geo are missing while others have values, or those of all geos.
  const lost = [...known].some((one) => event.lost.has(one))
  if (lost && (geo !== null || event.present.size === 0)) return event.rejects.length > 0 ? 'undecided' : 'unverified'
  // An empty reply for all geos is unverified also for geos that lost nothing.
  if (event.lost.size > 0 && event.present.size === 0) return 'undecided'
  return lost ? 'undecided' : 'complete'
}

/** Returns the replies that count for a geo: an unverified reply for all keeps those for the geo alone. */
function countingFor(loaded: readonly Event[], geo: number | null): Event[] {
  let hasOwn = false
  return loaded.filter(({ request, accepted, present, lost }) => {
    const isAboutAll = request.geos === null
    const isUnverified = !accepted || (present.size === 0 && lost.size > 0)
    if (geo !== null && isAboutAll && isUnverified && hasOwn) return false
    hasOwn = !isAboutAll || (hasOwn && isUnverified)
    return true
  })
}

/** Determines the state of a unit from its last reply. */
export function judgeState(truth: SeriesTruth, unit: { from: number; to: number }, geo: number | null): JudgedState {
  const { events } = truth
  const requested = events.filter(({ request }) => covers(request, unit) && includesGeo(request, geo))
  const loaded = countingFor(
    requested.filter(({ outcome }) => outcome === 'loaded'),
    geo,
  )
  const last = loaded.at(-1)
  const lastTry = requested.at(-1)
  const lastRequest = { lastTry: lastTry?.at ?? Number.NEGATIVE_INFINITY, lastOutcome: lastTry?.outcome ?? null }
  const never = Number.NEGATIVE_INFINITY
  if (!last) return { state: 'uncovered', at: never, since: never, hasRejects: false, ...lastRequest }
  const sound = loaded.findLastIndex((event) => judgeReply(event, geo, unit) === 'complete')
  const state = judgeReply(last, geo, unit)
  // A later coarse reply may have left it unverified if its days do not explain it.
  const unexplained = state === 'complete' && lastTry?.outcome === 'coarse'
  const hasRejects = last.rejects.length > 0
  return {
    state: unexplained ? 'undecided' : state,
    at: last.at,
    since: (loaded[sound + 1] ?? last).at,
    hasRejects,
    ...lastRequest,
  }
}

/** Whether an entry must, must not, or may request a unit. */
export type Requirement = 'must' | 'may' | 'not'

/** Whether a unit was settled when fetched; an hour either way allows for clock changes. */
export function judgeRequirement(
  judged: JudgedState,
  end: number,
  now: number,
  { lookback, refresh }: { lookback: number; refresh: number },
): Requirement {
  if (judged.state === 'uncovered') {
    if (judged.lastOutcome === 'refused' || judged.lastOutcome === 'unread' || judged.lastOutcome === 'coarse')
      return 'may'
    return 'must'
  }
  if (judged.state !== 'complete') {
    // At growing intervals: 1, 2, 4, 8 … days.
    const distance = judged.lastTry - judged.since + DAY + 2 * HOUR
    return judged.state === 'unverified' && now - judged.lastTry >= distance ? 'must' : 'may'
  }
  const age = judged.at - (end + lookback * DAY)
  if (now - judged.at < refresh) return 'not'
  if (age >= HOUR) return 'not'
  if (age > -HOUR) return 'may'
  return now - judged.at > refresh ? 'must' : 'may'
}
