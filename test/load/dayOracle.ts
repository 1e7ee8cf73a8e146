import type { Store } from '../support/testStore.ts'

interface Value {
  readonly geo: number
  readonly at: number
  readonly value: number | null
  readonly step: number
}

const known = new Map<string, { readonly format: Intl.DateTimeFormat; readonly days: Map<number, string> }>()
/** Returns the local day of an instant, YYYY-MM-DD, by Intl. */
function dayOf(zone: string, at: number): string {
  let one = known.get(zone)
  if (!one) {
    const format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    })
    one = { format, days: new Map() }
    known.set(zone, one)
  }
  let day = one.days.get(at)
  if (day === undefined) {
    day = one.format.format(at * 1000)
    one.days.set(at, day)
  }
  return day
}

const lengths = new Map<string, { from: number; to: number; seconds: number }>()
/** Returns start, end and length of a day, minute by minute. */
function lengthOf(zone: string, date: string) {
  const known = lengths.get(`${zone} ${date}`)
  if (known) return known
  const noon = Date.parse(`${date}T12:00:00Z`) / 1000
  const minutes = Array.from({ length: 80 * 60 }, (_, i) => noon - 40 * 3600 + i * 60).filter(
    (at) => dayOf(zone, at) === date,
  )
  const length = { from: minutes[0]!, to: minutes.at(-1)! + 60, seconds: minutes.length * 60 }
  lengths.set(`${zone} ${date}`, length)
  return length
}

const clocks = new Map<string, Intl.DateTimeFormat>()
/** Returns the local time of day of an instant, in seconds, by Intl. */
function clockOf(zone: string, at: number): number {
  const format =
    clocks.get(zone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone: zone, timeStyle: 'medium', hourCycle: 'h23' })
  clocks.set(zone, format)
  const [hours, minutes, seconds] = format
    .format(at * 1000)
    .split(':')
    .map(Number) as [number, number, number]
  return hours * 3600 + minutes * 60 + seconds
}

/** Minutes of the steps that a day can have, the finest first. */
const STEP_MINUTES = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60, 120, 180, 240, 360, 480, 720, 1440]

/**
 * Returns the finest step of which the instants fill seven eighths of the periods of a day, at the offset of most of them, if most of
 * them have it.
 */
function stepOf(zone: string, seconds: number, instants: readonly number[]) {
  for (const minutes of STEP_MINUTES) {
    const step = minutes * 60
    // Periods up to an hour follow each other in UTC, longer ones on the local clock.
    const offsets = instants.map((at) => (minutes <= 60 ? at : clockOf(zone, at)) % step)
    const most = offsets
      .map((offset) => ({ offset, count: offsets.filter((other) => other === offset).length }))
      .reduce((best, one) => (one.count > best.count ? one : best), { offset: 0, count: 0 })
    const needed = minutes === 1440 ? 1 : ((seconds / step) * 7) / 8
    if (most.count >= needed && most.count * 2 > instants.length)
      return { step_s: step, offset_s: most.offset, strays: instants.length - most.count }
  }
  return { step_s: null, offset_s: null, strays: null }
}

/** Returns the expected rows of the table of days, from all values of a series. */
export function oracleDays(store: Store, zone: string, seriesId = 1): object[] {
  const values = store.all(
    'select geo_id as geo, at, value, step_s as step from observation where series_id = ? order by geo_id, at',
    [seriesId],
  ) as Value[]
  const days = Map.groupBy(values, ({ geo, at }) => `${geo} ${dayOf(zone, at)}`)
  const totals = [...days].map(([key, all]) => {
    const [geo, date] = key.split(' ') as [string, string]
    const [year, month, day] = date.split('-').map(Number) as [number, number, number]
    const there = all.flatMap((one) => (one.value === null ? [] : [{ ...one, value: one.value }]))
    const { from, to, seconds } = lengthOf(zone, date)
    const covered = there.reduce((sum, { step }) => sum + step, 0)
    const shortest = Math.min(...all.map(({ step }) => step))
    const even = new Set(there.map(({ step }) => step)).size === 1
    const only = <T>(value: T): T | null => (there.length === 0 ? null : value)
    return {
      series_id: seriesId,
      geo_id: Number(geo),
      month: year * 12 + month - 1,
      day,
      count: there.length,
      hours: only(covered / 3600),
      min: only(Math.min(...there.map(({ value }) => value))),
      max: only(Math.max(...there.map(({ value }) => value))),
      sum: only(there.reduce((sum, { value }) => sum + value, 0)),
      energy: even ? null : only(there.reduce((sum, { value, step }) => sum + value * step, 0) / 3600),
      first_s: only((there[0]?.at ?? 0) - from),
      last_s: only(to - (there.at(-1)?.at ?? 0)),
      missing: shortest >= seconds ? 0 : Math.max(0, Math.round((seconds - covered) / shortest)),
      ...stepOf(
        zone,
        seconds,
        there.map(({ at }) => at),
      ),
    }
  })
  return totals.sort((a, b) => a.geo_id - b.geo_id || a.month - b.month || a.day - b.day)
}
