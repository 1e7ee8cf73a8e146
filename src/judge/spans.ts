import { ALL_GEOS } from '../db/tables/codes.ts'
import type { Instant } from '../util/time/instant.ts'
import { type Interval, splitAt } from '../util/time/interval.ts'
import type { Finality } from './finality.ts'
import type { JudgeInput, Requirement, Span } from './judgeTypes.ts'
import type { Coverage } from './stored.ts'

/* Types and functions that the parts of the judgement share. */

/** The end of an interval without one. */
export const FOREVER = Number.POSITIVE_INFINITY

export interface JudgeContext {
  readonly requirements: readonly Requirement[]
  readonly stored: JudgeInput
  readonly finality: Finality
  readonly now: Instant
}

export interface CoverageInput {
  readonly requirements: readonly Requirement[]
  /** The coverage, in order and without overlaps. */
  readonly rows: readonly Coverage[]
  readonly failures: JudgeInput['failures']
}

export const EMPTY_SPAN = {
  geoId: ALL_GEOS,
  lagS: null,
  reason: null,
  reply: null,
  periods: null,
  stepS: null,
  sinceAt: null,
  nextAt: null,
  dueAt: null,
  isAccepted: false,
  isTolerated: false,
} as const

/** The end of a required range in all the time to come. */
export const endAhead = ({ to, lagS }: Requirement): Instant => (lagS === null ? to : FOREVER)

/** The instants at which required ranges begin or end. */
export const listEnds = (requirements: readonly Requirement[]): Instant[] =>
  requirements.flatMap((requirement) => [requirement.from, endAhead(requirement)])

/** A part of an interval with the entries that require it. */
export interface RequiredPart extends Interval {
  readonly requirements: readonly Requirement[]
}

/** Splits an interval at borders, among them the ends of required ranges, and lists the entries that require each part. */
export const splitByRequirements = (
  interval: Interval,
  requirements: readonly Requirement[],
  borders: readonly Instant[],
): RequiredPart[] =>
  splitAt(interval, borders).map(({ from, to }) => ({
    from,
    to,
    requirements: requirements.filter((requirement) => requirement.from < to && endAhead(requirement) > from),
  }))

/** The first job, by name. */
export function firstJob([first, ...others]: readonly Requirement[]): Pick<Span, 'job' | 'jobId'> {
  if (!first) return { job: null, jobId: null }
  const isBefore = (a: Requirement, b: Requirement): boolean =>
    a.job < b.job || (a.job === b.job && (a.jobId ?? 0) < (b.jobId ?? 0))
  const { job, jobId } = others.reduce(
    (least, requirement) => (isBefore(requirement, least) ? requirement : least),
    first,
  )
  return { job, jobId }
}

export const earliest = (instants: readonly (Instant | null)[]): Instant | null => {
  const known = instants.filter((at) => at !== null)
  return known.length === 0 ? null : Math.min(...known)
}

/** Joins adjacent spans without a reply that have the same reason, job and kind of end. Sorts them. */
export function joinAdjacent(spans: readonly Span[]): Span[] {
  const joined: Span[] = []
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1)
    const isSame =
      last?.to === span.from &&
      last.reason === span.reason &&
      last.jobId === span.jobId &&
      last.job === span.job &&
      last.lagS === span.lagS
    if (!last || !isSame) joined.push(span)
    else
      joined[joined.length - 1] = {
        ...last,
        to: span.to,
        sinceAt: earliest([last.sinceAt, span.sinceAt]),
        nextAt: earliest([last.nextAt, span.nextAt]),
        dueAt: earliest([last.dueAt, span.dueAt]),
      }
  }
  return joined
}
