import { overlaps, subtract } from '../util/time/interval.ts'
import { repliedTo } from './judgeCoverage.ts'
import type { Span } from './judgeTypes.ts'
import {
  type CoverageInput,
  EMPTY_SPAN,
  earliest,
  endAhead,
  firstJob,
  joinAdjacent,
  listEnds,
  splitByRequirements,
} from './spans.ts'
import type { Timeline } from './stored.ts'

/* Ranges without a reply: never requested, or failed (J3). */

/** Judges ranges without a reply that are required, or whose request failed. */
export function judgeUncovered({ requirements, rows, failures }: CoverageInput): Span[] {
  const required = requirements.map((requirement) => ({ from: requirement.from, to: endAhead(requirement) }))
  const userRanges = failures.filter(({ isUserRange }) => isUserRange)
  const borders = [...listEnds(requirements), ...failures.flatMap(({ from, to }) => [from, to])]
  const spans = subtract([...required, ...userRanges], rows).flatMap((interval) =>
    splitByRequirements(interval, requirements, borders).map((part): Span => {
      const failed = failures.filter((failure) => overlaps(failure, part))
      const isGrowing = part.requirements.length > 0 && part.requirements.every(({ lagS }) => lagS !== null)
      const requiredAt = part.requirements.map(({ sinceAt, lagS }) =>
        Math.max(sinceAt, lagS === null ? sinceAt : part.from + lagS),
      )
      // The newest time is requested by the next run: until then it is expected.
      const dueAt = part.requirements.map(({ lagS, graceS }) => part.from + (lagS ?? 0) + graceS)
      return {
        ...EMPTY_SPAN,
        from: part.from,
        to: part.to,
        ...firstJob(part.requirements),
        lagS: isGrowing && failed.length === 0 ? Math.min(...part.requirements.map(({ lagS }) => lagS!)) : null,
        state: 'missing',
        reason: failed.length > 0 ? 'failed' : 'never requested',
        sinceAt: earliest(failed.length > 0 ? failed.map(({ failedAt }) => failedAt) : requiredAt),
        nextAt: earliest(requiredAt),
        dueAt: failed.length > 0 ? null : earliest(dueAt),
      }
    }),
  )
  return joinAdjacent(spans)
}

/**
 * J3: the time of a stored range after its reply and after the last value. It is requested with the range, which is not final; until the
 * next run it is expected, unless a later request failed.
 */
export function judgeSinceReply(
  timeline: Timeline | undefined,
  { requirements, failures }: Pick<CoverageInput, 'requirements' | 'failures'>,
  covered: readonly Span[],
): Span[] {
  const extent = timeline?.extent
  const lastEnd = extent ? extent.last + extent.step : Number.NEGATIVE_INFINITY
  return covered.flatMap((span): Span[] => {
    const from = Math.max(span.from, repliedTo(span), lastEnd)
    if (span.state !== 'provisional' || from >= span.to) return []
    const { fetchedAt } = span.reply!
    const later = failures.filter(({ failedAt }) => failedAt > fetchedAt)
    const borders = [...listEnds(requirements), ...later.flatMap((failure) => [failure.from, failure.to])]
    return splitByRequirements({ from, to: span.to }, requirements, borders).flatMap((part): Span[] => {
      if (part.requirements.length === 0) return []
      const failed = later.filter((failure) => overlaps(failure, part))
      const grace = Math.min(...part.requirements.map(({ graceS }) => graceS))
      return [
        {
          ...EMPTY_SPAN,
          ...firstJob(part.requirements),
          from: part.from,
          to: part.to,
          lagS: 0,
          state: 'missing',
          reason: failed.length > 0 ? 'failed' : 'never requested',
          sinceAt: part.from,
          dueAt: failed.length > 0 ? null : fetchedAt + grace,
        },
      ]
    })
  })
}
