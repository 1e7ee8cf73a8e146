import { didYouMean } from '../didYouMean.ts'
import { InputError } from '../errors.ts'
import { modulo } from '../modulo.ts'
import { DAY, daysFromCivil, type Instant, isDate } from './instant.ts'

/** A day of a local calendar, `YYYY-MM-DD`. */
export type LocalDate = string

/** From `at` on, local time is UTC plus `offset` seconds. */
export interface Transition {
  readonly at: Instant
  readonly offset: number
}

const FIRST = 0
/** The first instant of 2100. */
const LAST = 4_102_444_800
/** Seconds. No zone changes its clocks twice within this time: the shortest is an hour less than a week, as in Recife in 2000. */
const STRIDE_S = 6 * DAY
const transitionsByZone = new Map<string, readonly Transition[]>()

/** The names of the zone data of this runtime. */
const zoneNames = (): readonly string[] => Intl.supportedValuesOf('timeZone')

/** Returns a function for the offset at an instant by the runtime's zone data; slow. Throws InputError for an unknown name. */
function createOffsets(zone: string): (at: Instant) => number {
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
    return (at) => {
      const [, sign, ...parts] = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(at * 1000))!
      const [hours, minutes, seconds] = parts.map((part) => Number(part ?? 0)) as [number, number, number]
      return (sign === '-' ? -1 : 1) * (hours * 3600 + minutes * 60 + seconds)
    }
  } catch (error) {
    throw new InputError(`Unknown time zone ${JSON.stringify(zone)}.${didYouMean(zone, zoneNames())}`, {
      hint: 'Use a name from the IANA database, such as Europe/Lisbon.',
      code: 'unknown-zone',
      cause: error,
    })
  }
}

/** Throws InputError for a name that the zone data of this runtime lacks. */
export const checkZone = (zone: string): void => {
  if (!transitionsByZone.has(zone)) createOffsets(zone)
}

/** Sets the transitions of a zone from stored ones. Computing them again takes longer than a plan. */
export function useTransitions(zone: string, rows: readonly Transition[]): void {
  if (!transitionsByZone.has(zone)) transitionsByZone.set(zone, rows)
}

/**
 * The offset changes of a zone from 1970 to 2100, to the second, oldest first. The first row is the offset of 1970.
 * Source: the runtime's IANA data, through `Intl`.
 */
export function transitions(zone: string): readonly Transition[] {
  const cached = transitionsByZone.get(zone)
  if (cached) return cached
  const offset = createOffsets(zone)
  const rows: Transition[] = [{ at: FIRST, offset: offset(FIRST) }]
  for (let from = FIRST; from < LAST; from += STRIDE_S) {
    const before = rows.at(-1)!.offset
    const after = offset(from + STRIDE_S)
    if (after === before) continue
    let low = from
    let high = from + STRIDE_S
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (offset(middle) === before) low = middle
      else high = middle
    }
    rows.push({ at: high, offset: after })
  }
  transitionsByZone.set(zone, rows)
  return rows
}

/** The index of the last change at or before an instant. */
export function indexAt(rows: readonly Transition[], at: Instant): number {
  let low = 0
  let high = rows.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (rows[middle]!.at <= at) low = middle
    else high = middle - 1
  }
  return low
}

/** Seconds that local time is ahead of UTC at an instant. */
export function offsetAt(zone: string, at: Instant): number {
  const rows = transitions(zone)
  return rows[indexAt(rows, at)]!.offset
}

/** A whole number below a hundred with two digits. */
export const padTwo = (n: number): string => String(n).padStart(2, '0')

/** An offset in seconds as `+01:00`, or with another separator between hours and minutes. */
export function formatOffset(offset: number, separator = ':'): string {
  const minutes = Math.abs(offset) / 60
  return `${offset < 0 ? '-' : '+'}${padTwo(Math.floor(minutes / 60))}${separator}${padTwo(Math.floor(minutes % 60))}`
}

/** The local clock at an instant without its offset: `2025-10-01T02:00:00`. */
export const localClock = (zone: string, at: Instant): string =>
  new Date((at + offsetAt(zone, at)) * 1000).toISOString().slice(0, 19)

/** An instant as local time with its offset: `2025-10-01T02:00:00+02:00`. */
export const formatLocal = (zone: string, at: Instant): string =>
  `${localClock(zone, at)}${formatOffset(offsetAt(zone, at))}`

/** The local day of an instant. */
export const localDate = (zone: string, at: Instant): LocalDate => localClock(zone, at).slice(0, 10)

/** Calendar steps of windows and aggregations, longest last. */
export const UNITS = ['five_minutes', 'ten_minutes', 'fifteen_minutes', 'hour', 'day', 'month', 'year'] as const
export type Unit = (typeof UNITS)[number]

const UNIT_SECONDS = { five_minutes: 300, ten_minutes: 600, fifteen_minutes: 900, hour: 3600 } as const

/** Seconds of a step of fixed length; undefined for a day, a month and a year. */
export const fixedSeconds = (unit: Unit): number | undefined => UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS]

/** The start of a day, in days since 1970. A day that a zone skipped starts with the next one. */
function startOfDay(zone: string, day: number): Instant {
  const rows = transitions(zone)
  const midnight = day * DAY
  // No offset is longer than a day.
  for (let i = indexAt(rows, midnight - DAY); ; i++) {
    const { at, offset } = rows[i]!
    const start = i === 0 ? midnight - offset : Math.max(at, midnight - offset)
    if (start < (rows[i + 1]?.at ?? Number.POSITIVE_INFINITY)) return start
  }
}

/** The local day of an instant, in days since 1970. After clocks went back over midnight, it is the later day. */
function localDayNumber(zone: string, at: Instant): number {
  const day = Math.floor((at + offsetAt(zone, at)) / DAY)
  return startOfDay(zone, day + 1) <= at ? day + 1 : day
}

/** The first day of the month or year of a day, some units later. The calendar is the same in every zone. */
function moveDay(day: number, unit: 'month' | 'year', count: number): number {
  const date = new Date(day * DAY * 1000)
  const year = date.getUTCFullYear()
  return unit === 'year' ? daysFromCivil(year + count, 1, 1) : daysFromCivil(year, date.getUTCMonth() + 1 + count, 1)
}

/** The last border of a local unit at or before an instant. A clock change inside a unit is a border, too. */
export function floorTo(zone: string, at: Instant, unit: Unit): Instant {
  const seconds = fixedSeconds(unit)
  if (seconds === undefined) {
    const day = localDayNumber(zone, at)
    return startOfDay(zone, unit === 'day' ? day : moveDay(day, unit as 'month' | 'year', 0))
  }
  const rows = transitions(zone)
  const i = indexAt(rows, at)
  const past = (at + rows[i]!.offset) % seconds
  const floor = at - (past < 0 ? past + seconds : past)
  return i === 0 ? floor : Math.max(floor, rows[i]!.at)
}

/** Moves a border of a local unit by whole units, to another border. */
export function addUnits(zone: string, border: Instant, unit: Unit, count: number): Instant {
  const seconds = fixedSeconds(unit)
  if (seconds !== undefined) {
    const rows = transitions(zone)
    let at = border
    for (let left = count; left > 0; left--)
      at = Math.min(floorTo(zone, at + seconds, unit), rows[indexAt(rows, at) + 1]?.at ?? Number.POSITIVE_INFINITY)
    for (let left = count; left < 0; left++) at = floorTo(zone, at - 1, unit)
    return at
  }
  const day = localDayNumber(zone, border)
  return startOfDay(zone, unit === 'day' ? day + count : moveDay(day, unit as 'month' | 'year', count))
}

/**
 * Moves an instant by local days, months or years, to the same time on the clock; the beginning of a day to that of another. The day
 * of the month stays, unless the month is shorter.
 */
export function addLocal(zone: string, at: Instant, unit: 'day' | 'month' | 'year', count: number): Instant {
  const day = floorTo(zone, at, 'day')
  const moved = moveDays(zone, day, unit, count)
  if (at === day || count === 0) return moved + (at - day)
  return atLocal(zone, localDate(zone, moved), modulo(at + offsetAt(zone, at), DAY))!
}

/** Moves the beginning of a day. */
function moveDays(zone: string, day: Instant, unit: 'day' | 'month' | 'year', count: number): Instant {
  if (unit === 'day') return addUnits(zone, day, 'day', count)
  const month = floorTo(zone, day, 'month')
  const target = addUnits(zone, month, 'month', unit === 'year' ? 12 * count : count)
  const last = addUnits(zone, addUnits(zone, target, 'month', 1), 'day', -1)
  const moved = addUnits(zone, target, 'day', Math.round((day - month) / DAY))
  return Math.min(moved, last)
}

/** The first border of a local unit at or after an instant. */
export function ceilTo(zone: string, at: Instant, unit: Unit): Instant {
  const floor = floorTo(zone, at, unit)
  return floor === at ? at : addUnits(zone, floor, unit, 1)
}

/** The first instant of a local day; undefined for a text that is not a date. */
export function startOfDate(zone: string, date: LocalDate): Instant | undefined {
  const day = parseDate(date)
  return day === undefined ? undefined : startOfDay(zone, day)
}

/** The day of a text, in days since 1970; undefined for a text that is not a date. */
function parseDate(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  const [year, month, day] = text.split('-').map(Number) as [number, number, number]
  return isDate(year, month, day) ? daysFromCivil(year, month, day) : undefined
}

/**
 * The instant at which local clocks show a time, in seconds since midnight; undefined for a text that is not a date.
 * A repeated time is its first occurrence. A skipped time is later by as much as the clocks were put forward.
 */
export function atLocal(zone: string, date: LocalDate, second: number): Instant | undefined {
  const day = parseDate(date)
  if (day === undefined) return undefined
  const rows = transitions(zone)
  const local = day * DAY + second
  for (let i = indexAt(rows, local - DAY); ; i++) {
    const at = local - rows[i]!.offset
    const next = rows[i + 1]
    // The time has this offset, or is skipped: too late for this offset and too early for the next.
    if (!next || at < next.at || local - next.offset < next.at) return at
  }
}
