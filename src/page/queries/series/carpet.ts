import type { Reader } from '../../../db/store.ts'
import { DAY, HOUR } from '../../../util/time/instant.ts'
import type { Interval } from '../../../util/time/interval.ts'
import { localClock, localDate, offsetAt } from '../../../util/time/zone.ts'
import { type GeoSeries, localDays, sixDigits } from './window.ts'

/** An hour of the clock: a day in which the clocks go back has one of them twice. */
interface Slot {
  /** The hour, 0 to 23. */
  readonly hour: number
  /** Whether the clock shows it for the second time. */
  readonly again: boolean
}

/** The days of an interval by hour: the mean over time of each hour. */
interface Carpet {
  readonly slots: readonly Slot[]
  readonly days: readonly CarpetDay[]
}

/** A day: for each slot its mean, null where there is no value, and false where the day has no such hour. */
interface CarpetDay {
  readonly date: string
  readonly hours: readonly (number | null | false)[]
}

/** The most days that are shown: a leap year. */
const MAX_CARPET_DAYS = 366

/** The beginning of an hour on the clock, with its slot: half past is in the hour that has begun. */
function slotOf(zone: string, at: number): Slot {
  const clock = localClock(zone, at)
  const before = at - HOUR
  const again =
    localClock(zone, before).slice(0, 13) === clock.slice(0, 13) && offsetAt(zone, before) > offsetAt(zone, at)
  return { hour: Number(clock.slice(11, 13)), again }
}

const slotKey = ({ hour, again }: Slot): number => 2 * hour + (again ? 1 : 0)

/** Reads the days of an interval hour by hour; undefined where there are too many of them for a picture. */
export async function readCarpet(
  db: Reader,
  line: GeoSeries,
  range: Interval,
  fetchId: number | null,
): Promise<Carpet | undefined> {
  const { zone } = line
  if ((range.to - range.from) / DAY > MAX_CARPET_DAYS) return undefined
  const days = localDays(zone, range)
  const hours = days.flatMap(({ from, to }, day) =>
    Array.from({ length: Math.ceil((to - from) / HOUR) }, (_, i) => {
      const at = from + i * HOUR
      return { day, at, key: slotKey(slotOf(zone, at)) }
    }),
  )
  const end = days.at(-1)?.to ?? range.to
  const found = await db.engine.extremes(line, [...hours.map(({ at }) => at), end], fetchId)
  const everyDay = Array.from({ length: 24 }, (_, hour) => 2 * hour)
  const keys = [...new Set([...everyDay, ...hours.map(({ key }) => key)])].sort((a, b) => a - b)
  const cells: (number | null | false)[][] = days.map(() => keys.map(() => false))
  for (const [i, { day, key }] of hours.entries()) {
    cells[day]![keys.indexOf(key)] = sixDigits(found[i]!.mean)
  }
  return {
    slots: keys.map((key) => ({ hour: key >> 1, again: key % 2 === 1 })),
    days: days.map(({ from }, day) => ({ date: localDate(zone, from), hours: cells[day]! })),
  }
}
