import { TZDate, tz, tzOffset, tzScan } from '@date-fns/tz'
// One by one: the whole of date-fns takes most of a second to load.
import { addDays } from 'date-fns/addDays'
import { addMonths } from 'date-fns/addMonths'
import { addYears } from 'date-fns/addYears'
import { startOfDay } from 'date-fns/startOfDay'
import { startOfMonth } from 'date-fns/startOfMonth'
import { startOfYear } from 'date-fns/startOfYear'
import { InputError } from './errors.ts'
import { daysFromCivil, type Instant, isDate } from './instant.ts'

/** A day of a local calendar, `YYYY-MM-DD`. */
export type LocalDate = string

/** From `at` on, local time is UTC plus `offset` seconds. */
export interface Transition {
  readonly at: Instant
  readonly offset: number
}

const FIRST = Date.UTC(1970, 0, 1)
const LAST = Date.UTC(2100, 0, 1)
const known = new Map<string, readonly Transition[]>()

/** Refuses a name that the zone data of this runtime does not have. */
export function checkZone(zone: string): void {
  if (Number.isNaN(tzOffset(zone, new Date(FIRST))))
    throw new InputError(`There is no time zone ${JSON.stringify(zone)}.`, {
      hint: 'Use a name of the IANA database, such as Europe/Madrid.',
      code: 'unknown-zone',
    })
}

/**
 * Every change of a zone's offset from 1970 to 2100, oldest first; the first row is the offset of 1970.
 * Source: the runtime's IANA data, through `Intl`.
 */
export function transitions(zone: string): readonly Transition[] {
  let rows = known.get(zone)
  if (!rows) {
    checkZone(zone)
    const changes = tzScan(zone, { start: new Date(FIRST), end: new Date(LAST) })
    rows = [
      { at: FIRST / 1000, offset: tzOffset(zone, new Date(FIRST)) * 60 },
      ...changes.map(({ date, offset }) => ({ at: date.getTime() / 1000, offset: offset * 60 })),
    ]
    known.set(zone, rows)
  }
  return rows
}

/** Seconds that local time is ahead of UTC at an instant. */
export function offsetAt(zone: string, at: Instant): number {
  const rows = transitions(zone)
  let low = 0
  let high = rows.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (rows[middle]!.at <= at) low = middle
    else high = middle - 1
  }
  return rows[low]!.offset
}

const pad = (n: number): string => String(n).padStart(2, '0')

/** An offset in seconds as `+01:00`, or with another separator between hours and minutes. */
export function formatOffset(offset: number, separator = ':'): string {
  const minutes = Math.abs(offset) / 60
  return `${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}${separator}${pad(Math.floor(minutes % 60))}`
}

/** The local clock at an instant without its offset: `2025-10-01T02:00:00`. */
export const localClock = (zone: string, at: Instant): string =>
  new Date((at + offsetAt(zone, at)) * 1000).toISOString().slice(0, 19)

/** An instant as local time with its offset: `2025-10-01T02:00:00+02:00`. */
export const formatLocal = (zone: string, at: Instant): string =>
  `${localClock(zone, at)}${formatOffset(offsetAt(zone, at))}`

/** The local day in which an instant lies. */
export const localDate = (zone: string, at: Instant): LocalDate => localClock(zone, at).slice(0, 10)

/** Calendar steps at which windows and buckets may begin, longest last. */
export const UNITS = ['five_minutes', 'ten_minutes', 'fifteen_minutes', 'hour', 'day', 'month', 'year'] as const
export type Unit = (typeof UNITS)[number]

const SECONDS = { five_minutes: 300, ten_minutes: 600, fifteen_minutes: 900, hour: 3600 } as const
const CALENDAR = {
  day: { start: startOfDay, add: addDays },
  month: { start: startOfMonth, add: addMonths },
  year: { start: startOfYear, add: addYears },
} as const

/** Seconds of a step that is always equally long; undefined for a day, a month and a year. */
export const fixedSeconds = (unit: Unit): number | undefined => SECONDS[unit as keyof typeof SECONDS]

/** The last border of a local unit at or before an instant. */
export function floorTo(zone: string, at: Instant, unit: Unit): Instant {
  const seconds = fixedSeconds(unit)
  if (seconds !== undefined) {
    const past = (at + offsetAt(zone, at)) % seconds
    return at - (past < 0 ? past + seconds : past)
  }
  const { start } = CALENDAR[unit as keyof typeof CALENDAR]
  return start(new TZDate(at * 1000, zone)).getTime() / 1000
}

/** Moves a border of a local unit by whole units; the result is a border too, whatever the clocks did in between. */
export function addUnits(zone: string, border: Instant, unit: Unit, count: number): Instant {
  const seconds = fixedSeconds(unit)
  if (seconds !== undefined) return border + count * seconds
  const { add, start } = CALENDAR[unit as keyof typeof CALENDAR]
  return start(add(new TZDate(border * 1000, zone), count, { in: tz(zone) })).getTime() / 1000
}

/** The first border of a local unit at or after an instant. */
export function ceilTo(zone: string, at: Instant, unit: Unit): Instant {
  const floor = floorTo(zone, at, unit)
  return floor === at ? at : addUnits(zone, floor, unit, 1)
}

/** The first instant of a local day. Answers undefined for a text that is no date of the calendar. */
export function startOfDate(zone: string, date: LocalDate): Instant | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(date)
  if (!match) return undefined
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  if (!isDate(year, month, day)) return undefined
  // Noon UTC shifted by the offset lies in the wanted local day for every zone on Earth.
  const noon = daysFromCivil(year, month, day) * 86_400 + 43_200
  return floorTo(zone, noon - offsetAt(zone, noon), 'day')
}
