import { isAbsence } from '../db/tables/codes.ts'
import type { Instant } from '../util/time/instant.ts'
import { type Interval, intersect, subtract } from '../util/time/interval.ts'
import { countPeriods } from './grid.ts'
import type { JudgeInput, Span } from './judgeTypes.ts'
import { FOREVER } from './spans.ts'

/* Data that a user accepted as missing (J8). */

/**
 * Marks accepted spans, and splits spans at the borders of accepted ranges. An accepted range without an end is about the end of a timeline: if that
 * goes on, it covers the missing periods up to the next value, and not a later end.
 */
export function accept(
  spans: readonly Span[],
  { accepted, absences, zone }: JudgeInput,
  geoId: number,
): readonly Span[] {
  const ofGeo = accepted.filter((range) => range.geoId === geoId)
  if (ofGeo.length === 0) return spans
  const missing = absences.filter(({ geo }) => geo === geoId).sort((a, b) => a.from - b.from)
  const missingTo = (from: Instant): Instant =>
    missing.reduce((end, absence) => (absence.from <= end && absence.to > end ? absence.to : end), from)
  return spans.flatMap((span) => {
    if (span.reason === null) return span
    const ranges = ofGeo.flatMap(({ from, to }): Interval[] => {
      if (to !== null) return [{ from, to }]
      if (isAbsence(span.reason!)) return [{ from, to: missingTo(from) }]
      const isEnd = span.reason === 'late' || span.reason === 'no values'
      return isEnd && span.from <= from && span.to > from ? [{ from, to: FOREVER }] : []
    })
    const inside = intersect([span], ranges)
    if (inside.length === 0) return span
    return [
      ...inside.map((part) => ({ ...span, ...part, isAccepted: true })),
      ...subtract([span], inside).map((part) => ({ ...span, ...part })),
    ]
      .sort((a, b) => a.from - b.from)
      .map((part) => {
        const isWhole = part.from === span.from && part.to === span.to
        return {
          ...part,
          periods:
            isWhole || span.stepS === null || span.periods === null
              ? span.periods
              : countPeriods({ step: span.stepS, anchor: span.from }, zone, part),
        }
      })
  })
}
