import { hull } from '../util/time/interval.ts'
import { repliedTo } from './judgeCoverage.ts'
import type { Requirement, Span } from './judgeTypes.ts'
import { UNKNOWN_LAG_S } from './limits.ts'
import { EMPTY_SPAN, earliest, endAhead, firstJob, type JudgeContext } from './spans.ts'
import type { Timeline } from './stored.ts'

/* The time after the last value of a timeline, and timelines without values (J5, J6). */

/** C7: judges the requested time after the last value of a timeline that still publishes. */
export function judgeEnd(
  { stored }: JudgeContext,
  { extent, kind }: Timeline,
  requirements: readonly Requirement[],
  covered: readonly Span[],
): Span[] {
  if (extent === null || kind === null || kind === 'irregular') return []
  const { last, step } = extent
  const from = last + step
  const requiring = requirements.filter((requirement) => endAhead(requirement) > from)
  const after = covered.filter(({ to, reply }) => to > from && reply!.state !== 'unverified')
  // Uses the replies up to the first range that was not requested.
  const end = after.findIndex((span, i) => i > 0 && span.from !== after[i - 1]!.to)
  const requested = end === -1 ? after : after.slice(0, end)
  if (requiring.length === 0 || requested.length === 0) return []
  const start = Math.max(from, requested[0]!.from)
  const to = Math.max(...requested.map(repliedTo))
  if (start >= to) return []
  const allowedS = stored.allowedLagS ?? Math.max(UNKNOWN_LAG_S, 3 * step)
  return [
    {
      ...EMPTY_SPAN,
      from: start,
      to,
      ...firstJob(requiring),
      state: 'missing',
      reason: 'late',
      stepS: kind === 'regular' ? step : null,
      sinceAt: from,
      // Use the next request of the first day: later days may be requested sooner.
      nextAt: requested.find(({ nextAt }) => nextAt !== null)?.nextAt ?? null,
      dueAt: from + allowedS,
    },
  ]
}

/** C8: a series or geo that is required, was requested in any range, is final there, and never had a value. */
export function judgeNoValues(
  timeline: Timeline | undefined,
  requirements: readonly Requirement[],
  covered: readonly Span[],
  missing: readonly Span[],
): Span[] {
  // Values of a timeline whose ends are not known yet may be stored.
  if (timeline && (timeline.extent !== null || timeline.kind === null)) return []
  if (missing.length > 0 || requirements.length === 0) return []
  const final = covered.filter(({ state }) => state === 'complete')
  if (final.length === 0) return []
  return [
    {
      ...EMPTY_SPAN,
      ...hull(final),
      ...firstJob(requirements),
      state: 'missing',
      reason: 'no values',
      sinceAt: earliest(final.map(({ reply }) => reply!.fetchedAt)),
      nextAt: earliest(covered.map(({ nextAt }) => nextAt)),
    },
  ]
}
