/* Predicts the contents of the database from the replies of the service and their times. */
import { DAY, HOUR } from './calendar.ts'
import type { Answer, Question } from './service.ts'

/** A version of a value, valid from an instant until the next one. */
export interface Version {
  readonly value: number
  readonly step: number | null
  readonly from: number
  to: number | null
}

/** The outcome of a request, in order of recording. */
export interface Event {
  readonly question: Question
  readonly at: number
  readonly outcome: 'answered' | 'coarse' | 'failed' | 'refused' | 'unread'
  /** Invalid rows, and whether all were dismissed before. */
  readonly rejects: readonly string[]
  readonly accepted: boolean
  /** Geos with values in the reply. */
  readonly present: ReadonlySet<number>
  /** Known geos with stored values in the window that are missing in the reply. */
  readonly lost: ReadonlySet<number>
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
}

/** The state of the model: every series with all versions of its values and all requests. */
export type Oracle = Map<string, SeriesTruth>

export const truthOf = (oracle: Oracle, key: string): SeriesTruth => {
  let truth = oracle.get(key)
  if (!truth) {
    truth = { values: new Map(), events: [], dismissed: new Set() }
    oracle.set(key, truth)
  }
  return truth
}

const current = (versions: Version[] | undefined): Version | undefined => {
  const last = versions?.at(-1)
  return last?.to === null ? last : undefined
}

/** Adds a stored reply. */
export function believe(oracle: Oracle, question: Question, answer: Answer, at: number, command: number): Effect {
  const truth = truthOf(oracle, question.key)
  const { window } = question
  const effect: Effect = { fresh: 0, unchanged: 0, revised: 0, withdrawn: 0 }
  const known = new Set(truth.values.keys())
  const present = new Set(answer.values.map(({ geo }) => geo))
  const lost = new Set<number>()
  const answered = new Set(answer.values.map(({ geo, at: when }) => `${geo} ${when}`))
  for (const geo of known) {
    const held = [...truth.values.get(geo)!].filter(
      ([when, versions]) => window && when >= window.from && when < window.to && current(versions),
    )
    if (held.length > 0 && !present.has(geo) && concerns(question, geo)) lost.add(geo)
    if (!present.has(geo) || answer.rejects.length > 0) continue
    for (const [when, versions] of held)
      if (!answered.has(`${geo} ${when}`)) {
        versions.at(-1)!.to = at
        effect.withdrawn++
      }
  }
  for (const { geo, at: when, value, step } of answer.values) {
    const series = truth.values.get(geo) ?? new Map<number, Version[]>()
    truth.values.set(geo, series)
    const versions = series.get(when) ?? []
    series.set(when, versions)
    const now = current(versions)
    if (now && now.value === value && now.step === step) {
      effect.unchanged++
      continue
    }
    if (now) now.to = at
    effect[now ? 'revised' : 'fresh']++
    versions.push({ value, step, from: at, to: null })
  }
  const { rejects } = answer
  const accepted = rejects.every((row) => truth.dismissed.has(row))
  truth.events.push({
    ...{
      question,
      at,
      outcome: 'answered',
      rejects,
      accepted,
      present,
      lost,
      known,
      command,
    },
  })
  return effect
}

/** Adds a request without a usable reply. */
export function note(oracle: Oracle, question: Question, outcome: Event['outcome'], at: number, command: number): void {
  const none = new Set<number>()
  truthOf(oracle, question.key).events.push({
    question,
    at,
    outcome,
    rejects: [],
    accepted: true,
    command,
    present: none,
    lost: none,
    known: none,
  })
}

/** Whether a request included a geo. */
export const concerns = ({ geos }: Question, geo: number | null): boolean =>
  geos === null || (geo !== null && geos.includes(geo))

const covers = ({ window }: Question, unit: { from: number; to: number }): boolean =>
  window !== null && window.from <= unit.from && window.to >= unit.to

/** The state of a unit of a series, for one geo or (null) for all. */
export interface Standing {
  /** `unverified`: the last reply is not valid; `open`: either is permitted. */
  readonly state: 'never' | 'held' | 'unverified' | 'open'
  /** When it was last fetched. */
  readonly at: number
  /** Start of the unverified state, if any. */
  readonly since: number
  /** The last request for it and its outcome. */
  readonly lastTry: number
  readonly lastOutcome: Event['outcome'] | null
  /** Whether the last reply had invalid rows, though it was accepted. */
  readonly marred: boolean
}

/** Whether a reply is valid for one geo, or for all. */
function trust(event: Event, geo: number | null): 'held' | 'unverified' | 'open' {
  if (!event.accepted) return 'unverified'
  const known = geo === null ? event.known : new Set([geo])
  // All stored values of a geo are missing while others have values, or those of all geos.
  const lost = [...known].some((one) => event.lost.has(one))
  if (lost && (geo !== null || event.present.size === 0)) return event.rejects.length > 0 ? 'open' : 'unverified'
  // An empty reply for all geos is unverified also for geos that lost nothing.
  if (event.lost.size > 0 && event.present.size === 0) return 'open'
  return lost ? 'open' : 'held'
}

/** Returns the replies that count for a geo: an unverified reply for all keeps those for the geo alone. */
function countingFor(answered: readonly Event[], geo: number | null): Event[] {
  let hasOwn = false
  return answered.filter(({ question, accepted, present, lost }) => {
    const isAboutAll = question.geos === null
    const isUnverified = !accepted || (present.size === 0 && lost.size > 0)
    if (geo !== null && isAboutAll && isUnverified && hasOwn) return false
    hasOwn = !isAboutAll || (hasOwn && isUnverified)
    return true
  })
}

/** Determines the state of a unit from its last reply. */
export function standingOf(truth: SeriesTruth, unit: { from: number; to: number }, geo: number | null): Standing {
  const { events } = truth
  const requested = events.filter(({ question }) => covers(question, unit) && concerns(question, geo))
  const answered = countingFor(
    requested.filter(({ outcome }) => outcome === 'answered'),
    geo,
  )
  const last = answered.at(-1)
  const lastTry = requested.at(-1)
  const tried = { lastTry: lastTry?.at ?? Number.NEGATIVE_INFINITY, lastOutcome: lastTry?.outcome ?? null }
  const never = Number.NEGATIVE_INFINITY
  if (!last) return { state: 'never', at: never, since: never, marred: false, ...tried }
  const sound = answered.findLastIndex((event) => trust(event, geo) === 'held')
  const state = trust(last, geo)
  // A later coarse reply may have left it unverified if its days do not explain it.
  const unexplained = state === 'held' && lastTry?.outcome === 'coarse'
  const marred = last.rejects.length > 0
  return {
    state: unexplained ? 'open' : state,
    at: last.at,
    since: (answered[sound + 1] ?? last).at,
    marred,
    ...tried,
  }
}

/** Whether an entry must, must not, or may request a unit. */
export type Duty = 'must' | 'may' | 'not'

/** Whether a unit was settled when fetched; an hour either way allows for clock changes. */
export function dutyOf(
  standing: Standing,
  end: number,
  now: number,
  { lookback, refresh }: { lookback: number; refresh: number },
): Duty {
  if (standing.state === 'never') {
    if (standing.lastOutcome === 'refused' || standing.lastOutcome === 'unread' || standing.lastOutcome === 'coarse')
      return 'may'
    return 'must'
  }
  if (standing.state !== 'held') {
    // At growing intervals: 1, 2, 4, 8 … days.
    const distance = standing.lastTry - standing.since + DAY + 2 * HOUR
    return standing.state === 'unverified' && now - standing.lastTry >= distance ? 'must' : 'may'
  }
  const age = standing.at - (end + lookback * DAY)
  if (now - standing.at < refresh) return 'not'
  if (age >= HOUR) return 'not'
  if (age > -HOUR) return 'may'
  return now - standing.at > refresh ? 'must' : 'may'
}
