/*
 * A local calendar from `Intl` alone, because an oracle that shared the program's calendar would share its faults. All
 * instants are epoch seconds.
 */

/** The time zone in which the service counts days. */
export const SERVICE_ZONE = 'Europe/Madrid'

const FIRST = Date.UTC(2023, 0, 1) / 1000
const LAST = Date.UTC(2028, 0, 1) / 1000
const HOUR = 3_600
const DAY = 86_400

/** Returns the offset of a zone in seconds, by Intl. */
function measure(format: Intl.DateTimeFormat, at: number): number {
  const parts = Object.fromEntries(format.formatToParts(at * 1000).map(({ type, value }) => [type, Number(value)]))
  const { year, month, day, hour, minute, second } = parts as Record<string, number>
  return Date.UTC(year!, month! - 1, day!, hour! % 24, minute!, second!) / 1000 - at
}

const known = new Map<string, readonly { readonly from: number; readonly offset: number }[]>()

function offsetsOf(zone: string) {
  const remembered = known.get(zone)
  if (remembered) return remembered
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const rows = [{ from: FIRST, offset: measure(format, FIRST) }]
  for (let day = FIRST; day < LAST; day += DAY) {
    if (measure(format, day + DAY) === rows.at(-1)!.offset) continue
    let low = day
    let high = day + DAY
    while (high - low > 60) {
      const middle = low + Math.floor((high - low) / 120) * 60
      if (measure(format, middle) === rows.at(-1)!.offset) low = middle
      else high = middle
    }
    rows.push({ from: high, offset: measure(format, high) })
  }
  known.set(zone, rows)
  return rows
}

/** Returns the offset of a zone in seconds. */
const offset = (zone: string, at: number): number =>
  (offsetsOf(zone).findLast(({ from }) => from <= at) ?? offsetsOf(zone)[0]!).offset

/** Returns the first instant at which a zone's clock shows a local time in UTC-like seconds. */
function instantOf(zone: string, clock: number): number {
  const candidates = [...new Set(offsetsOf(zone).map((row) => row.offset))].map((ahead) => clock - ahead)
  const exact = candidates.filter((at) => at + offset(zone, at) === clock).sort((a, b) => a - b)
  // For a skipped local time, the first instant after the gap.
  return exact[0] ?? Math.min(...candidates.filter((at) => at + offset(zone, at) > clock))
}

/** The units of the service's boundaries. */
export type Unit = 'day' | 'month' | 'year'

const floorClock = (clock: number, unit: Unit): number => {
  const date = new Date(clock * 1000)
  const month = unit === 'year' ? 0 : date.getUTCMonth()
  return Date.UTC(date.getUTCFullYear(), month, unit === 'day' ? date.getUTCDate() : 1) / 1000
}
const addClock = (clock: number, unit: Unit, count: number): number => {
  const date = new Date(clock * 1000)
  if (unit === 'day') date.setUTCDate(date.getUTCDate() + count)
  else if (unit === 'month') date.setUTCMonth(date.getUTCMonth() + count)
  else date.setUTCFullYear(date.getUTCFullYear() + count)
  return date.getTime() / 1000
}

/** Returns the local boundary at or before an instant, moved by a number of units. */
export const border = (zone: string, at: number, unit: Unit, count = 0): number =>
  instantOf(zone, addClock(floorClock(at + offset(zone, at), unit), unit, count))

/** Returns the first instant of a date. */
export const startOf = (zone: string, date: string): number => instantOf(zone, Date.parse(`${date}T00:00:00Z`) / 1000)
/** Returns noon of a date. */
export const noonOf = (zone: string, date: string): number => instantOf(zone, Date.parse(`${date}T12:00:00Z`) / 1000)

/** Returns the date of an instant. */
export const dateOf = (zone: string, at: number): string =>
  new Date((at + offset(zone, at)) * 1000).toISOString().slice(0, 10)

/** Returns the service's units that intersect [from, to), in order. */
export function unitsOf(from: number, to: number, unit: Unit): { readonly from: number; readonly to: number }[] {
  const units: { from: number; to: number }[] = []
  for (let start = border(SERVICE_ZONE, from, unit); start < to; ) {
    const end = border(SERVICE_ZONE, start, unit, 1)
    units.push({ from: start, to: end })
    start = end
  }
  return units
}

export { DAY, HOUR }
