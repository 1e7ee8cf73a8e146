import { describe, expect, test } from 'vitest'
import { isOnGrid } from '../../src/judge/grid.ts'
import { DAY, EARLIEST, HOUR, type Instant } from '../../src/util/time/instant.ts'
import { offsetAt } from '../../src/util/time/zone.ts'
import {
  at,
  countMissing,
  datesBetween,
  dayStart,
  every,
  findCadence,
  findGaps,
  hours,
  kindsOf,
  MADRID,
  noise,
  onDays,
  QUARTER,
  type Timeline,
  weekday,
  without,
} from './timeline.ts'

const FROM = '2025-01-01'
const TO = '2026-01-01'
const YEAR = datesBetween(FROM, TO)
const LORD_HOWE = 'Australia/Lord_Howe'
const isWorkday = (date: string): boolean => weekday(date) >= 1 && weekday(date) <= 5
const onTheHour = (instant: Instant): boolean => instant % HOUR === 0
/** Firsts of months. */
const firsts = (months: readonly number[], years: readonly number[]): string[] =>
  years.flatMap((year) => months.map((month) => `${year}-${String(month).padStart(2, '0')}-01`))
const ALL_MONTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
const DECADE = [2015, 2016, 2017, 2018, 2019, 2020, 2021, 2022, 2023, 2024, 2025]
const sunHours = (index: number): number[] => {
  const half = 5 + 2.5 * Math.sin(((index - 80) / 365) * 2 * Math.PI)
  return hours(Math.ceil(13 - half), Math.floor(13 + half))
}

/** Timelines as services publish them. None of them lacks a value. */
type Honest = readonly [string, () => Timeline, readonly (number | string)[]]
const HONEST: readonly Honest[] = [
  ['hours', () => ({ values: every(HOUR, FROM, TO) }), [HOUR]],
  ['quarter-hours', () => ({ values: every(QUARTER, FROM, TO) }), [QUARTER]],
  ['five minutes', () => ({ values: every(300, FROM, '2025-07-01') }), [300]],
  ['minutes', () => ({ values: every(60, '2025-06-01', '2025-09-01') }), [60]],
  ['solar at night', () => ({ values: onDays(YEAR, (_, i) => sunHours(i)) }), ['daily']],
  [
    'solar at night grouped by hours',
    () => ({ values: onDays(YEAR, (_, i) => sunHours(i)), grouped: HOUR }),
    ['daily'],
  ],
  [
    'solar quarter-hours',
    () => ({ values: onDays(YEAR, (_, i) => sunHours(i).flatMap((s) => [s, s + 900, s + 1800, s + 2700])) }),
    ['daily'],
  ],
  [
    'days, but only from Monday to Friday',
    () => ({ values: onDays(YEAR.filter(isWorkday), () => [0]) }),
    ['irregular'],
  ],
  [
    'days grouped by the service, but only those on which the market opens',
    () => ({
      values: onDays(
        YEAR.filter((date) => weekday(date) % 3 !== 0),
        () => [0],
      ),
      grouped: DAY,
    }),
    ['irregular'],
  ],
  [
    'whole days of hours from Monday to Friday',
    () => ({ values: onDays(YEAR.filter(isWorkday), () => hours(0, 24)) }),
    ['irregular'],
  ],
  [
    'days from Monday to Saturday',
    () => ({
      values: onDays(
        YEAR.filter((date) => weekday(date) !== 0),
        () => [0],
      ),
    }),
    ['irregular'],
  ],
  ['sessions of quarter-hours from noon', () => ({ values: onDays(YEAR, () => hours(12, 24, QUARTER)) }), ['daily']],
  ['sessions of hours from noon', () => ({ values: onDays(YEAR, () => hours(12, 24)) }), ['daily']],
  [
    'sessions from noon on working days',
    () => ({ values: onDays(YEAR.filter(isWorkday), () => hours(12, 24)) }),
    ['irregular'],
  ],
  [
    'few hours on most days, with now and then three whole days',
    () => ({
      values: onDays(YEAR, (_, i) =>
        i % 40 < 3 ? hours(0, 24) : hours(0, 24).filter((s) => noise(i * 24 + s) < 0.06),
      ),
    }),
    ['irregular'],
  ],
  [
    'few hours on nine days in ten',
    () => ({ values: onDays(YEAR, (_, i) => (noise(i) < 0.9 ? hours(18, 18 + 2 + (i % 4)) : [])) }),
    ['irregular'],
  ],
  [
    'two hours on most evenings',
    () => ({ values: onDays(YEAR, (_, i) => (i % 11 === 0 ? [] : [20 * HOUR, 21 * HOUR])) }),
    ['irregular'],
  ],
  [
    'events at midnight on a day in five',
    () => ({
      values: onDays(
        YEAR.filter((_, i) => noise(i + 5000) < 0.2 || [100, 107, 114].includes(i)),
        () => [0],
      ),
    }),
    ['irregular'],
  ],
  [
    'events at any second',
    () => ({
      values: YEAR.map((date, i) => dayStart(date) + Math.floor(noise(i) * DAY)).filter((_, i) => noise(i + 999) < 0.4),
    }),
    ['irregular'],
  ],
  ['two values', () => ({ values: [dayStart(FROM), dayStart('2025-07-01')] }), ['irregular']],
  ['days at local midnight', () => ({ values: onDays(YEAR, () => [0]) }), [DAY]],
  ['days at local noon', () => ({ values: onDays(YEAR, () => [12 * HOUR]) }), [DAY]],
  ['days at 23:00 UTC all year', () => ({ values: YEAR.map((date) => at(`${date}T23:00:00Z`)) }), [DAY, DAY, DAY]],
  ...hours(0, 4).map(
    (second): Honest => [
      `days at ${second / HOUR}:00 UTC all year`,
      () => ({ values: YEAR.map((date) => at(`${date}T00:00:00Z`) + second) }),
      [DAY, DAY, DAY],
    ],
  ),
  ['days at 01:30 UTC all year', () => ({ values: YEAR.map((date) => at(`${date}T01:30:00Z`)) }), [DAY, DAY, DAY]],
  ['days at noon UTC all year', () => ({ values: YEAR.map((date) => at(`${date}T12:00:00Z`)) }), [DAY, DAY, DAY]],
  ['hours at half past', () => ({ values: every(HOUR, FROM, TO).map((one) => one + 1800) }), [HOUR]],
  [
    'quarter-hours at seven minutes past',
    () => ({ values: every(QUARTER, FROM, TO).map((one) => one + 420) }),
    [QUARTER],
  ],
  ['four hours of the local clock', () => ({ values: onDays(YEAR, () => hours(0, 24, 4 * HOUR)) }), [4 * HOUR]],
  ['two hours of the local clock', () => ({ values: onDays(YEAR, () => hours(0, 24, 2 * HOUR)) }), [2 * HOUR]],
  [
    'six hours of UTC',
    () => ({ values: every(6 * HOUR, FROM, TO).map((one) => one + HOUR) }),
    [6 * HOUR, 6 * HOUR, 6 * HOUR],
  ],
  [
    'six hours of UTC until a week after a clock change',
    () => ({ values: every(6 * HOUR, '2025-06-01', '2025-11-02') }),
    [6 * HOUR, 6 * HOUR],
  ],
  [
    'hours where clocks change by half an hour',
    () => ({ values: every(HOUR, FROM, TO, LORD_HOWE), zone: LORD_HOWE }),
    [HOUR],
  ],
  [
    'half hours where clocks change by half an hour',
    () => ({ values: every(1800, FROM, TO, LORD_HOWE), zone: LORD_HOWE }),
    [1800],
  ],
  [
    'quarter-hours where clocks change by half an hour',
    () => ({ values: every(QUARTER, FROM, TO, LORD_HOWE), zone: LORD_HOWE }),
    [QUARTER],
  ],
  [
    'days where clocks change by half an hour',
    () => ({ values: onDays(datesBetween(FROM, TO, LORD_HOWE), () => [0], LORD_HOWE), zone: LORD_HOWE }),
    [DAY],
  ],
  [
    'hours where clocks change by two hours',
    () => ({ values: every(HOUR, FROM, TO, 'Antarctica/Troll'), zone: 'Antarctica/Troll' }),
    [HOUR],
  ],
  [
    'days at midnight, which clocks skip once, and five minutes soon after',
    () => ({
      values: [
        ...datesBetween(FROM, '2025-04-06', 'Asia/Beirut').map((date) => dayStart(date, 'Asia/Beirut')),
        ...every(300, '2025-03-16', '2025-03-17', 'Asia/Beirut'),
        ...every(300, '2025-04-06', '2025-09-01', 'Asia/Beirut'),
      ],
      zone: 'Asia/Beirut',
    }),
    [DAY, 300, DAY, 300],
  ],
  [
    'days that begin at one on a clock change',
    () => ({
      values: onDays(datesBetween(FROM, TO, 'Asia/Beirut'), () => [12 * HOUR], 'Asia/Beirut'),
      zone: 'Asia/Beirut',
    }),
    [DAY],
  ],
  [
    'weeks',
    () => ({
      values: onDays(
        YEAR.filter((date) => weekday(date) === 1),
        () => [0],
      ),
    }),
    [7 * DAY],
  ],
  [
    'weeks at 23:00 UTC',
    () => ({ values: YEAR.filter((date) => weekday(date) === 0).map((date) => at(`${date}T23:00:00Z`)) }),
    [7 * DAY, 7 * DAY, 7 * DAY],
  ],
  ['months', () => ({ values: onDays(firsts(ALL_MONTHS, DECADE), () => [0]) }), [30 * DAY]],
  [
    'months grouped by the service',
    () => ({ values: onDays(firsts(ALL_MONTHS, DECADE), () => [0]), grouped: 30 * DAY }),
    [30 * DAY],
  ],
  [
    'months from the first in UTC',
    () => ({ values: firsts(ALL_MONTHS, [2025]).map((date) => at(`${date}T00:00:00Z`)) }),
    [30 * DAY, 30 * DAY, 30 * DAY],
  ],
  ['quarters', () => ({ values: onDays(firsts([1, 4, 7, 10], DECADE), () => [0]) }), [91 * DAY]],
  ['years', () => ({ values: onDays(firsts([1], DECADE), () => [0]) }), [365 * DAY]],
  ['hydrological years', () => ({ values: onDays(firsts([10], DECADE), () => [0]) }), [365 * DAY]],
  ['hours that begin in the middle of a day', () => ({ values: every(HOUR, FROM, TO).slice(3000 + 11) }), [HOUR]],
  ['hours that end in the middle of a day', () => ({ values: every(HOUR, FROM, TO).slice(0, 3000 + 11) }), [HOUR]],
  [
    'hours, and quarter-hours from a midnight',
    () => ({ values: [...every(HOUR, FROM, '2025-10-01'), ...every(QUARTER, '2025-10-01', TO)] }),
    [HOUR, QUARTER],
  ],
  [
    'hours, and quarter-hours from a noon',
    () => ({
      values: every(QUARTER, FROM, TO).filter((one) => onTheHour(one) || one >= dayStart('2025-10-01') + DAY / 2),
    }),
    [HOUR, QUARTER],
  ],
  [
    'hours, and quarter-hours from a midnight of UTC after which few hours are left',
    () => ({ values: every(QUARTER, FROM, TO).filter((one) => onTheHour(one) || one >= at('2025-10-01T18:00:00Z')) }),
    [HOUR, QUARTER],
  ],
  [
    'quarter-hours, and hours from a midnight',
    () => ({ values: [...every(QUARTER, FROM, '2025-10-01'), ...every(HOUR, '2025-10-01', TO)] }),
    [QUARTER, HOUR],
  ],
  [
    'quarter-hours, and hours from a morning',
    () => ({
      values: every(QUARTER, FROM, TO).filter((one) => onTheHour(one) || one < dayStart('2025-10-01') + 8 * HOUR),
    }),
    [QUARTER, HOUR],
  ],
  [
    'days, and hours since an announcement',
    () => ({
      values: [...onDays(datesBetween(FROM, '2025-12-20'), () => [0]), ...every(HOUR, '2025-12-20', TO)],
      announced: ['2025-12-20'],
    }),
    [DAY, HOUR],
  ],
  [
    'quarter-hours, and hours since an announcement three days ago',
    () => ({
      values: [...every(QUARTER, FROM, '2025-12-29'), ...every(HOUR, '2025-12-29', TO)],
      announced: ['2025-12-29'],
    }),
    [QUARTER, HOUR],
  ],
  [
    'days, and months since an announcement',
    () => ({
      values: [
        ...onDays(datesBetween(FROM, '2025-06-01'), () => [0]),
        ...onDays(firsts([6, 7, 8, 9, 10, 11, 12], [2025]), () => [0]),
      ],
      announced: ['2025-06-01'],
    }),
    [DAY, 30 * DAY],
  ],
  [
    'hours, of which a week was rewritten to quarter-hours',
    () => ({ values: [...every(HOUR, FROM, TO), ...every(QUARTER, '2025-05-05', '2025-05-12')] }),
    [HOUR, QUARTER, HOUR],
  ],
  [
    'hours, of which last week was rewritten to quarter-hours',
    () => ({ values: [...every(HOUR, FROM, TO), ...every(QUARTER, '2025-12-22', '2025-12-29')] }),
    [HOUR, QUARTER, HOUR],
  ],
  [
    'hours, of which a day was rewritten to quarter-hours',
    () => ({ values: [...every(HOUR, FROM, TO), ...every(QUARTER, '2025-05-05', '2025-05-06')] }),
    [HOUR, QUARTER, HOUR],
  ],
  [
    'hours, of which a day and a half was rewritten to quarter-hours',
    () => ({ values: [...every(HOUR, FROM, TO), ...every(QUARTER, '2025-05-05', '2025-05-07').slice(0, 144)] }),
    [HOUR, QUARTER, HOUR],
  ],
  [
    'days, of which a month was rewritten to hours',
    () => ({ values: [...onDays(YEAR, () => [0]), ...every(HOUR, '2025-05-01', '2025-06-01')] }),
    [DAY, HOUR, DAY],
  ],
  [
    'hours, quarter-hours, and five minutes',
    () => ({
      values: [
        ...every(HOUR, FROM, '2025-04-01'),
        ...every(QUARTER, '2025-04-01', '2025-09-01'),
        ...every(300, '2025-09-01', TO),
      ],
    }),
    [HOUR, QUARTER, 300],
  ],
  [
    'months for years, and days later',
    () => ({
      values: [...onDays(firsts(ALL_MONTHS, [2022, 2023, 2024]), () => [0]), ...onDays(YEAR.slice(0, 90), () => [0])],
    }),
    [30 * DAY, DAY],
  ],
  [
    'weeks, and hours later',
    () => ({
      values: [
        ...onDays(
          datesBetween('2024-01-01', '2025-01-01').filter((date) => weekday(date) === 1),
          () => [0],
        ),
        ...every(HOUR, FROM, '2025-04-01'),
      ],
    }),
    [7 * DAY, HOUR],
  ],
  [
    'days, and months later',
    () => ({
      values: [
        ...onDays(datesBetween(FROM, '2025-06-01'), () => [0]),
        ...onDays(firsts([6, 7, 8, 9, 10, 11, 12], [2025]), () => [0]),
      ],
    }),
    [DAY, 30 * DAY],
  ],
  ['settled hours that come three months late', () => ({ values: every(HOUR, FROM, '2025-10-01') }), [HOUR]],
]

describe('honest data lacks nothing', () => {
  test.each(HONEST)('nothing is missing in %s', (_, timeline, kinds) => {
    const data = timeline()
    expect(kindsOf(findCadence(data))).toEqual(kinds)
    expect(findGaps(data)).toEqual([])
  })
})

/** Timelines that lack values: all of these are missing and nothing else. */
const LOST: readonly [string, () => Timeline & { readonly lost: readonly Instant[] }][] = [
  ...(
    [
      ['an hour', every(HOUR, FROM, TO), (one) => one === at('2025-03-10T11:00:00Z')],
      [
        'both hours of a repeated one',
        every(HOUR, FROM, TO),
        (one) => one === at('2025-10-26T00:00:00Z') || one === at('2025-10-26T01:00:00Z'),
      ],
      ['the hour after the skipped one', every(HOUR, FROM, TO), (one) => one === at('2025-03-30T01:00:00Z')],
      [
        'a whole day of hours',
        every(HOUR, FROM, TO),
        (one) => one >= dayStart('2025-03-10') && one < dayStart('2025-03-11'),
      ],
      [
        'the whole short day',
        every(HOUR, FROM, TO),
        (one) => one >= dayStart('2025-03-30') && one < dayStart('2025-03-31'),
      ],
      [
        'three months of hours',
        every(HOUR, FROM, TO),
        (one) => one >= dayStart('2025-03-10') && one < dayStart('2025-06-11'),
      ],
      [
        'every other quarter-hour of a day',
        every(QUARTER, FROM, TO),
        (one) => one >= dayStart('2025-03-10') && one < dayStart('2025-03-11') && one % 1800 !== 0,
      ],
      [
        'all but the full hours of a day',
        every(QUARTER, FROM, TO),
        (one) => one >= dayStart('2025-03-10') && one < dayStart('2025-03-11') && !onTheHour(one),
      ],
      [
        'all but the full hours of thirteen days',
        every(QUARTER, FROM, TO),
        (one) => one >= dayStart('2025-03-10') && one < dayStart('2025-03-23') && !onTheHour(one),
      ],
      [
        'all but the full hours of the first thirteen days',
        every(QUARTER, FROM, TO),
        (one) => one > dayStart(FROM) && one < dayStart('2025-01-14') && !onTheHour(one),
      ],
      [
        'quarter-hours unevenly in the first two weeks',
        every(QUARTER, FROM, '2025-01-22'),
        (one) => one > dayStart(FROM) && one < dayStart('2025-01-15') && noise(one / QUARTER) < 0.5,
      ],
      [
        'most quarter-hours of three weeks, with some of them left on every day',
        every(QUARTER, FROM, TO),
        (one) =>
          one >= dayStart('2025-03-10') &&
          one < dayStart('2025-03-31') &&
          !onTheHour(one) &&
          one % DAY !== 13 * HOUR + 900,
      ],
      [
        'most quarter-hours of two weeks, with one of them left in the middle',
        every(QUARTER, FROM, TO),
        (one) =>
          one >= dayStart('2025-03-10') &&
          one < dayStart('2025-03-24') &&
          !onTheHour(one) &&
          one !== at('2025-03-17T12:15:00Z'),
      ],
      [
        'all but one value a day for ten days',
        every(HOUR, FROM, TO),
        (one) => one >= dayStart('2025-02-10') && one < dayStart('2025-02-20') && one % DAY !== 23 * HOUR,
      ],
      [
        'all but a week of quarter-hours',
        every(QUARTER, FROM, '2025-03-01'),
        (one) => one > dayStart(FROM) && one < dayStart('2025-02-22') && noise(one / QUARTER) < 0.6,
      ],
      [
        'a few of five minutes on every day',
        every(300, FROM, '2025-04-01'),
        (one) => one > dayStart(FROM) && one < dayStart('2025-03-31') && noise(one / 300) < 0.015,
      ],
      [
        'an hour where clocks change by half an hour',
        every(HOUR, FROM, TO),
        (one) => one === at('2025-10-04T15:00:00Z'),
      ],
    ] satisfies [string, readonly Instant[], (one: Instant) => boolean][]
  ).map(([name, all, isLost]): [string, () => Timeline & { lost: Instant[] }] => [
    name,
    () => ({ values: all.filter((one) => !isLost(one)), lost: all.filter(isLost) }),
  ]),
  [
    'a day of days',
    () =>
      daysWithout(
        onDays(YEAR, () => [0]),
        100,
      ),
  ],
  [
    'a day of days at noon on which clocks change',
    () =>
      daysWithout(
        onDays(YEAR, () => [12 * HOUR]),
        YEAR.indexOf('2025-03-30'),
      ),
  ],
  [
    'a day of days at 23:00 UTC',
    () =>
      daysWithout(
        YEAR.map((date) => at(`${date}T23:00:00Z`)),
        200,
      ),
  ],
  [
    'a week of weeks',
    () =>
      daysWithout(
        onDays(
          YEAR.filter((date) => weekday(date) === 1),
          () => [0],
        ),
        20,
      ),
  ],
  [
    'a month of months',
    () =>
      daysWithout(
        onDays(firsts(ALL_MONTHS, DECADE), () => [0]),
        20,
      ),
  ],
  [
    'a quarter of quarters',
    () =>
      daysWithout(
        onDays(firsts([1, 4, 7, 10], DECADE), () => [0]),
        20,
      ),
  ],
  [
    'a hydrological year of years',
    () =>
      daysWithout(
        onDays(firsts([10], DECADE), () => [0]),
        5,
      ),
  ],
  [
    'an hour of hours at half past',
    () =>
      daysWithout(
        every(HOUR, FROM, TO).map((one) => one + 1800),
        4000,
      ),
  ],
  ['a period of six hours of UTC', () => daysWithout(every(6 * HOUR, FROM, TO), 700)],
]

function daysWithout(values: readonly Instant[], index: number) {
  return { values: values.toSpliced(index, 1), lost: [values[index]!] }
}

describe('every lost value is missing, and nothing else is', () => {
  test.each(LOST)('exactly the lost values are missing after the loss of %s', (_, timeline) => {
    const { lost, ...data } = timeline()
    const gaps = findGaps(data)
    expect(countMissing(gaps)).toBe(lost.length)
    expect(lost.filter((one) => !gaps.some(({ from, to }) => from <= one && one < to))).toEqual([])
    expect(gaps.filter(({ reason }) => reason !== 'absent')).toEqual([])
  })

  test('a lost day of sun is missing, and its periods are not counted', () => {
    const values = onDays(YEAR, (date, i) => (date === '2025-07-07' ? [] : sunHours(i)))
    expect(findGaps({ values })).toEqual([
      { from: dayStart('2025-07-07'), to: dayStart('2025-07-08'), reason: 'absent', step: null, periods: null },
    ])
  })

  test('two lost months of sessions are one gap, and a short loss before them another', () => {
    const values = onDays(YEAR, (date) => (date === '2025-02-02' || /-0[67]-/.test(date) ? [] : hours(12, 24)))
    expect(findGaps({ values }).map(({ from, to }) => [from, to])).toEqual([
      [dayStart('2025-02-02'), dayStart('2025-02-03')],
      [dayStart('2025-06-01'), dayStart('2025-08-01')],
    ])
  })

  test('one final day of full hours among quarter-hours lacks the others, whatever its id says', () => {
    const values = without(every(QUARTER, FROM, TO), '2025-11-11', '2025-11-12', onTheHour)
    expect(countMissing(findGaps({ values }))).toBe(72)
    expect(kindsOf(findCadence({ values }))).toEqual([QUARTER])
  })

  test('quarter-hours of a day that is thinned after the step became finer are missing', () => {
    const values = [...every(HOUR, FROM, '2025-10-01'), ...every(QUARTER, '2025-10-01', TO)]
    const gaps = findGaps({ values: without(values, '2025-11-11', '2025-11-12', onTheHour) })
    expect(countMissing(gaps)).toBe(72)
  })

  test('quarter-hours of a day that is thinned in the middle of a finer stretch are missing', () => {
    const isThinned = (one: Instant): boolean => one >= dayStart('2025-05-10') && one < dayStart('2025-05-11')
    const fine = every(QUARTER, '2025-05-01', '2025-05-20').filter((one) => !isThinned(one))
    expect(countMissing(findGaps({ values: [...every(HOUR, FROM, TO), ...fine] }))).toBe(72)
  })

  test('hours that are lost shortly before the step becomes finer are missing as hours', () => {
    const values = [...every(HOUR, FROM, '2025-10-01'), ...every(QUARTER, '2025-10-01', TO)]
    const gaps = findGaps({ values: without(values, '2025-09-20', '2025-09-21', (one) => one % (3 * HOUR) === 0) })
    expect(countMissing(gaps)).toBe(16)
    expect(gaps.every(({ step }) => step === HOUR)).toBe(true)
  })

  test('a finer value off the grid on the day before the step becomes finer moves no border', () => {
    const values = [...every(HOUR, FROM, '2025-10-01'), ...every(QUARTER, '2025-10-01', TO), at('2025-09-30T03:15:00Z')]
    expect(findGaps({ values })).toEqual([])
  })

  test('values lost on a day that was rewritten to a finer step are missing there', () => {
    const fine = every(QUARTER, '2025-05-05', '2025-05-06').toSpliced(50, 7)
    const gaps = findGaps({ values: [...every(HOUR, FROM, TO), ...fine] })
    expect(gaps.every(({ step }) => step === QUARTER)).toBe(true)
    // Two of the seven are full hours.
    expect(countMissing(gaps)).toBe(5)
  })

  test('a day that was rewritten a month before a finer step changes nothing between them, although hours were lost', () => {
    const values = [...every(HOUR, FROM, '2025-06-01'), ...every(QUARTER, '2025-06-01', TO)]
    const lost = (one: Instant): boolean =>
      [12, 24].includes(Math.floor((one - dayStart('2025-05-01')) / DAY)) && one % (2 * HOUR) !== 0
    const rewritten = every(QUARTER, '2025-05-01', '2025-05-02')
    const gaps = findGaps({ values: [...values.filter((one) => !lost(one)), ...rewritten] })
    expect(gaps.every(({ step }) => step === HOUR)).toBe(true)
    expect(countMissing(gaps)).toBe(24)
  })

  test('values lost in the first two hours of a finer step are missing', () => {
    const values = every(QUARTER, FROM, TO).filter((one) => onTheHour(one) || one >= dayStart('2025-10-01') + 2 * HOUR)
    expect(countMissing(findGaps({ values }))).toBe(6)
  })

  test('a value beside its period is missing', () => {
    const values = every(HOUR, FROM, TO).map((one) => (one === at('2025-03-10T13:00:00Z') ? one + 420 : one))
    expect(findGaps({ values })).toMatchObject([{ from: at('2025-03-10T13:00:00Z'), periods: 1 }])
    expect(kindsOf(findCadence({ values }))).toEqual([HOUR])
  })

  test('a day stamped at another hour is missing', () => {
    const values = onDays(YEAR, (date) => [date === '2025-05-05' ? 7 * HOUR : 0])
    expect(findGaps({ values })).toMatchObject([{ from: dayStart('2025-05-05'), periods: 1 }])
  })

  test.each([
    ['month', firsts(ALL_MONTHS, DECADE), '2020-02-01', '2020-03-01'],
    ['short day', YEAR, '2025-03-30', '2025-03-31'],
  ])('a lost %s lasts until the next one begins', (_, dates, from, to) => {
    const days = dates.filter((date) => date !== from)
    const gaps = findGaps({ values: onDays(days, () => [0]) })
    expect(gaps).toMatchObject([{ from: dayStart(from), to: dayStart(to), periods: 1 }])
  })

  test('rows without value are missing, and so are absent ones beside them', () => {
    const values = without(every(HOUR, FROM, TO), '2025-03-10', '2025-03-12')
    const nulls = every(HOUR, '2025-03-11', '2025-03-12')
    expect(findGaps({ values, nulls })).toMatchObject([
      { from: dayStart('2025-03-10'), to: dayStart('2025-03-11'), reason: 'absent', periods: 24 },
      { from: dayStart('2025-03-11'), to: dayStart('2025-03-12'), reason: 'null', periods: 24 },
    ])
  })

  test('a dismissed reject stands for a value', () => {
    const values = every(HOUR, FROM, TO)
    const dismissed = values.splice(1000, 3)
    expect(findGaps({ values, dismissed })).toEqual([])
  })
})

describe('the step (C1)', () => {
  test('the step is the finest of seven days, not that of most days', () => {
    const values = [...every(QUARTER, '2025-03-01', '2025-03-08'), ...every(HOUR, '2025-03-08', '2025-03-20')]
    expect(kindsOf(findCadence({ values }))).toEqual([QUARTER])
  })

  test('days that lack an eighth of their values still show the step', () => {
    const values = every(HOUR, '2025-03-01', '2025-03-08').filter((one) => (one / HOUR) % 24 > 2)
    expect(kindsOf(findCadence({ values }))).toEqual([HOUR])
    expect(kindsOf(findCadence({ values: values.filter((one) => (one / HOUR) % 24 > 3) }))).toEqual(['irregular'])
  })

  test('the step of grouped values is that by which the service grouped', () => {
    const values = every(HOUR, '2025-03-01', '2025-04-01')
    expect(kindsOf(findCadence({ values, grouped: HOUR }))).toEqual([HOUR])
    expect(kindsOf(findCadence({ values, grouped: DAY }))).toEqual(['daily'])
  })

  test('hours at half past begin at half past', () => {
    const [stretch] = findCadence({ values: every(HOUR, FROM, TO).map((one) => one + 1800) })
    expect(stretch!.grid!.anchor % HOUR).toBe(1800)
  })

  test('a step of weeks is known after three of them, with its weekday', () => {
    const mondays = YEAR.filter((date) => weekday(date) === 1).map((date) => dayStart(date))
    expect(kindsOf(findCadence({ values: mondays.slice(0, 2) }))).toEqual(['irregular'])
    const [stretch] = findCadence({ values: mondays.slice(0, 3) })
    expect([stretch!.grid!.step, mondays.every((monday) => isOnGrid(stretch!.grid!, 'Europe/Madrid', monday))]).toEqual(
      [7 * DAY, true],
    )
  })

  test('a step of months stays one, although quarters also begin on firsts of months', () => {
    expect(kindsOf(findCadence({ values: onDays(firsts([1, 4, 7, 10], [2024, 2025]), () => [0]) }))).toEqual([91 * DAY])
    expect(kindsOf(findCadence({ values: onDays(firsts([1, 2, 3, 7, 10], [2025]), () => [0]) }))).toEqual([30 * DAY])
  })
})

describe('regular timelines (C2)', () => {
  test('a regular timeline has seven whole days that follow each other, however long ago', () => {
    const six = every(HOUR, '2025-01-01', '2025-01-07')
    const events = onDays(
      datesBetween('2025-02-01', TO).filter((_, i) => i % 9 === 0),
      () => [7 * HOUR, 9 * HOUR],
    )
    expect(kindsOf(findCadence({ values: [...six, ...events] }))).toEqual(['irregular'])
    const seven = every(HOUR, '2025-01-01', '2025-01-08')
    expect(kindsOf(findCadence({ values: [...seven, ...events] }))).toEqual([HOUR])
  })

  test('a later week promotes an irregular timeline, and earlier losses become missing', () => {
    const early = every(HOUR, '2025-03-01', '2025-03-10').filter((one) => noise(one / HOUR) < 0.5)
    expect(findGaps({ values: early })).toEqual([])
    const later = every(HOUR, '2025-03-10', '2025-03-17')
    const total = (later.at(-1)! - early[0]!) / HOUR + 1
    expect(countMissing(findGaps({ values: [...early, ...later] }))).toBe(total - early.length - later.length)
  })

  test('a timeline without values has no cadence', () => {
    expect(kindsOf(findCadence({ values: [] }))).toEqual(['irregular'])
    expect(findGaps({ values: [] })).toEqual([])
  })
})

describe('a value every day (C3)', () => {
  test('a value every day is expected after 28 days', () => {
    const days = datesBetween('2025-03-01', TO)
    expect(kindsOf(findCadence({ values: onDays(days.slice(0, 27), () => hours(7, 19)) }))).toEqual(['irregular'])
    expect(kindsOf(findCadence({ values: onDays(days.slice(0, 28), () => hours(7, 19)) }))).toEqual(['daily'])
  })

  test('a value every day is not expected of a timeline that often has none', () => {
    const values = onDays(YEAR, (_, i) => (i < 40 || i % 5 !== 0 ? hours(7, 19) : []))
    expect(findGaps({ values })).toEqual([])
  })

  test('a value is expected only on a day that is covered as a whole', () => {
    const values = onDays(YEAR, (date) => (date === '2025-06-06' ? [] : hours(7, 19)))
    const covered = [
      { from: dayStart(FROM), to: dayStart('2025-06-06') + HOUR },
      { from: dayStart('2025-06-06') + 2 * HOUR, to: dayStart(TO) },
    ]
    expect(findGaps({ values, covered })).toEqual([])
    expect(findGaps({ values })).toHaveLength(1)
  })
})

describe('finer and coarser values (C4, C5)', () => {
  const coarser = (days: number): Instant[] =>
    every(QUARTER, FROM, TO).filter(
      (one) => one < dayStart('2025-06-01') || one >= dayStart('2025-06-01') + days * DAY || onTheHour(one),
    )

  test('coarser values are lost ones for thirteen days, and another step from the fourteenth on', () => {
    expect(kindsOf(findCadence({ values: coarser(13) }))).toEqual([QUARTER])
    expect(countMissing(findGaps({ values: coarser(13) }))).toBe(13 * 72)
    expect(kindsOf(findCadence({ values: coarser(14) }))).toEqual([QUARTER, HOUR, QUARTER])
    expect(findGaps({ values: coarser(14) })).toEqual([])
  })

  test('the last coarser days are lost values until there are fourteen or they are announced', () => {
    const values = [...every(QUARTER, FROM, '2025-06-01'), ...every(HOUR, '2025-06-01', '2025-06-06')]
    // The last hour is the last value.
    expect(countMissing(findGaps({ values }))).toBe(5 * 72 - 3)
    expect(findGaps({ values, announced: ['2025-06-01'] })).toEqual([])
  })

  test('an announcement of another day changes nothing', () => {
    const values = coarser(5)
    expect(countMissing(findGaps({ values, announced: ['2025-03-03'] }))).toBe(5 * 72)
  })

  test('values that are lost after an announced change are missing', () => {
    const hoursThen = every(HOUR, '2025-06-01', TO)
    const values = [...every(QUARTER, FROM, '2025-06-01'), ...hoursThen.toSpliced(100, 2)]
    expect(countMissing(findGaps({ values, announced: ['2025-06-01'] }))).toBe(2)
  })

  test('a change of the step begins a stretch on its day', () => {
    const values = [...every(HOUR, FROM, '2025-10-01'), ...every(QUARTER, '2025-10-01', TO)]
    expect(findCadence({ values }).map(({ from }) => from)).toEqual([EARLIEST, dayStart('2025-10-01')])
  })

  test('a change of the step at noon begins a stretch at noon', () => {
    const noon = dayStart('2025-10-01') + DAY / 2
    const values = every(QUARTER, FROM, TO).filter((one) => onTheHour(one) || one >= noon)
    expect(findCadence({ values })[1]!.from).toBe(noon)
    const back = every(QUARTER, FROM, TO).filter((one) => onTheHour(one) || one < noon)
    expect(findCadence({ values: back })[1]!.from).toBe(noon)
  })

  test('geos of one series have steps of their own', () => {
    expect(kindsOf(findCadence({ values: every(QUARTER, FROM, TO) }))).toEqual([QUARTER])
    expect(kindsOf(findCadence({ values: every(HOUR, FROM, TO) }))).toEqual([HOUR])
  })
})

describe('begin, end and coverage (C6, C7)', () => {
  test('nothing is missing before the first value and after the last one', () => {
    const values = every(HOUR, '2025-03-01', '2025-06-01')
    const covered = [{ from: dayStart('2014-01-01'), to: dayStart('2026-01-01') }]
    expect(findGaps({ values, covered })).toEqual([])
  })

  test('nothing is missing outside of covered intervals', () => {
    const values = without(every(HOUR, FROM, TO), '2025-03-10', '2025-03-20')
    const covered = [
      { from: dayStart(FROM), to: dayStart('2025-03-12') },
      { from: dayStart('2025-03-15'), to: dayStart('2025-03-16') },
    ]
    expect(findGaps({ values, covered }).map(({ from, periods }) => [from, periods])).toEqual([
      [dayStart('2025-03-10'), 48],
      [dayStart('2025-03-15'), 24],
    ])
  })

  test('a period belongs to the interval in which it begins', () => {
    const values = onDays(
      firsts(ALL_MONTHS, [2025]).filter((date) => date !== '2025-06-01'),
      () => [0],
    )
    expect(findGaps({ values, covered: [{ from: dayStart('2025-06-02'), to: dayStart('2025-06-20') }] })).toEqual([])
    expect(findGaps({ values, covered: [{ from: dayStart('2025-05-28'), to: dayStart('2025-06-03') }] })).toMatchObject(
      [{ from: dayStart('2025-06-01'), to: dayStart('2025-07-01'), periods: 1 }],
    )
  })
})

describe('expectations of the job (C9)', () => {
  const sun = onDays(YEAR, (_, i) => sunHours(i))

  test('every period of the step of the job is expected, even at night', () => {
    const gaps = findGaps({ values: sun, expect: HOUR })
    expect(countMissing(gaps)).toBe((sun.at(-1)! - sun[0]!) / HOUR + 1 - sun.length)
  })

  test('nothing is expected of an irregular timeline, even if it has whole weeks', () => {
    const values = every(HOUR, FROM, TO).toSpliced(2000, 500)
    expect(findGaps({ values, expect: 'irregular' })).toEqual([])
    expect(countMissing(findGaps({ values }))).toBe(500)
  })

  test('an expected step that is finer than all values has their offset', () => {
    const values = every(HOUR, '2025-03-01', '2025-03-02').map((one) => one + 420)
    expect(countMissing(findGaps({ values, expect: QUARTER }))).toBe(23 * 3)
  })

  test('a monthly value is expected on the day of the month of most values', () => {
    const values = [...onDays(firsts(ALL_MONTHS, [2025]).toSpliced(4, 1), () => [0]), dayStart('2025-12-15')]
    expect(findGaps({ values, expect: 30 * DAY })).toMatchObject([{ from: dayStart('2025-05-01'), periods: 1 }])
  })
})

test('a stretch of days at 23:00 UTC begins when clocks change', () => {
  const stretches = findCadence({ values: YEAR.map((date) => at(`${date}T23:00:00Z`)) })
  expect(stretches.slice(1).map(({ from }) => from)).toEqual([at('2025-03-30T01:00:00Z'), at('2025-10-26T01:00:00Z')])
  expect(stretches.map(({ grid }) => (grid!.anchor + offsetAt(MADRID, grid!.anchor)) % DAY)).toEqual([0, HOUR, 0])
})
