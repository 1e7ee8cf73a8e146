import type { Instant } from '../../util/time/instant.ts'
import { addUnits, floorTo, localDate } from '../../util/time/zone.ts'
import { EMULATED_ZONE } from './world.ts'

/** A local day: its borders and its place in the calendar. */
export interface CalendarDay {
  readonly from: Instant
  /** End, exclusive: 23, 24 or 25 hours after `from`. */
  readonly to: Instant
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  readonly date: number
  /** Days since 1 January. */
  readonly yearDay: number
  readonly isWeekend: boolean
}

const days = new Map<Instant, CalendarDay>()

/** The local day that begins at an instant. Cached, because calendars are slow. */
export function dayFrom(from: Instant): CalendarDay {
  let day = days.get(from)
  if (!day) {
    const [year, month, date] = localDate(EMULATED_ZONE, from).split('-').map(Number) as [number, number, number]
    const utc = Date.UTC(year, month - 1, date)
    day = {
      from,
      to: addUnits(EMULATED_ZONE, from, 'day', 1),
      year,
      month,
      date,
      yearDay: (utc - Date.UTC(year, 0, 1)) / 86_400_000,
      isWeekend: [0, 6].includes(new Date(utc).getUTCDay()),
    }
    days.set(from, day)
  }
  return day
}

/** The local day that contains an instant. */
export const dayAt = (at: Instant): CalendarDay => dayFrom(floorTo(EMULATED_ZONE, at, 'day'))

/** The instant of a time of the local clock, some days before or after a day. */
export const clockTime = (day: CalendarDay, days: number, hours: number, minutes = 0, seconds = 0): Instant =>
  // Summer time begins and ends before any hour at which something is published, so counting from the day's end is exact.
  addUnits(EMULATED_ZONE, day.from, 'day', days + 1) - 86_400 + hours * 3_600 + minutes * 60 + seconds
