import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findMissing, type MissingPeriods } from '../../src/judge/missing.ts'
import { evenStep, findDayStep } from '../../src/util/time/dayStep.ts'
import { DAY, HOUR, type Instant } from '../../src/util/time/instant.ts'
import type { Interval } from '../../src/util/time/interval.ts'
import { dayIntervalAt, localDay } from '../../src/util/time/localDay.ts'
import { addUnits, atLocal, localDate, offsetAt } from '../../src/util/time/zone.ts'
import { cases } from '../support/randomCases.ts'
import {
  countMissing,
  datesBetween,
  dayStart,
  findCadence,
  findGaps,
  hours,
  noise,
  onDays,
  type Timeline,
  weekday,
} from './timeline.ts'

/* Invariants of timelines with random steps, offsets, zones and losses. */

const MINUTE = 60
const ZONES = [
  'Europe/Madrid',
  'Atlantic/Canary',
  'UTC',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'Pacific/Chatham',
  'Antarctica/Troll',
  'Asia/Beirut',
]
const MINUTES = [5, 10, 15, 20, 30].map((minutes) => minutes * MINUTE)
const HOURS = [1, 2, 3, 4, 6, 8, 12].map((count) => count * HOUR)
const STEPS = [...MINUTES, ...HOURS, DAY]

/** A timeline without losses, day by day, and how it was made. */
interface Whole {
  readonly how: string
  readonly zone: string
  readonly step: number
  readonly days: readonly (readonly Instant[])[]
}

/** Shows in the messages of a failed property how something was made, not its thousands of values. */
const made = <T extends object>(how: unknown, value: T): T =>
  Object.assign(value, { [fc.toStringMethod]: () => JSON.stringify(how) })

/** The instants of a step on each of some days: periods up to an hour follow each other, longer ones begin at local times. */
function publish(zone: string, step: number, offset: number, dates: readonly string[]): Instant[][] {
  if (step === DAY) return dates.map((date) => [atLocal(zone, date, offset)!])
  if (step > HOUR)
    return dates.map((date) => onDays([date], () => hours(0, 24, step).map((time) => time + offset), zone))
  return dates.map((date) => {
    const begin = dayStart(date, zone)
    const end = addUnits(zone, begin, 'day', 1)
    const first = begin + ((((offset - begin) % step) + step) % step)
    return Array.from({ length: Math.ceil((end - first) / step) }, (_, i) => first + i * step)
  })
}

const datesFrom = (zone: string, first: number, count: number): string[] => {
  const begin = Date.UTC(2024, 0, 1 + first, 12) / 1000
  return Array.from({ length: count }, (_, i) => localDate(zone, begin + i * DAY))
}

const wholes = (least: number, most: number, steps = STEPS): fc.Arbitrary<Whole> =>
  fc
    .record({
      zone: fc.constantFrom(...ZONES),
      step: fc.constantFrom(...steps),
      // Whole minutes below the step.
      minute: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1439 })),
      // Half of them around a clock change.
      first: fc.oneof(
        fc.integer({ min: 0, max: 700 }),
        fc.integer({ min: 50, max: 85 }),
        fc.integer({ min: 260, max: 300 }),
      ),
      count: fc.integer({ min: least, max: most }),
    })
    .map((how) => {
      const { zone, step, minute, first, count } = how
      const days = publish(zone, step, (minute * MINUTE) % step, datesFrom(zone, first, count))
      return made(how, { how: JSON.stringify(how), zone, step, days })
    })

/** How some days lose values: all of them, some at random, or all but every nth. */
const losses = fc.array(
  fc.record({
    begins: fc.nat(),
    length: fc.integer({ min: 1, max: 13 }),
    how: fc.oneof(
      fc.constant({ kind: 'all' as const }),
      fc.record({ kind: fc.constant('random' as const), share: fc.constantFrom(1, 10, 50, 90, 99), seed: fc.nat() }),
      fc.record({
        kind: fc.constant('thinned' as const),
        every: fc.constantFrom(2, 3, 4, 6, 12, 24),
        shift: fc.nat(3),
      }),
    ),
  }),
  { minLength: 1, maxLength: 6 },
)
type Loss = typeof losses extends fc.Arbitrary<readonly (infer T)[]> ? T : never

const isLost = ({ how }: Loss, index: number): boolean => {
  if (how.kind === 'all') return true
  if (how.kind === 'thinned') return (index + how.shift) % how.every !== 0
  return (Math.imul(index + 1, 2_654_435_761 ^ how.seed) >>> 8) % 100 < how.share
}

/** Removes values, but none of the first and last day and of those that are kept. */
function remove(days: Whole['days'], all: readonly Loss[], isKept: (day: number) => boolean) {
  return days.map((instants, day) => {
    if (day === 0 || day === days.length - 1 || isKept(day)) return instants
    const loss = all.find(({ begins, length }) => day >= begins % days.length && day < (begins % days.length) + length)
    return loss ? instants.filter((_, index) => !isLost(loss, index)) : instants
  })
}

/**
 * Whether fourteen days in a row hold a coarser step and no other value, or three values a week apart follow each other: then another
 * step is published (C5).
 */
function looksCoarser({ zone, step, days }: Whole): boolean {
  const full = days.flatMap((instants, day) => (instants.length > 0 ? [day] : []))
  if (full.some((day, i) => full[i + 1] === day + 7 && full[i + 2] === day + 14)) return true
  return [...HOURS, ...MINUTES, DAY]
    .filter((other) => other > step)
    .some((other) => {
      let streak = 0
      let phase = Number.NaN
      return days.some((instants) => {
        const phases = new Set(instants.map((at) => (other > HOUR ? at + offsetAt(zone, at) : at) % other))
        const isWhole = phases.size === 1 && instants.length >= (DAY / other) * (7 / 8) - 1
        const isContinued = phases.has(phase)
        if (!isWhole) streak = 0
        else streak = isContinued ? streak + 1 : 1
        if (isWhole) phase = [...phases][0]!
        return streak >= 14
      })
    })
}

/** The missing periods that are not lost ones, and the lost ones that are not missing. */
function compare(gaps: readonly MissingPeriods[], lost: readonly Instant[]) {
  return { more: countMissing(gaps) - lost.length, unnoticed: lost.length - within(lost, gaps).length }
}

/** The instants that are in one of some intervals; both are in order. */
function within(instants: readonly Instant[], intervals: readonly Interval[]): Instant[] {
  let i = 0
  return instants.filter((at) => {
    while (i < intervals.length && intervals[i]!.to <= at) i++
    return i < intervals.length && intervals[i]!.from <= at
  })
}

/** The instants that are not among others. */
function outside(all: readonly Instant[], others: readonly Instant[]): Instant[] {
  const known = new Set(others)
  return all.filter((at) => !known.has(at))
}
const NO_DIFFERENCE = { more: 0, unnoticed: 0 }

const check = <T>(arbitrary: fc.Arbitrary<T>, property: (value: T) => void, numRuns = 30): void =>
  fc.assert(fc.property(arbitrary, property), { numRuns: cases(numRuns) })

describe('whatever a regular timeline loses is missing, and nothing else', () => {
  /*
   * A regular timeline keeps its seven whole days under two conditions. Seven local days in a row, anywhere, keep all values, and no
   * fourteen days in a row hold a coarser step and nothing else. Values are lost strictly inside: not the first and the last one.
   */
  const thinned = fc
    .record({ whole: wholes(16, 60), week: fc.nat(), all: losses })
    .map(({ whole, week, all }) => {
      const kept = 1 + (week % (whole.days.length - 8))
      const left = remove(whole.days, all, (day) => day >= kept && day < kept + 7)
      return made({ whole: whole.how, kept, all }, { whole, left })
    })
    .filter(({ whole, left }) => !looksCoarser({ ...whole, days: left }))

  test('exactly the lost periods are missing, for every step, offset and zone', () =>
    check(
      thinned,
      ({ whole: { zone, days }, left }) => {
        const values = left.flat()
        const lost = outside(days.flat(), values)
        expect(compare(findGaps({ values, zone }), lost)).toEqual(NO_DIFFERENCE)
      },
      60,
    ))

  test('nulls are missing like absent rows', () =>
    check(thinned, ({ whole: { zone, days }, left }) => {
      const values = left.flat()
      const lost = outside(days.flat(), values)
      const nulls = lost.filter((_, i) => i % 3 === 0)
      const gaps = findGaps({ values, nulls, zone })
      expect(compare(gaps, lost)).toEqual(NO_DIFFERENCE)
      const isNull = gaps.filter(({ reason }) => reason === 'null')
      expect(compare(isNull, nulls)).toEqual(NO_DIFFERENCE)
    }))

  test('a further loss makes no other period present', () =>
    check(fc.record({ data: thinned, more: fc.nat() }), ({ data: { whole, left }, more }) => {
      const { zone, days } = whole
      const index = 1 + (more % (days.length - 2))
      const fewer = left.map((instants, day) => (day === index ? [] : instants))
      const isRegular = fewer.some(
        (_, i) =>
          fewer.slice(i, i + 7).filter((one, j) => one.length > 0 && one.length === days[i + j]!.length).length === 7,
      )
      fc.pre(isRegular && !looksCoarser({ ...whole, days: fewer }))
      const [before, after] = [left, fewer].map((one) => findGaps({ values: one.flat(), zone }))
      const starts = within(days.flat(), before!)
      expect(outside(starts, within(starts, after!))).toEqual([])
    }))

  test('exactly the lost weeks, months, quarters and years are missing if three in a row remain', () =>
    check(
      fc.record({
        zone: fc.constantFrom(...ZONES),
        unit: fc.constantFrom('week' as const, 1, 3, 12),
        day: fc.integer({ min: 1, max: 28 }),
        month: fc.nat(11),
        second: fc.constantFrom(0, 12 * HOUR, 7 * HOUR + 1800),
        kept: fc.nat(20),
        isLost: fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }),
      }),
      ({ zone, unit, day, month, second, kept, isLost }) => {
        const dates = Array.from({ length: 30 }, (_, i) =>
          unit === 'week'
            ? new Date(Date.UTC(2024, month, day + 7 * i))
            : new Date(Date.UTC(1995, month + unit * i, day)),
        ).map((date) => date.toISOString().slice(0, 10))
        const all = dates.map((date) => (second === 0 ? dayStart(date, zone) : atLocal(zone, date, second)!))
        const values = all.filter((_, i) => i === 0 || i === 29 || !isLost[i] || (i >= kept && i < kept + 3))
        const lost = outside(all, values)
        expect(compare(findGaps({ values, zone }), lost)).toEqual(NO_DIFFERENCE)
      },
    ))

  /* Fourteen whole days beside each change show both steps, whatever is lost elsewhere. */
  test('exactly the lost periods of timelines whose step changes are missing', () =>
    check(
      fc.record({
        // Where clocks skip midnight, that day lacks the first four hours, so fewer than fourteen follow each other.
        zone: fc.constantFrom(...ZONES.filter((zone) => zone !== 'Asia/Beirut')),
        steps: fc.uniqueArray(fc.constantFrom(600, 900, 1800, HOUR, 4 * HOUR), { minLength: 2, maxLength: 2 }),
        all: losses,
        border: fc.integer({ min: 30, max: 700 }),
      }),
      ({ zone, steps, all, border }) => {
        const days = steps.flatMap((step, i) => publish(zone, step, 0, datesFrom(zone, border + 45 * i, 45)))
        const left = remove(days, all, (day) => day % 45 < 15 || day % 45 >= 30 || day % 45 === 22)
        const values = left.flat()
        const lost = outside(days.flat(), values)
        expect(compare(findGaps({ values, zone }), lost)).toEqual(NO_DIFFERENCE)
      },
    ))

  test('whole lost days are missing in timelines with some values every day', () =>
    check(
      fc.record({
        zone: fc.constantFrom(...ZONES),
        begins: fc.integer({ min: 0, max: 12 }),
        step: fc.constantFrom(1800, HOUR),
        lost: fc
          .uniqueArray(fc.integer({ min: 1, max: 298 }), { maxLength: 8 })
          .map((days) => days.sort((a, b) => a - b)),
      }),
      ({ zone, begins, step, lost }) => {
        const dates = datesFrom(zone, 0, 300)
        const values = onDays(dates, (_, i) => (lost.includes(i) ? [] : hours(begins, begins + 11, step)), zone)
        const gaps = findGaps({ values, zone })
        expect(
          compare(
            gaps,
            lost.map((i) => dayStart(dates[i]!, zone)),
          ),
        ).toEqual(NO_DIFFERENCE)
      },
    ))
})

describe('windows do not matter', () => {
  const timelines = fc
    .record({ whole: wholes(20, 40), all: losses, cuts: fc.array(fc.nat(), { maxLength: 12 }), seed: fc.nat() })
    .map(({ whole, all, cuts, seed }) => {
      const values = remove(whole.days, all, () => false).flat()
      const from = values[0]! - DAY
      const to = values.at(-1)! + DAY
      const borders = [from, ...cuts.map((cut) => from + (cut % (to - from))), to].sort((a, b) => a - b)
      const windows = borders.slice(1).map((end, i): Interval => ({ from: borders[i]!, to: end }))
      return made(
        { whole: whole.how, all, cuts, seed },
        { zone: whole.zone, values, windows, seed, span: { from, to } },
      )
    })

  test('the same covered time lacks the same periods, however windows cut it', () =>
    check(timelines, ({ zone, values, windows, seed, span }) => {
      const covered = windows
        .map((window, i) => ({ window, key: (Math.imul(i + 1, 2_654_435_761) ^ seed) >>> 0 }))
        .sort((a, b) => a.key - b.key)
        .flatMap(({ window }, i) => (i % 3 === 0 ? [window, window] : [window]))
      expect(findGaps({ zone, values, covered })).toEqual(findGaps({ zone, values, covered: [span] }))
    }))

  test('periods that are judged window by window are the same ones', () =>
    check(timelines, ({ zone, values, windows, span }) => {
      const stretches = findCadence({ zone, values })
      fc.pre(stretches.every(({ kind }) => kind === 'regular'))
      const extent = { first: values[0]!, last: values.at(-1)! }
      const judge = (covered: readonly Interval[], present: readonly Instant[]) =>
        findMissing(stretches, zone, covered, { present, nulls: [] }, extent)
      const parts = windows.flatMap((window) =>
        judge(
          [window],
          values.filter((at) => at >= window.from && at < window.to),
        ),
      )
      const whole = judge([span], values)
      expect(countMissing(parts)).toBe(countMissing(whole))
      expect(parts.filter(({ from, to }) => !whole.some((range) => range.from <= from && to <= range.to))).toEqual([])
    }))

  test('a day whose periods follow each other has the same step, counted or compared', () =>
    check(
      fc.record({ whole: wholes(1, 1), skip: fc.nat(3), drop: fc.nat(3) }),
      ({ whole: { zone, step, days }, skip, drop }) => {
        const at = days[0]!.slice(skip, days[0]!.length - drop)
        fc.pre(at.length > 0 && at.every((one, i) => i === 0 || one - at[i - 1]! === step))
        const day = localDay(zone, dayIntervalAt(zone, at[0]!).day)
        const even = evenStep(zone, day, at[0]!, at.length, step)
        if (even) expect(findDayStep(zone, day, at)).toEqual(even)
      },
    ))
})

describe('honest data lacks nothing', () => {
  /** Makes a timeline by a random recipe. */
  const shape = <T>(recipe: fc.Arbitrary<T>, make: (recipe: T) => Timeline): fc.Arbitrary<Timeline> =>
    recipe.map((how) => made(how, make(how)))

  const ends = shape(fc.record({ whole: wholes(60, 200), begin: fc.nat(50), end: fc.nat(50) }), (recipe) => {
    const all = recipe.whole.days.flat()
    return { zone: recipe.whole.zone, values: all.slice(recipe.begin, all.length - recipe.end) }
  })

  const someHours = shape(
    fc.record({
      zone: fc.constantFrom(...ZONES),
      begins: fc.integer({ min: 0, max: 12 }),
      length: fc.integer({ min: 2, max: 11 }),
      step: fc.constantFrom(300, 900, 1800, HOUR),
      weekdays: fc.subarray([0, 1, 2, 3, 4, 5, 6], { minLength: 1 }),
    }),
    ({ zone, begins, length, step, weekdays }) => {
      const dates = datesBetween('2025-01-01', '2026-01-01', zone).filter((date) => weekdays.includes(weekday(date)))
      return { zone, values: onDays(dates, () => hours(begins, begins + length, step), zone) }
    },
  )

  const events = shape(
    fc.record({
      dayShare: fc.constantFrom(0.02, 0.1, 0.5, 0.9),
      hourShare: fc.constantFrom(0.05, 0.2, 0.5),
      seed: fc.nat(1e6),
      /** Whole days in a row, now and then. */
      whole: fc.nat(6),
    }),
    ({ dayShare, hourShare, seed, whole }) => ({
      values: onDays(datesBetween('2025-01-01', '2026-01-01'), (_, i) => {
        if (i % 50 < whole) return hours(0, 24)
        return noise(seed + i) < dayShare ? hours(0, 24).filter((time) => noise(seed + i * DAY + time) < hourShare) : []
      }),
    }),
  )

  const changes = shape(
    fc.record({
      zone: fc.constantFrom(...ZONES),
      steps: fc.uniqueArray(fc.constantFrom(300, 900, HOUR, DAY), { minLength: 2, maxLength: 3 }),
      rewritten: fc.integer({ min: 1, max: 10 }),
      // Fewer than fourteen days between finer ones would be thinned ones (C5).
      begins: fc.integer({ min: 20, max: 76 }),
    }),
    ({ zone, steps, rewritten, begins }) => {
      const parts = steps.flatMap((step, i) => publish(zone, step, 0, datesFrom(zone, i * 100, 100)))
      const fine = publish(zone, 300, 0, datesFrom(zone, begins, rewritten))
      return { zone, values: [...parts, ...fine].flat() }
    },
  )

  test.each([
    ['timelines that begin and end anywhere', ends],
    ['some hours of every day or of some weekdays', someHours],
    ['events with now and then some whole days', events],
    ['steps that change, and rewritten history', changes],
  ])('nothing is missing in %s', (_, timelines) =>
    check(timelines, (timeline) => void expect(findGaps(timeline)).toEqual([]), 40),
  )
})
