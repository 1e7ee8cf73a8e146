import type { Reader } from '../../../db/store.ts'
import { DAY, HOUR } from '../../../util/time/instant.ts'
import type { Interval } from '../../../util/time/interval.ts'
import { localClock, localDate, offsetAt } from '../../../util/time/zone.ts'
import { periodBorders } from '../periods.ts'
import { type MeasuredLine, mainNumber } from './periodRows.ts'
import { sixDigits } from './window.ts'

/* The data of the heat map. */

/** The most days that are shown: a leap year. */
const MAX_CARPET_DAYS = 366

/** The place of an hour on the clock: twice its number, plus one if the clocks repeat it. */
function clockPlace(zone: string, at: number): number {
  const localHour = (instant: number): string => localClock(zone, instant).slice(0, 13)
  const hour = localHour(at)
  const isRepeated = hour === localHour(at - HOUR) && offsetAt(zone, at - HOUR) > offsetAt(zone, at)
  return 2 * Number(hour.slice(11)) + Number(isRepeated)
}

/** Reads the mean of every hour, or its energy: null without a value, false if the day has no such hour. Null if there are too many days. */
export async function readCarpet(db: Reader, line: MeasuredLine, range: Interval, fetchId: number | null) {
  const { zone } = line
  if ((range.to - range.from) / DAY > MAX_CARPET_DAYS) return null
  const borders = periodBorders(zone, range, 'day')
  const days = borders.slice(0, -1)
  const hours = days.flatMap((from, day) =>
    Array.from({ length: Math.ceil((borders[day + 1]! - from) / HOUR) }, (_, i) => {
      const at = from + i * HOUR
      return { day, at, key: clockPlace(zone, at) }
    }),
  )
  const extremes = await db.engine.readExtremes(line, [...hours.map(({ at }) => at), borders.at(-1)!], fetchId)
  const everyDay = Array.from({ length: 24 }, (_, hour) => 2 * hour)
  const keys = [...new Set([...everyDay, ...hours.map(({ key }) => key)])].sort((a, b) => a - b)
  const cells: (number | null | false)[][] = days.map(() => keys.map(() => false))
  for (const [i, { day, key }] of hours.entries())
    cells[day]![keys.indexOf(key)] = sixDigits(mainNumber(extremes[i]!, line.measure))
  return {
    slots: keys.map((key) => ({ hour: key >> 1, again: key % 2 === 1 })),
    days: days.map((from, day) => ({ date: localDate(zone, from), hours: cells[day]! })),
  }
}
