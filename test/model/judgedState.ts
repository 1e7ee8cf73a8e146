/* The state of a unit by the replies about it (S1–S9), and whether an entry requests it (R1–R3). */
import { DAY, HOUR } from './calendar.ts'
import type { Event, SeriesTruth } from './oracle.ts'
import { covers, type Interval, includesGeo, overlaps } from './units.ts'

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

/** S1–S5, S9 and S10: whether a reply is valid about a unit, for one geo or for all. */
function judgeReply(event: Event, geo: number | null, unit: Interval): 'complete' | 'unverified' | 'undecided' {
  if (!event.accepted) return 'unverified'
  const hasUnverifiedDay = (one: number): boolean =>
    event.unverifiedDays.get(one)?.some((day) => overlaps(day, unit)) ?? false
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

/** S6: returns the replies that count for a geo. An unverified reply for all geos keeps those for the geo alone. */
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
export function judgeState({ events }: SeriesTruth, unit: Interval, geo: number | null): JudgedState {
  const requested = events.filter(({ request }) => covers(request, unit) && includesGeo(request, geo))
  const loaded = countingFor(
    requested.filter(({ outcome }) => outcome === 'loaded'),
    geo,
  )
  const last = loaded.at(-1)
  const lastTry = requested.at(-1)
  const never = Number.NEGATIVE_INFINITY
  const lastRequest = { lastTry: lastTry?.at ?? never, lastOutcome: lastTry?.outcome ?? null }
  if (!last) return { state: 'uncovered', at: never, since: never, hasRejects: false, ...lastRequest }
  const sound = loaded.findLastIndex((event) => judgeReply(event, geo, unit) === 'complete')
  const state = judgeReply(last, geo, unit)
  // A later coarse reply may have left it unverified if its days do not explain it.
  const isUnexplained = state === 'complete' && lastTry?.outcome === 'coarse'
  return {
    state: isUnexplained ? 'undecided' : state,
    at: last.at,
    since: (loaded[sound + 1] ?? last).at,
    hasRejects: last.rejects.length > 0,
    ...lastRequest,
  }
}

/** Whether an entry must, must not, or may request a unit. */
export type Requirement = 'must' | 'may' | 'not'

/** The lookback of an entry in days, and its refresh in seconds. */
export interface Lookback {
  readonly lookback: number
  readonly refresh: number
}

/** Whether an entry requests a unit, by its state and its age when it was fetched. */
export function judgeRequirement(judged: JudgedState, end: number, now: number, entry: Lookback): Requirement {
  switch (judged.state) {
    case 'uncovered':
      return uncoveredRequirement(judged)
    case 'complete':
      return completeRequirement(judged, end, now, entry)
    default:
      return unverifiedRequirement(judged, now)
  }
}

/** An uncovered unit is requested. It may be left out if the last reply about it was refused, unreadable or coarse. */
const uncoveredRequirement = ({ lastOutcome }: JudgedState): Requirement =>
  lastOutcome === 'refused' || lastOutcome === 'unread' || lastOutcome === 'coarse' ? 'may' : 'must'

/** R3: what is unverified is requested again at growing distances: 1, 2, 4, 8 … days. */
function unverifiedRequirement({ state, since, lastTry }: JudgedState, now: number): Requirement {
  const distance = lastTry - since + DAY + 2 * HOUR
  return state === 'unverified' && now - lastTry >= distance ? 'must' : 'may'
}

/** R1 and R2: nothing is requested while fresh or once settled. An hour either way allows for clock changes. */
function completeRequirement(
  { at }: JudgedState,
  end: number,
  now: number,
  { lookback, refresh }: Lookback,
): Requirement {
  const settledFor = at - (end + lookback * DAY)
  if (now - at < refresh) return 'not'
  if (settledFor >= HOUR) return 'not'
  if (settledFor > -HOUR) return 'may'
  return now - at > refresh ? 'must' : 'may'
}
