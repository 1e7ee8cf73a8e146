import { describe, expect, test } from 'vitest'
import { DAY, day, EMPTY, HOUR, loadInto, type Memory, night, type Said, show } from './coverageMemory.ts'

/* The rules of coverage by example: hours of the geos 3 and 4, a lookback of two days, October and November 2025. */

const history = (...replies: readonly Said[]): Memory => replies.reduce(loadInto, EMPTY)
const n0 = night(0)
const n1 = night(1)
const n2 = night(2)
const n3 = night(3)
const full: Said = { at: n0, days: [1, 3] }
const none = { has: [] }
/** Returns rejects with a known time. */
const rejected = (geo: number, at: number): NonNullable<Said['dismissed']> => [{ geo, at }]
const hole = (from: number, hours: number) => ({
  hours: (at: number, geo: number) => geo !== 3 || at < from || at >= from + hours * HOUR,
})
const noon = day(2) + 12 * HOUR

describe('the coverage state of each requested geo', () => {
  test.each<[string, Said[], string[]]>([
    ['a reply with an open reject is unverified', [{ ...full, rejects: 1 }], ['0 unverified 10-01..10-03 n0 since n0']],
    ['a reply with rows has the state values', [full], ['0 values 10-01..10-03 n0']],
    ['an empty reply is empty', [{ ...full, ...none }], ['0 empty 10-01..10-03 n0']],
    [
      'an empty reply that may still be revised is empty',
      [{ at: n0, days: [35, 37], ...none }],
      ['0 empty 11-04..11-06 n0'],
    ],
    [
      'an empty reply over stored values is unverified',
      [full, { ...full, at: n1, ...none }],
      ['0 unverified 10-01..10-03 n1 since n1'],
    ],
    [
      'a bad row makes the whole reply unverified',
      [full, { ...full, at: n1, rejects: 1 }],
      ['0 unverified 10-01..10-03 n1 since n1'],
    ],
    [
      'a reply whose rows are all dismissed does not refresh stored values',
      [full, { ...full, at: n1, ...none, dismissed: [null] }],
      ['0 values 10-01..10-03 n0'],
    ],
    [
      'a reply whose rows are all dismissed ends the unverified state without refreshing values',
      [full, { ...full, at: n1, rejects: 1 }, { ...full, at: n2, ...none, dismissed: [null] }],
      ['0 values 10-01..10-03 n1'],
    ],
  ])('%s', (_, replies, rows) => expect(show(history(...replies))).toEqual(rows))
})

describe('a clock that was ahead', () => {
  test('rows with a later time count as fetched before the next reply, so that the days to come are requested', () => {
    const ahead: Said = { at: night(20), days: [30, 55] }
    const rows = history(ahead, { at: n1, days: [30, 37] }).coverage
    expect(show({ ...EMPTY, coverage: rows })).toEqual(['0 values 10-30..11-24 n1'])
    expect(rows.map(({ settledFor }) => settledFor < 0)).toEqual([true])
  })
})

describe('replaced and merged coverage rows', () => {
  const own: Said = { at: n0, days: [1, 6], geos: [3], has: [3] }
  test.each<[string, Said[], string[]]>([
    [
      'a reply for all geos replaces the rows of each geo in its window',
      [own, { at: n3, days: [2, 4] }],
      ['0 values 10-02..10-04 n3', '3 values 10-01..10-02 n0', '3 values 10-04..10-06 n0'],
    ],
    [
      'a reply for one geo replaces only the rows of this geo',
      [full, { ...own, at: n1, days: [1, 2] }, { ...own, at: n2, days: [1, 2] }],
      ['0 values 10-01..10-03 n0', '3 values 10-01..10-02 n2'],
    ],
    [
      'an unverified reply for all geos keeps the rows of single geos',
      [own, { at: n3, days: [2, 4], rejects: 1 }],
      ['0 unverified 10-02..10-04 n3 since n3', '3 values 10-01..10-06 n0'],
    ],
    [
      'an unverified geo counts as requested by a reply for all geos that is unverified too (S6)',
      [
        { ...own, rejects: 1 },
        { at: n3, days: [2, 4], rejects: 1 },
      ],
      [
        '0 unverified 10-02..10-04 n3 since n3',
        '3 unverified 10-01..10-02 n0 since n0',
        '3 unverified 10-02..10-04 n3 since n0',
        '3 unverified 10-04..10-06 n0 since n0',
      ],
    ],
    [
      'a part that is still unverified does not take the time of its older neighbour (S16)',
      [
        { at: n0, days: [1, 4], rejects: 1 },
        { at: n2, days: [1, 2], rejects: 1 },
      ],
      ['0 unverified 10-01..10-02 n2 since n0', '0 unverified 10-02..10-04 n0 since n0'],
    ],
    [
      'adjacent rows merge once both are settled, with the age of the older one',
      [
        { at: n0, days: [1, 2] },
        { at: n1, days: [2, 3] },
        { at: n2, days: [3, 5] },
        { at: n3, days: [5, 6] },
      ],
      ['0 values 10-01..10-02 n0', '0 values 10-02..10-05 n1', '0 values 10-05..10-06 n3'],
    ],
    [
      'the rows of a first and a last value keep their times, because those days are requested again',
      [full, { at: n1, days: [2, 3] }, { at: n2, days: [3, 5], has: [] }],
      ['0 values 10-01..10-02 n0', '0 values 10-02..10-03 n1', '0 empty 10-03..10-05 n2'],
    ],
    [
      'a provisional part remains a separate row',
      [
        { at: n0, days: [30, 33] },
        { at: n1, days: [33, 37] },
      ],
      ['0 values 10-30..11-02 n0', '0 values 11-02..11-06 n1'],
    ],
    [
      'a settled part merges with its neighbour when the rest is fetched again',
      [
        { at: n0, days: [30, 36] },
        { at: n1, days: [32, 37] },
      ],
      ['0 values 10-30..11-01 n0', '0 values 11-01..11-06 n1'],
    ],
    [
      'a geo with stored values that is missing in a reply for all geos is unverified',
      [full, { at: n1, days: [2, 5], has: [3] }],
      ['0 values 10-01..10-02 n0', '0 values 10-02..10-05 n1', '4 unverified 10-02..10-05 n1 since n1'],
    ],
    [
      'a known geo without stored values in the window shares the row of all geos',
      [
        { at: n0, days: [25, 31] },
        { at: n0, days: [31, 36], has: [3] },
      ],
      ['0 values 10-25..11-05 n0'],
    ],
    [
      'a geo with only dismissed rejects is not unverified',
      [full, { ...full, at: n1, has: [3], dismissed: rejected(4, noon) }],
      ['0 values 10-01..10-03 n1'],
    ],
    [
      'an unverified part keeps its start time when the rest becomes unverified',
      [
        { ...full, rejects: 1 },
        { at: n2, days: [2, 4], rejects: 1 },
      ],
      [
        '0 unverified 10-01..10-02 n0 since n0',
        '0 unverified 10-02..10-03 n2 since n0',
        '0 unverified 10-03..10-04 n2 since n2',
      ],
    ],
    [
      'a geo is unverified since the time at which all geos were',
      [full, { ...full, at: n1, rejects: 1 }, { ...full, at: n2, geos: [3], has: [3], rejects: 1 }],
      ['0 unverified 10-01..10-03 n1 since n1', '3 unverified 10-01..10-03 n2 since n1'],
    ],
    [
      'an unverified window of all geos ends only with a reply for all geos',
      [
        { ...full, rejects: 1 },
        { ...full, at: n1, geos: [3], has: [3] },
        { ...full, at: n2, geos: [4], has: [4] },
      ],
      ['0 unverified 10-01..10-03 n0 since n0', '3 values 10-01..10-03 n1', '4 values 10-01..10-03 n2'],
    ],
  ])('%s', (_, replies, rows) => expect(show(history(...replies))).toEqual(rows))

  test('a merge of replies does not extend the time for which values are settled', () => {
    const nights = history({ at: n0, days: [30, 36] }, { at: n1, days: [33, 36] }, { at: n3, days: [34, 39] })
    for (const { settledFor, to, fetchedAt } of nights.coverage.slice(-1)) expect(settledFor).toBe(fetchedAt - to)
  })
})

describe('days of which a reply lacks too many values (S10)', () => {
  const unverifiedDays = new Map([[3, [2]]])
  const thin: Said = { ...full, at: n1, ...hole(noon, 12), unverifiedDays }
  test.each<[string, Said[], string[]]>([
    [
      'a day with too few values is unverified for its geo, and the rest of the window is not',
      [
        { ...full, days: [1, 4] },
        { ...thin, days: [1, 4] },
      ],
      ['0 values 10-01..10-04 n1', '3 unverified 10-02..10-03 n1 since n1'],
    ],
    [
      'a second unverified reply keeps the start time',
      [full, thin, { ...thin, at: n2 }],
      ['0 values 10-01..10-03 n2', '3 unverified 10-02..10-03 n2 since n1'],
    ],
    [
      'a believed reply ends the unverified state of a day',
      [full, thin, { ...thin, at: n2, unverifiedDays: new Map() }],
      ['0 values 10-01..10-03 n2'],
    ],
    [
      'returned values end the unverified state of their day',
      [full, thin, { ...full, at: n2, days: [2, 3], geos: [3], has: [3] }],
      ['0 values 10-01..10-03 n1', '3 values 10-02..10-03 n2'],
    ],
    [
      'an unverified state never exceeds the window of its reply',
      [full, { ...thin, days: [1, 2], unverifiedDays: new Map([[3, [1, 2]]]) }],
      ['0 values 10-01..10-02 n1', '0 values 10-02..10-03 n0', '3 unverified 10-01..10-02 n1 since n1'],
    ],
    [
      'no single day is unverified if the whole reply is',
      [full, { ...thin, rejects: 1 }],
      ['0 unverified 10-01..10-03 n1 since n1'],
    ],
  ])('%s', (_, replies, rows) => expect(show(history(...replies))).toEqual(rows))
})

test('replies merged for a monthly series have the age of their oldest part', () => {
  const first = day(30) + 10 * HOUR
  const second = day(33) + 10 * HOUR
  const hourly = (n: number) => ({ lookback: DAY, values: new Map([[4, { at: [day(n)], steps: HOUR }]]) })
  const month = new Map([[3, { at: [day(32)], steps: 30 * DAY }]])
  const { coverage } = history(
    { ...hourly(1), at: first - DAY, days: [1, 2] },
    { ...hourly(2), at: first, days: [2, 32] },
    { ...hourly(21), at: second, days: [20, 32] },
    { ...hourly(33), at: second + DAY, days: [33, 34] },
    { at: second, days: [32, 33], values: month, lookback: DAY },
  )
  const october = coverage.find(({ to }) => to === day(32))!
  expect(october).toMatchObject({ from: day(2), fetchedAt: first })
  // The value of October was fetched before the month was over.
  expect(october.settledFor).toBeLessThan(0)
})

test('empty replies of different nights keep their times, because each is requested again', () => {
  const later = { ...none, lookback: DAY, at: day(20) + 10 * HOUR }
  const replies = [
    { ...later, days: [1, 9] },
    { ...later, at: later.at + DAY, days: [1, 2] },
    { ...later, at: later.at + DAY + HOUR / 2, days: [2, 3] },
  ] as const
  const { coverage } = history(...replies)
  expect(coverage.map(({ from, to, fetchedAt }) => [from, to, fetchedAt])).toEqual([
    [day(1), day(3), later.at + DAY],
    [day(3), day(9), later.at],
  ])
})

test('a dismissal alone changes nothing: the next reply with the same rejects is trusted', () => {
  const spoiled: Said = { ...full, ...hole(noon, 1), rejects: 1 }
  expect(show(history(spoiled))).toEqual(['0 unverified 10-01..10-03 n0 since n0'])
  const again: Said = { ...spoiled, at: n1, rejects: 0, dismissed: rejected(3, noon) }
  expect(show(history(spoiled, again))).toEqual(['0 values 10-01..10-03 n1'])
  expect(show(history({ ...spoiled, ...none }, { ...again, ...none }))).toEqual(['0 empty 10-01..10-03 n1'])
})
