import fc from 'fast-check'
import { expect, test } from 'vitest'
import { judge } from '../../src/judge/judge.ts'
import type { JudgeInput, Requirement } from '../../src/judge/judgeTypes.ts'
import type { Absence, Coverage } from '../../src/judge/stored.ts'
import { DAY, HOUR } from '../../src/util/time/instant.ts'
import { type Interval, intersect, merge, overlaps, subtract } from '../../src/util/time/interval.ts'
import { absence, at, covered, judgeAt, requirement, type ShownSpan, showAt, store, timeline } from './cases.ts'

/* Random stored states of up to three geos in the days 0 to 30, judged at any day until 120. */

const LAST = 30
const interval = (shortest: number): fc.Arbitrary<readonly [number, number]> =>
  fc
    .tuple(fc.integer({ min: 0, max: LAST - shortest }), fc.integer({ min: shortest, max: 12 }))
    .map(([from, length]) => [from, Math.min(LAST, from + length)])

const requirements = fc.array(
  fc
    .record({
      days: interval(1),
      job: fc.constantFrom('a', 'b'),
      jobId: fc.constant(1),
      geoIds: fc.constantFrom(null, null, [1], [1, 2], [9]),
      lagS: fc.constantFrom(null, 0, -DAY, 3 * DAY),
      lookbackS: fc.constantFrom(0, 2 * DAY, 20 * DAY),
      refreshS: fc.constantFrom(HOUR, 3 * DAY),
    })
    .map(({ days: [from, to], ...rest }): Requirement => requirement({ ...rest, from: at(from), to: at(to) })),
  { maxLength: 3 },
)

/** Cuts rows of a geo so that none overlap: earlier ones stay. */
function disjoint<T extends Interval & { readonly geo: number }>(rows: readonly T[]): T[] {
  const kept: T[] = []
  for (const row of rows) if (!kept.some((other) => other.geo === row.geo && overlaps(other, row))) kept.push(row)
  return kept
}

const coverage = fc
  .array(
    fc
      .record({
        days: interval(1),
        geo: fc.constantFrom(0, 0, 1, 2),
        state: fc.constantFrom('values', 'values', 'empty', 'unverified'),
        age: fc.integer({ min: 0, max: 30 }),
      })
      .map(({ days: [from, to], geo, state, age }): Coverage => {
        const fetchedAt = at(from + age)
        return covered(from, to, { geo, state, fetchedAt, sinceAt: state === 'unverified' ? fetchedAt : null })
      }),
    { maxLength: 7 },
  )
  .map((rows) => disjoint(rows))

const absences = fc
  .array(
    fc
      .record({ days: interval(1), geo: fc.constantFrom(1, 2), checked: fc.integer({ min: 0, max: 40 }) })
      .map(
        ({ days: [from, to], geo, checked }): Absence =>
          absence(from, to, { geo, sinceAt: at(from), checkedAt: at(from + checked) }),
      ),
    { maxLength: 4 },
  )
  .map((rows) => disjoint(rows))

const timelines = fc.constantFrom(
  [],
  [timeline(1, 2, 20)],
  [timeline(1, 0, 30), timeline(2, 5, 12)],
  [timeline(1, 0, 30, { kind: 'irregular' }), timeline(2, 0, 0, { extent: null, kind: 'irregular' })],
)

const failures = fc.array(
  fc
    .record({ days: interval(1), geoIds: fc.constantFrom(null, [1]), isUserRange: fc.boolean() })
    .map(({ days: [from, to], ...failure }) => ({ from: at(from), to: at(to), failedAt: at(to), ...failure })),
  { maxLength: 2 },
)

const accepted = fc.array(
  fc
    .record({ days: interval(1), geoId: fc.constantFrom(0, 1), isOpen: fc.boolean() })
    .map(({ days: [from, to], geoId, isOpen }) => ({
      geoId,
      from: at(from),
      to: isOpen ? null : at(to),
    })),
  { maxLength: 2 },
)

const stored: fc.Arbitrary<JudgeInput> = fc
  .record({ coverage, absences, timelines, failures, accepted, allowedLagS: fc.constantFrom(null, 2 * DAY, -DAY) })
  .map((parts) => store(parts))
const days = fc.integer({ min: 0, max: 120 })

const byGeo = (spans: readonly ShownSpan[]): [number, ShownSpan[]][] => [...Map.groupBy(spans, ({ geoId }) => geoId)]
const isMissing = ({ state }: ShownSpan): boolean => state === 'missing'
const total = (intervals: readonly Interval[]): number => intervals.reduce((sum, { from, to }) => sum + to - from, 0)

test('spans are disjoint, and cover required and stored ranges', () => {
  fc.assert(
    fc.property(requirements, stored, days, (requirements, stored, day) => {
      const now = at(day)
      for (const [geoId, spans] of byGeo(judgeAt(requirements, stored, now))) {
        if (geoId === 0) continue
        const ofRequests = spans.filter(
          ({ reply, reason }) => reply || reason === 'failed' || reason === 'never requested',
        )
        expect(total(ofRequests)).toBe(total(merge(ofRequests)))
        const wanted = requirements.flatMap(({ geoIds, from, to, lagS }) =>
          geoIds && !geoIds.includes(geoId) ? [] : { from, to: lagS === null ? to : now - lagS },
        )
        const rows = stored.coverage.filter(({ geo }) => geo === 0 || geo === geoId)
        expect(subtract([...wanted, ...rows], ofRequests)).toEqual([])
      }
    }),
  )
})

test('missing periods lie in verified spans, and never overlap each other', () => {
  fc.assert(
    fc.property(requirements, stored, days, (requirements, stored, day) => {
      for (const [, spans] of byGeo(judgeAt(requirements, stored, at(day)))) {
        const holes = spans.filter(({ reason }) => reason === 'absent')
        expect(total(holes)).toBe(total(merge(holes)))
        const verified = spans.filter(({ reply }) => reply && reply.state !== 'unverified')
        expect(subtract(holes, verified)).toEqual([])
      }
    }),
  )
})

test('time alone never makes anything more complete', () => {
  fc.assert(
    fc.property(requirements, stored, days, days, (requirements, stored, day, later) => {
      const first = Math.min(day, later)
      const second = Math.max(day, later)
      const before = byGeo(judgeAt(requirements, stored, at(first)).filter(isMissing))
      const after = new Map(byGeo(judgeAt(requirements, stored, at(second)).filter(isMissing)))
      for (const [geoId, spans] of before) expect(subtract(spans, after.get(geoId) ?? [])).toEqual([])
    }),
  )
})

test('spans that were judged once show the same at any later time', () => {
  const isPast = (stored: JudgeInput, day: number) =>
    stored.coverage.every(({ fetchedAt }) => fetchedAt <= at(day)) &&
    stored.absences.every(({ checkedAt }) => checkedAt <= at(day))
  fc.assert(
    fc.property(requirements, stored, days, days, (requirements, stored, day, later) => {
      const first = Math.min(day, later)
      const second = Math.max(day, later)
      fc.pre(isPast(stored, first))
      expect(showAt(judge(requirements, stored, at(first)), at(second))).toEqual(
        judgeAt(requirements, stored, at(second)),
      )
    }),
  )
})

test('the order of stored rows does not matter', () => {
  fc.assert(
    fc.property(requirements, stored, days, (requirements, stored, day) => {
      const reversed = {
        ...stored,
        coverage: stored.coverage.toReversed(),
        absences: stored.absences.toReversed(),
        failures: stored.failures.toReversed(),
        timelines: stored.timelines.toReversed(),
      }
      expect(judgeAt(requirements.toReversed(), reversed, at(day))).toEqual(judgeAt(requirements, stored, at(day)))
    }),
  )
})

test('an acceptance changes no state, and only accepted parts', () => {
  fc.assert(
    fc.property(requirements, stored, days, (requirements, stored, day) => {
      const without = judgeAt(requirements, { ...stored, accepted: [] }, at(day))
      const spans = judgeAt(requirements, stored, at(day))
      for (const [geoId, found] of byGeo(spans)) {
        const before = without.filter((span) => span.geoId === geoId)
        for (const reason of ['absent', 'late', 'failed', 'never requested', 'unverified', 'no values'] as const) {
          const isOf = (span: ShownSpan): boolean => span.reason === reason
          expect(merge(found.filter(isOf))).toEqual(merge(before.filter(isOf)))
          const accepted = found.filter((span) => isOf(span) && span.isAccepted)
          const ranges = stored.accepted.filter((range) => range.geoId === geoId)
          const closed = ranges.map(({ from, to }) => ({ from, to: to ?? Number.POSITIVE_INFINITY }))
          expect(subtract(accepted, closed)).toEqual([])
          expect(
            intersect(
              found.filter((span) => isOf(span) && !span.isAccepted),
              ranges.flatMap(({ from, to }) => (to === null ? [] : { from, to })),
            ),
          ).toEqual([])
        }
      }
    }),
  )
})

test('data that no job requires is never requested by itself', () => {
  fc.assert(
    fc.property(requirements, stored, days, (requirements, stored, day) => {
      for (const { nextAt, job } of judgeAt(requirements, stored, at(day))) if (job === null) expect(nextAt).toBeNull()
    }),
  )
})
