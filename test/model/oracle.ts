/* Predicts the contents of the database from the replies of the service and their times. */
import type { Reply, SeriesRequest } from './service.ts'
import { type Interval, includesGeo, isWithin } from './units.ts'
import { type Guard, judgeWithdrawal } from './withdrawal.ts'

/** A version of a value, valid from an instant until the next one. */
export interface Version {
  readonly value: number
  /** The step of the last reply with this value: another step is not a revision. */
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
  /** Days of which the reply lacks many final values, by geo: they are unverified (M6). */
  readonly unverifiedDays: ReadonlyMap<number, readonly Interval[]>
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

/** The state of the model: every series with all versions of its values and all requests. */
export type Oracle = Map<string, SeriesTruth>

/** Returns what is known of a series; a new one has no values. */
export function truthOf(oracle: Oracle, key: string): SeriesTruth {
  let truth = oracle.get(key)
  if (!truth) {
    truth = { values: new Map(), events: [], dismissed: new Set(), suspectedSince: new Map() }
    oracle.set(key, truth)
  }
  return truth
}

/** Returns the version that is stored now, unless the value is withdrawn. */
const currentVersion = (versions: readonly Version[] | undefined): Version | undefined => {
  const last = versions?.at(-1)
  return last?.to === null ? last : undefined
}

/** A value that is stored now. */
export interface StoredValue {
  readonly at: number
  readonly version: Version
}

/** Returns the values of a geo that are stored now, in any order. */
export const storedValues = ({ values }: SeriesTruth, geo: number): StoredValue[] =>
  [...(values.get(geo) ?? [])].flatMap(([at, versions]) => {
    const version = currentVersion(versions)
    return version ? [{ at, version }] : []
  })

/** Returns the known geos that a geo stands for: itself, or (null) all. */
export const knownGeos = ({ values }: SeriesTruth, geo: number | null): number[] =>
  [...values.keys()].filter((known) => geo === null || known === geo)

/** Returns the stored values of a geo in the window of a request. */
function storedInWindow(truth: SeriesTruth, { window }: SeriesRequest, geo: number): StoredValue[] {
  return window ? storedValues(truth, geo).filter(({ at }) => isWithin(at, window)) : []
}

/** Withdraws what a reply without rejects lacks of the geos that it has (M6). Returns the unverified days by geo. */
function withdrawLacking(
  truth: SeriesTruth,
  request: SeriesRequest,
  reply: Reply,
  at: number,
  guard: Guard,
  effect: Effect,
): Map<number, readonly Interval[]> {
  const unverifiedDays = new Map<number, readonly Interval[]>()
  if (reply.rejects.length > 0) return unverifiedDays
  for (const [geo, values] of Map.groupBy(reply.values, (value) => value.geo)) {
    const sent = new Set(values.map((value) => value.at))
    const stored = storedInWindow(truth, request, geo)
    const withdrawal = judgeWithdrawal(truth.suspectedSince, geo, stored, sent, at, guard)
    for (const { version } of withdrawal.withdrawn) version.to = at
    effect.withdrawn += withdrawal.withdrawn.length
    if (withdrawal.unverifiedDays.length > 0) unverifiedDays.set(geo, withdrawal.unverifiedDays)
  }
  return unverifiedDays
}

/** Stores the values of a reply: new ones, and a version of each that differs. */
function storeValues({ values }: SeriesTruth, reply: Reply, at: number, effect: Effect): void {
  for (const { geo, at: instant, value, step } of reply.values) {
    const ofGeo = values.get(geo) ?? new Map<number, Version[]>()
    values.set(geo, ofGeo)
    const versions = ofGeo.get(instant) ?? []
    ofGeo.set(instant, versions)
    const current = currentVersion(versions)
    if (current?.value === value) {
      current.step = step
      effect.unchanged++
      continue
    }
    if (current) current.to = at
    effect[current ? 'revised' : 'fresh']++
    versions.push({ value, step, from: at, to: null })
  }
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
  const effect: Effect = { fresh: 0, unchanged: 0, revised: 0, withdrawn: 0 }
  const known = new Set(truth.values.keys())
  const present = new Set(reply.values.map(({ geo }) => geo))
  const isLost = (geo: number): boolean =>
    !present.has(geo) && includesGeo(request, geo) && storedInWindow(truth, request, geo).length > 0
  const lost = new Set([...known].filter(isLost))
  const unverifiedDays = withdrawLacking(truth, request, reply, at, guard, effect)
  storeValues(truth, reply, at, effect)
  truth.events.push({
    request,
    at,
    outcome: 'loaded',
    rejects: reply.rejects,
    accepted: reply.rejects.every((row) => truth.dismissed.has(row)),
    present,
    lost,
    unverifiedDays,
    known,
    command,
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
