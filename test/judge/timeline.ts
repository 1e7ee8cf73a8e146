import { type CadenceInput, findStretches, refineBorders, type Stretch, toShape } from '../../src/judge/cadence.ts'
import { findMissing, type MissingPeriods } from '../../src/judge/missing.ts'
import { findDayStep } from '../../src/util/time/dayStep.ts'
import { DAY, HOUR, type Instant, parseInstant } from '../../src/util/time/instant.ts'
import type { Interval } from '../../src/util/time/interval.ts'
import { dayIntervalAt, localDay } from '../../src/util/time/localDay.ts'
import { addUnits, atLocal, localDate, offsetAt, startOfDate } from '../../src/util/time/zone.ts'

/* Timelines of invented values, and their judgement. */

export const MADRID = 'Europe/Madrid'
export const QUARTER = 900

/** The values of a timeline, and the other input of its judgement. */
export interface Timeline extends Partial<Omit<CadenceInput, 'announced'>> {
  readonly values: readonly Instant[]
  readonly nulls?: readonly Instant[]
  /** Instants of dismissed rejects. */
  readonly dismissed?: readonly Instant[]
  /** First local days of another step, as dates. */
  readonly announced?: readonly string[]
  /** Default: all time. */
  readonly covered?: readonly Interval[]
}

const ALL_TIME: Interval = { from: Date.UTC(1980, 0) / 1000, to: Date.UTC(2090, 0) / 1000 }

const inOrder = (instants: readonly Instant[]): Instant[] => [...new Set(instants)].sort((a, b) => a - b)

/** Finds the stretches of a timeline, as the load does: shapes of its days, stretches of days, borders within days. */
export function findCadence({
  zone = MADRID,
  grouped = null,
  expect = null,
  announced = [],
  ...rest
}: Timeline): Stretch[] {
  const values = inOrder(rest.values)
  const byDay = Map.groupBy(values, (at) => dayIntervalAt(zone, at).day)
  const shapes = [...byDay].map(([day, at]) => toShape(day, findDayStep(zone, localDay(zone, day), at)))
  const days = announced.map((date) => dayIntervalAt(zone, startOfDate(zone, date)!).day)
  const stretches = findStretches(shapes, { zone, grouped, announced: days, expect })
  return refineBorders(stretches, zone, (border) =>
    values.filter((at) => at >= border - 2 * DAY && at < border + 2 * DAY),
  )
}

/** Finds the missing periods of a timeline. */
export function findGaps(timeline: Timeline): MissingPeriods[] {
  const values = inOrder(timeline.values)
  if (values.length === 0) return []
  const { zone = MADRID, covered = [ALL_TIME], dismissed = [], nulls = [] } = timeline
  const present = inOrder([...values, ...dismissed])
  const extent = { first: values[0]!, last: values.at(-1)! }
  return findMissing(findCadence(timeline), zone, covered, { present, nulls: inOrder(nulls) }, extent)
}

/** The number of missing periods; days without any value count as one period. */
export const countMissing = (ranges: readonly MissingPeriods[]): number =>
  ranges.reduce((sum, { from, to, periods }) => sum + (periods ?? Math.round((to - from) / DAY)), 0)

/** The kinds and steps of the stretches, without their instants. */
export const kindsOf = (stretches: readonly Stretch[]) => stretches.map(({ kind, grid }) => grid?.step ?? kind)

export const at = (text: string): Instant => parseInstant(text)

/** The beginning of a local day. */
export const dayStart = (date: string, zone = MADRID): Instant => startOfDate(zone, date)!

/** The instants a step apart, from the beginning of a local day until that of another. */
export function every(step: number, from: string, to: string, zone = MADRID): Instant[] {
  const begin = dayStart(from, zone)
  const end = dayStart(to, zone)
  return Array.from({ length: Math.ceil((end - begin) / step) }, (_, i) => begin + i * step)
}

/** The local days from one to before another, as dates. */
export function datesBetween(from: string, to: string, zone = MADRID): string[] {
  const dates: string[] = []
  for (let day = dayStart(from, zone); day < dayStart(to, zone); day = addUnits(zone, day, 'day', 1))
    dates.push(localDate(zone, day))
  return dates
}

/** The instants of local times, in seconds, on each of some days. Times that clocks skip are left out. */
export function onDays(
  dates: readonly string[],
  times: (date: string, index: number) => readonly number[],
  zone = MADRID,
): Instant[] {
  return dates.flatMap((date, i) =>
    times(date, i)
      .map((second) => ({ second, at: atLocal(zone, date, second)! }))
      .filter((time) => (time.at + offsetAt(zone, time.at) - time.second) % DAY === 0)
      .map((time) => time.at),
  )
}

/** The times of the hours from one to before another, or at another step, in seconds. */
export const hours = (from: number, to: number, step = HOUR): number[] =>
  Array.from({ length: Math.ceil(((to - from) * HOUR) / step) }, (_, i) => from * HOUR + i * step)

/** The weekday of a date: 0 is Sunday. */
export const weekday = (date: string): number => new Date(date).getUTCDay()

/** A number from 0 to 1 that looks random and depends only on another number. */
export function noise(n: number): number {
  const mixed = Math.imul(n ^ (n >>> 15), 0x2c1b3c6d) ^ Math.imul(n + 0x9e3779b9, 0x297a2d39)
  return ((Math.imul(mixed ^ (mixed >>> 13), 0x85ebca6b) >>> 8) & 0xffff) / 0x10000
}

/** The values outside an interval of local days. */
export const without = (
  values: readonly Instant[],
  from: string,
  to: string,
  keep = (_: Instant): boolean => false,
): Instant[] => values.filter((one) => one < dayStart(from) || one >= dayStart(to) || keep(one))
