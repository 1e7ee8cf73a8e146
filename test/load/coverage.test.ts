import { describe, expect, test } from 'vitest'
import { DAY, day, EMPTY, HOUR, hear, type Memory, night, type Said, show } from './coverageMemory.ts'

/* The rules of coverage by example: hours of the geos 3 and 4, a lookback of two days, October and November 2025. */

const history = (...answers: readonly Said[]): Memory => answers.reduce(hear, EMPTY)
const [n0, n1, n2, n3] = [night(0), night(1), night(2), night(3)]
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
    [
      'an empty reply is empty, and absent once it is settled',
      [{ ...full, ...none }],
      ['0 empty 10-01..10-03 n0', '0 absent 10-01..10-03 ×null n0 since n0'],
    ],
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
  ])('%s', (_, answers, rows) => expect(show(history(...answers))).toEqual(rows))
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
      'an unverified geo counts as requested by a reply for all geos that is unverified too (rule 6)',
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
      'a part that is still unverified does not take the time of its older neighbour (rule 15)',
      [
        { at: n0, days: [1, 4], rejects: 1 },
        { at: n2, days: [1, 2], rejects: 1 },
      ],
      ['0 unverified 10-01..10-02 n2 since n0', '0 unverified 10-02..10-04 n0 since n0'],
    ],
    [
      'adjacent rows merge once both are settled, with the age of the older one',
      [full, { at: n1, days: [3, 5] }],
      ['0 values 10-01..10-05 n0'],
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
      ['0 values 10-01..10-05 n0', '4 unverified 10-02..10-05 n1 since n1'],
    ],
    [
      'a known geo without stored values in the window is absent',
      [
        { at: n0, days: [25, 31] },
        { at: n0, days: [31, 36], has: [3] },
      ],
      ['0 values 10-25..11-05 n0', '4 absent 10-31..11-02 ×48 n0 since n0'],
    ],
    [
      'a geo with only rejects is neither unverified nor absent',
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
  ])('%s', (_, answers, rows) => expect(show(history(...answers))).toEqual(rows))

  test('a merge of replies does not extend the time for which values are settled', () => {
    const nights = history({ at: n0, days: [30, 36] }, { at: n1, days: [33, 36] }, { at: n3, days: [34, 39] })
    for (const { settledFor, to, fetchedAt } of nights.coverage.slice(-1)) expect(settledFor).toBe(fetchedAt - to)
  })
})

describe('absences', () => {
  const lacking: Said = { ...full, ...hole(noon, 3) }
  const missing = '3 absent 10-02T12:00..10-02T15:00 ×3'
  test.each<[string, Said[], string[]]>([
    ['are the periods that a regular series lacks', [lacking], ['0 values 10-01..10-03 n0', `${missing} n0 since n0`]],
    [
      'begin once the period is settled',
      [{ at: n0, days: [33, 36], hours: (at) => at < day(33) + 20 * HOUR }],
      ['0 values 11-02..11-05 n0'],
    ],
    ['end with their value', [lacking, { ...full, at: n1 }], ['0 values 10-01..10-03 n1']],
    [
      'are as old as the first reply without the values',
      [lacking, { ...lacking, at: n1 }],
      ['0 values 10-01..10-03 n1', `${missing} n1 since n0`],
    ],
    [
      'keep their age through an unverified reply, which counts as an attempt',
      [lacking, { ...lacking, at: n1, rejects: 1 }, { ...lacking, at: n3 }],
      ['0 values 10-01..10-03 n3', `${missing} n3 since n0`],
    ],
    [
      'end with a value in an unverified reply',
      [lacking, { ...full, at: n1, rejects: 1 }],
      ['0 unverified 10-01..10-03 n1 since n1'],
    ],
    [
      'are not added by an unverified reply',
      [full, { ...lacking, at: n1, rejects: 1 }],
      ['0 unverified 10-01..10-03 n1 since n1'],
    ],
    [
      'do not contain a dismissed reject',
      [{ ...full, ...hole(noon, 1), dismissed: rejected(3, noon) }],
      ['0 values 10-01..10-03 n0'],
    ],
    [
      'are unknown if the time of a dismissed reject is unknown',
      [{ ...lacking, dismissed: [null] }],
      ['0 values 10-01..10-03 n0'],
    ],
    ['do not exist for events', [{ ...full, hours: (at) => at % (5 * HOUR) === 0 }], ['0 values 10-01..10-03 n0']],
    [
      'of all geos become absences of the geos that still lack a value',
      [full, { at: n0, days: [3, 4], ...none }, { at: n1, days: [3, 4], has: [3] }],
      ['0 values 10-01..10-04 n0', '4 absent 10-03..10-04 ×24 n1 since n0'],
    ],
    [
      'of all geos remain when a single geo is fetched',
      [full, { at: n0, days: [3, 4], ...none }, { at: n1, days: [3, 4], geos: [3], has: [3] }],
      [
        '0 values 10-01..10-03 n0',
        '0 empty 10-03..10-04 n0',
        '3 values 10-03..10-04 n1',
        '0 absent 10-03..10-04 ×24 n0 since n0',
      ],
    ],
  ])('absences %s', (_, answers, rows) => expect(show(history(...answers))).toEqual(rows))

  test('absences of a new geo are found in earlier replies', () => {
    const days = Array.from(
      { length: 9 },
      (_, i): Said => ({ at: n0, days: [i + 1, i + 2], has: i < 8 ? [3] : [3, 4] }),
    )
    expect(show(history(...days))).toEqual(['0 values 10-01..10-10 n0', '4 absent 10-01..10-09 ×192 n0 since n0'])
  })

  const months = (...starts: number[]) => new Map([[3, { at: starts, steps: starts.map(() => 31 * DAY + HOUR) }]])
  test('the absence of a month ends with its value in a reply for one instant', () => {
    const empty: Said = { at: night(40), days: [23, 26], values: new Map() }
    expect(show(history(empty))).toEqual(['0 empty 10-23..10-26 n40', '0 absent 10-23..10-26 ×null n40 since n40'])
    const instant: Said = { at: night(41), days: null, values: months(day(1)) }
    expect(show(history(empty, instant))).toEqual(['0 empty 10-23..10-26 n40'])
  })

  test('absences are the same for any window size', () => {
    const has = (at: number, geo: number): boolean => geo === 3 || at < day(5) || at >= day(7)
    const answers = (length: number) =>
      Array.from({ length: 12 / length }, (_, i): Said => {
        return { at: n0, days: [1 + i * length, 1 + (i + 1) * length], hours: has }
      })
    for (const length of [1, 2, 3, 4, 6, 12])
      expect(show(history(...answers(length))), `${length} days`).toEqual([
        '0 values 10-01..10-13 n0',
        '4 absent 10-05..10-07 ×48 n0 since n0',
      ])
  })
})

test('replies merged for a monthly series have the age of their oldest part', () => {
  const [first, second] = [day(30) + 10 * HOUR, day(33) + 10 * HOUR]
  const empty = { ...none, lookback: DAY }
  const month = new Map([[3, { at: [day(32)], steps: 30 * DAY }]])
  const { coverage } = history(
    { ...empty, at: first, days: [1, 32] },
    { ...empty, at: second, days: [20, 32] },
    { at: second, days: [32, 33], values: month, lookback: DAY },
  )
  const october = coverage.find(({ to }) => to === day(32))!
  expect(october).toMatchObject({ from: day(1), fetchedAt: first })
  // The value of October was fetched before the month was over.
  expect(october.settledFor).toBeLessThan(0)
})

test('a dismissal alone changes nothing: the next reply with the same rejects is trusted', () => {
  const spoiled: Said = { ...full, ...hole(noon, 1), rejects: 1 }
  expect(show(history(spoiled))).toEqual(['0 unverified 10-01..10-03 n0 since n0'])
  const again: Said = { ...spoiled, at: n1, rejects: 0, dismissed: rejected(3, noon) }
  expect(show(history(spoiled, again))).toEqual(['0 values 10-01..10-03 n1'])
  expect(show(history({ ...spoiled, ...none }, { ...again, ...none }))).toEqual(['0 empty 10-01..10-03 n1'])
})
