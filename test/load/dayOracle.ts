import type { Store } from '../store.ts'

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
    }
  })
  return totals.sort((a, b) => a.geo_id - b.geo_id || a.month - b.month || a.day - b.day)
}
