import { overlaps, subtract } from '../util/time/interval.ts'
import { repliedTo } from './judgeCoverage.ts'
import type { Span } from './judgeTypes.ts'
import {
  EMPTY_SPAN,
  earliest,
  endAhead,
  firstJob,
  joinAdjacent,
  listEnds,
  type Requests,
  splitByWants,
} from './spans.ts'
import type { Timeline } from './stored.ts'

/* Ranges without a reply: never requested, or failed (J3). */

/** Judges ranges without a reply that are required, or whose request failed. */
export function judgeUncovered({ wants, rows, failures }: Requests): Span[] {
  const wanted = wants.map((want) => ({ from: want.from, to: endAhead(want) }))
  const userRanges = failures.filter(({ isUserRange }) => isUserRange)
  const borders = [...listEnds(wants), ...failures.flatMap(({ from, to }) => [from, to])]
  const spans = subtract([...wanted, ...userRanges], rows).flatMap((interval) =>
    splitByWants(interval, wants, borders).map((part): Span => {
      const failed = failures.filter((failure) => overlaps(failure, part))
      const isGrowing = part.wants.length > 0 && part.wants.every(({ lagS }) => lagS !== null)
      const wantedAt = part.wants.map(({ sinceAt, lagS }) =>
        Math.max(sinceAt, lagS === null ? sinceAt : part.from + lagS),
      )
      // The newest time is requested by the next run: until then it is expected.
      const dueAt = part.wants.map(({ lagS, graceS }) => part.from + (lagS ?? 0) + graceS)
      return {
        ...EMPTY_SPAN,
        from: part.from,
        to: part.to,
        ...firstJob(part.wants),
        lagS: isGrowing && failed.length === 0 ? Math.min(...part.wants.map(({ lagS }) => lagS!)) : null,
        state: 'missing',
        reason: failed.length > 0 ? 'failed' : 'never requested',
        sinceAt: earliest(failed.length > 0 ? failed.map(({ failedAt }) => failedAt) : wantedAt),
        nextAt: earliest(wantedAt),
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
  { wants, failures }: Pick<Requests, 'wants' | 'failures'>,
  covered: readonly Span[],
): Span[] {
  const extent = timeline?.extent
  const lastEnd = extent ? extent.last + extent.step : Number.NEGATIVE_INFINITY
  return covered.flatMap((span): Span[] => {
    const from = Math.max(span.from, repliedTo(span), lastEnd)
    if (span.state !== 'provisional' || from >= span.to) return []
    const { fetchedAt } = span.reply!
    const later = failures.filter(({ failedAt }) => failedAt > fetchedAt)
    const borders = [...listEnds(wants), ...later.flatMap((failure) => [failure.from, failure.to])]
    return splitByWants({ from, to: span.to }, wants, borders).flatMap((part): Span[] => {
      if (part.wants.length === 0) return []
      const failed = later.filter((failure) => overlaps(failure, part))
      const grace = Math.min(...part.wants.map(({ graceS }) => graceS))
      return [
        {
          ...EMPTY_SPAN,
          ...firstJob(part.wants),
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
