import { judge } from '../../src/judge/judge.ts'
import type { JudgeInput, Requirement, Span } from '../../src/judge/judgeTypes.ts'
import type { Absence, Coverage, Timeline } from '../../src/judge/stored.ts'
import { DAY, HOUR } from '../../src/util/time/instant.ts'

/* Small inputs of the judgement. Instants are days since the first day, in UTC: 1.5 is noon of the second day. */

const FIRST = 20_000 * DAY
export const at = (day: number): number => FIRST + day * DAY
/** An instant in days. */
export const toDay = (instant: number): number => Math.round(((instant - FIRST) / DAY) * 1000) / 1000

/** A job that runs daily and requires the days 0 to 30, with a lookback of two days. */
export const requirement = (over: Partial<Requirement> = {}): Requirement => ({
  job: 'nightly',
  jobId: 1,
  geoIds: null,
  from: at(0),
  to: at(30),
  lagS: null,
  lookbackS: 2 * DAY,
  refreshS: HOUR,
  sinceAt: at(0),
  graceS: 1.25 * DAY,
  ...over,
})

/** The same for a window that ends with the current day. */
export const growing = (over: Partial<Requirement> = {}): Requirement => requirement({ lagS: 0, ...over })

/** A reply for all geos, fetched half a day after its end. */
export const covered = (from: number, to: number, over: Partial<Coverage> = {}): Coverage => ({
  geo: 0,
  from: at(from),
  to: at(to),
  state: 'values',
  fetchedAt: at(to + 0.5),
  settledFor: 0,
  sinceAt: null,
  ...over,
})

export const absence = (from: number, to: number, over: Partial<Absence> = {}): Absence => ({
  geo: 1,
  from: at(from),
  to: at(to),
  step: HOUR,
  reason: 'absent',
  periods: (to - from) * 24,
  sinceAt: at(to + 3),
  checkedAt: at(to + 3),
  ...over,
})

/** An hourly timeline with values from day `first` to day `end`. */
export const timeline = (geoId: number, first: number, end: number, over: Partial<Timeline> = {}): Timeline => ({
  geoId,
  extent: { first: at(first), last: at(end) - HOUR, step: HOUR },
  kind: 'regular',
  ...over,
})

export const store = (over: Partial<JudgeInput> = {}): JudgeInput => ({
  zone: 'UTC',
  unit: 'day',
  period: null,
  lookbackS: 2 * DAY,
  timelines: [timeline(1, 0, 30)],
  coverage: [],
  absences: [],
  failures: [],
  accepted: [],
  unknown: null,
  allowedLagS: null,
  ...over,
})

/** A span as readers see it: missing ones are expected until they are due. */
export type ShownSpan = Omit<Span, 'state'> & { readonly state: Span['state'] | 'expected' }

/** Joins adjacent complete spans, which may differ in their next request. */
export function joinComplete(spans: readonly ShownSpan[]): ShownSpan[] {
  const joined: ShownSpan[] = []
  for (const span of spans) {
    const last = joined.at(-1)
    const isSame = last?.geoId === span.geoId && last.to === span.from && last.state === span.state
    if (isSame && span.state === 'complete') joined[joined.length - 1] = { ...last, to: span.to }
    else joined.push(span)
  }
  return joined
}

/** A span in a few words: `geo 1, 2–5: missing (absent)`. */
export function describeSpan({ geoId, from, to, state, reason, isAccepted, isTolerated }: ShownSpan): string {
  const marks = [reason, isAccepted && 'accepted', isTolerated && 'tolerated'].filter(Boolean)
  const end = to === Number.POSITIVE_INFINITY ? '…' : toDay(to)
  return `geo ${geoId}, ${toDay(from)}–${end}: ${state}${marks.length > 0 ? ` (${marks.join(', ')})` : ''}`
}

/** Judges the requirements for a series and its stored data, as readers see them at the same instant. */
export const judgeAt = (requirements: readonly Requirement[], stored: JudgeInput, now: number): readonly ShownSpan[] =>
  showAt(judge(requirements, stored, now), now)

/** Spans at an instant: open ends are cut, and spans that are not due yet are expected. The view `gaps` does the same. */
export const showAt = (spans: readonly Span[], now: number): readonly ShownSpan[] =>
  spans.flatMap((span) => {
    const to = span.lagS === null ? span.to : Math.min(span.to, now - span.lagS)
    if (span.from >= to) return []
    const isExpected = span.dueAt !== null && now < span.dueAt
    return isExpected ? { ...span, to, state: 'expected' } : { ...span, to }
  })
