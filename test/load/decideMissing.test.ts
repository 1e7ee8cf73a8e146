import { describe, expect, test } from 'vitest'
import type { MissingPeriods } from '../../src/judge/missing.ts'
import { type Check, decideMissing, type MissingRow } from '../../src/load/timelines/decideMissing.ts'
import { startOfDate } from '../../src/util/time/zone.ts'

const ZONE = 'Europe/Madrid'
const HOUR = 3600
const DAY = 86_400
const day = (n: number): number => startOfDate(ZONE, `2025-06-${String(n).padStart(2, '0')}`)!
/** Nothing can be published any more two days after its day. */
const settledBorder = (at: number): number => at - 2 * DAY
const run = (from: number, periods: number, more: Partial<MissingPeriods> = {}): MissingPeriods => {
  const step = more.step === undefined ? HOUR : (more.step ?? DAY)
  return { from, to: from + periods * step, step: HOUR, periods, reason: 'absent', ...more }
}
const row = (
  from: number,
  periods: number,
  sinceAt: number,
  checkedAt: number,
  more: Partial<MissingPeriods> = {},
): MissingRow => ({
  ...run(from, periods, more),
  sinceAt,
  checkedAt,
})
const check = (first: number, end: number, checkedAt: number): Check => ({ from: day(first), to: day(end), checkedAt })
const decide = (before: MissingRow[], runs: MissingPeriods[], ...checks: Check[]): MissingRow[] =>
  decideMissing(ZONE, before, checks, runs, checks, settledBorder)

const n20 = day(20)
const n21 = day(21)
const n25 = day(25)

describe('the rows of missing periods after a reply', () => {
  test.each<[string, MissingRow[], MissingRow[]]>([
    [
      'a first reply begins missing periods',
      decide([], [run(day(2), 3)], check(1, 4, n20)),
      [row(day(2), 3, n20, n20)],
    ],
    [
      'a later reply checks missing periods and keeps their age',
      decide([row(day(2), 3, n20, n20)], [run(day(2), 3)], check(1, 4, n25)),
      [row(day(2), 3, n20, n25)],
    ],
    ['a value ends missing periods', decide([row(day(2), 3, n20, n20)], [], check(1, 4, n25)), []],
    [
      'a value in the middle splits missing periods',
      decide([row(day(2), 3, n20, n20)], [run(day(2), 1), run(day(2) + 2 * HOUR, 1)], check(1, 4, n25)),
      [row(day(2), 1, n20, n25), row(day(2) + 2 * HOUR, 1, n20, n25)],
    ],
    [
      'the age of missing periods counts from the first reply after which nothing can be published',
      decide([row(day(2), 3, day(3), day(3))], [run(day(2), 3)], check(1, 4, n20)),
      [row(day(2), 3, n20, n20)],
    ],
    [
      'the parts outside the decided interval stay',
      decide([row(day(2), 48, n20, n20)], [], check(3, 4, n25)),
      [row(day(2), 24, n20, n20)],
    ],
    [
      'neighbours that are checked within a day are one row with the older times',
      decide([row(day(2), 24, n20, n20)], [run(day(3), 24)], check(3, 4, n20 + HOUR)),
      [row(day(2), 48, n20, n20)],
    ],
    [
      'neighbours that are checked at other times stay apart',
      decide([row(day(2), 24, n20, n20)], [run(day(3), 24)], check(3, 4, n21)),
      [row(day(2), 24, n20, n20), row(day(3), 24, n21, n21)],
    ],
    [
      'neighbours with another reason stay apart',
      decide([], [run(day(2), 1), run(day(2) + HOUR, 1, { reason: 'null' })], check(1, 4, n20)),
      [row(day(2), 1, n20, n20), row(day(2) + HOUR, 1, n20, n20, { reason: 'null' })],
    ],
    [
      'a period over midnight belongs to the day in which it begins',
      decide([row(day(2) - HOUR / 2, 1, n20, n20)], [run(day(2) + HOUR / 2, 1)], check(2, 3, n20)),
      [row(day(2) - HOUR / 2, 2, n20, n20)],
    ],
    [
      'weeks are cut where they begin',
      decide([row(day(2), 2, n20, n20, { step: 7 * DAY })], [], check(5, 12, n25)),
      [row(day(2), 1, n20, n20, { step: 7 * DAY })],
    ],
    [
      'days of which some value is expected have no count',
      decide([row(day(2), 3, n20, n20, { step: null, periods: null })], [], check(3, 4, n25)),
      [
        row(day(2), 1, n20, n20, { step: null, periods: null }),
        row(day(4), 1, n20, n20, { step: null, periods: null }),
      ],
    ],
    [
      'rows of another grid make no halves',
      decide([row(day(2), 2, n20, n20)], [run(day(2) + HOUR / 2, 2)], check(1, 4, n20)),
      [row(day(2) + HOUR / 2, 2, n20, n20)],
    ],
  ])('%s', (_, rows, expected) => expect(rows).toEqual(expected))

  test('years of months are counted exactly when they are cut', () => {
    const starts = Array.from(
      { length: 61 },
      (_, i) => startOfDate(ZONE, `${2015 + Math.floor(i / 12)}-${String((i % 12) + 1).padStart(2, '0')}-01`)!,
    )
    const months = {
      from: starts[0]!,
      to: starts[60]!,
      step: 30 * DAY,
      periods: 60,
      reason: 'absent' as const,
      sinceAt: n20,
      checkedAt: n20,
    }
    const scope = { from: starts[59]!, to: starts[60]!, checkedAt: n25 }
    expect(decideMissing(ZONE, [months], [scope], [], [scope], settledBorder)).toEqual([
      { ...months, to: starts[59], periods: 59 },
    ])
  })
})
