/* What must be in the database, told from what the service said and when. */
import { DAY, HOUR } from './calendar.ts'
import type { Answer, Question } from './service.ts'

/** A version of a value: known from an instant on, until another one. */
export interface Version {
  readonly value: number
  readonly step: number | null
  readonly from: number
  to: number | null
}

/** What became of one question, in the order in which it was written down. */
export interface Event {
  readonly question: Question
  readonly at: number
  readonly outcome: 'answered' | 'coarse' | 'failed' | 'refused' | 'unread'
  /** Rows that made no sense, and whether somebody accepted the answer in spite of them. */
  readonly rejects: readonly string[]
  accepted: boolean
  /** Whether it was accepted when it came. */
  readonly acceptedAtOnce: boolean
  /** Geos with values in the answer. */
  readonly present: ReadonlySet<number>
  /** Geos that were known before and held values inside the window, of which the answer has none. */
  readonly lost: ReadonlySet<number>
  /** Geos that were known before. */
  readonly known: ReadonlySet<number>
  readonly command: number
}

/** What a written answer did. */
export interface Effect {
  fresh: number
  unchanged: number
  revised: number
  withdrawn: number
}

export interface SeriesTruth {
  readonly values: Map<number, Map<number, Version[]>>
  readonly events: Event[]
  /** Rows without sense that somebody dismissed. */
  readonly dismissed: Set<string>
}

/** The memory of the model: every series with all versions of its values and all that was asked. */
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

/** Takes an answer that was written. */
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
      acceptedAtOnce: accepted,
      present,
      lost,
      known,
      command,
    },
  })
  return effect
}

/** Takes a question that brought nothing. */
export function note(oracle: Oracle, question: Question, outcome: Event['outcome'], at: number, command: number): void {
  const none = new Set<number>()
  truthOf(oracle, question.key).events.push({
    question,
    at,
    outcome,
    rejects: [],
    accepted: true,
    acceptedAtOnce: true,
    command,
    present: none,
    lost: none,
    known: none,
  })
}

/** Takes that rows without sense were dismissed: answers with nothing else wrong in them are accepted. */
export function accept({ events, dismissed }: SeriesTruth, rows: readonly string[]): void {
  for (const row of rows) dismissed.add(row)
  for (const event of events) event.accepted = event.rejects.every((row) => dismissed.has(row))
}

/** Whether a question was about a geo. */
export const concerns = ({ geos }: Question, geo: number | null): boolean =>
  geos === null || (geo !== null && geos.includes(geo))

const covers = ({ window }: Question, unit: { from: number; to: number }): boolean =>
  window !== null && window.from <= unit.from && window.to >= unit.to

/** What is known of a unit of a series, for one geo or (null) for all that there are. */
export interface Standing {
  /** `unverified`: the last answer cannot be believed; `open`: it can, or not, as one likes. */
  readonly state: 'never' | 'held' | 'unverified' | 'open'
  /** When it was last answered. */
  readonly at: number
  /** Since when it is unverified, where it is. */
  readonly since: number
  /** The last question about it, whatever became of it, and what that was. */
  readonly lastTry: number
  readonly lastOutcome: Event['outcome'] | null
  /** Whether something in the last answer made no sense, though it was accepted. */
  readonly marred: boolean
}

/** Whether an answer can be believed for one geo, or for all that there are. */
function trust(event: Event, geo: number | null): 'held' | 'unverified' | 'open' {
  if (!event.accepted) return 'unverified'
  const known = geo === null ? event.known : new Set([geo])
  // All that is held of a geo is gone, while others have values, or of all.
  const lost = [...known].some((one) => event.lost.has(one))
  if (lost && (geo !== null || event.present.size === 0)) return event.rejects.length > 0 ? 'open' : 'unverified'
  // An answer without values for all geos is no better verified for those that lost none.
  if (event.lost.size > 0 && event.present.size === 0) return 'open'
  return lost ? 'open' : 'held'
}

/** The answers that count for a geo: one about all that is unverified leaves those about the geo alone as they are. */
function countingFor(answered: readonly Event[], geo: number | null): Event[] {
  let hasOwn = false
  return answered.filter(({ question, acceptedAtOnce, present, lost }) => {
    const isAboutAll = question.geos === null
    const isUnverified = !acceptedAtOnce || (present.size === 0 && lost.size > 0)
    if (geo !== null && isAboutAll && isUnverified && hasOwn) return false
    hasOwn = !isAboutAll || (hasOwn && isUnverified)
    return true
  })
}

/** Judges a unit by the last word on it. */
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
  // What was put aside as coarse since may have left it unverified, where its days do not tell.
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

/** What an entry must do about a unit, must not do, or may do. */
export type Duty = 'must' | 'may' | 'not'

/** A unit that ends at an instant was settled when it was answered so much later; an hour either way is for the clocks' changes. */
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
    // At growing distances: 1, 2, 4, 8 … days.
    const distance = standing.lastTry - standing.since + DAY + 2 * HOUR
    return standing.state === 'unverified' && now - standing.lastTry >= distance ? 'must' : 'may'
  }
  const age = standing.at - (end + lookback * DAY)
  if (now - standing.at < refresh) return 'not'
  if (age >= HOUR) return 'not'
  if (age > -HOUR) return 'may'
  return now - standing.at > refresh ? 'must' : 'may'
}
