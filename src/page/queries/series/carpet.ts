import type { Reader } from '../../../db/store.ts'
import { DAY, HOUR } from '../../../util/time/instant.ts'
import type { Interval } from '../../../util/time/interval.ts'
import { localClock, localDate, offsetAt } from '../../../util/time/zone.ts'
import { type GeoSeries, localDays, sixDigits } from './window.ts'

/** The most days that are shown: a leap year. */
const MAX_CARPET_DAYS = 366

/** The place of an hour on the clock: twice its number, and one more if the clocks show it for the second time. */
function placeOf(zone: string, at: number): number {
  const [hour, before] = [at, at - HOUR].map((one) => localClock(zone, one).slice(0, 13)) as [string, string]
  return 2 * Number(hour.slice(11)) + Number(hour === before && offsetAt(zone, at - HOUR) > offsetAt(zone, at))
}

/**
 * Reads the mean of every hour of the days of an interval: null where there is no value, false where the day has no such hour.
 * Null where there are too many days for a picture.
 */
export async function readCarpet(db: Reader, line: GeoSeries, range: Interval, fetchId: number | null) {
  const { zone } = line
  if ((range.to - range.from) / DAY > MAX_CARPET_DAYS) return null
  const days = localDays(zone, range)
  const hours = days.flatMap(({ from, to }, day) =>
    Array.from({ length: Math.ceil((to - from) / HOUR) }, (_, i) => {
      const at = from + i * HOUR
      return { day, at, key: placeOf(zone, at) }
    }),
  )
  const end = days.at(-1)?.to ?? range.to
  const found = await db.engine.extremes(line, [...hours.map(({ at }) => at), end], fetchId)
  const everyDay = Array.from({ length: 24 }, (_, hour) => 2 * hour)
  const keys = [...new Set([...everyDay, ...hours.map(({ key }) => key)])].sort((a, b) => a - b)
  const cells: (number | null | false)[][] = days.map(() => keys.map(() => false))
  for (const [i, { day, key }] of hours.entries()) cells[day]![keys.indexOf(key)] = sixDigits(found[i]!.mean)
  return {
    slots: keys.map((key) => ({ hour: key >> 1, again: key % 2 === 1 })),
    days: days.map(({ from }, day) => ({ date: localDate(zone, from), hours: cells[day]! })),
  }
}
