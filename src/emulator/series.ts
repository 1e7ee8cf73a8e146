import { formatUtc, type Instant } from '../base/instant.ts'
import { addUnits, floorTo, formatOffset, localClock, offsetAt, type Unit } from '../base/zone.ts'
import type { Indicator } from './indicators.ts'
import { changesWithin, type Point, points, stepAt, updatedAt } from './values.ts'
import { geoOf, type World, ZONE } from './world.ts'

/** What is asked of a series, as read from the query. */
export interface SeriesQuery {
  readonly locale: string
  readonly datetime?: Instant
  readonly start_date?: Instant
  /** Included. */
  readonly end_date?: Instant
  readonly time_agg?: string
  readonly time_trunc?: string
  readonly geo_agg?: string
  readonly geo_ids?: readonly string[]
  readonly geo_trunc?: string
}

const TIEMPO: Readonly<Record<number, readonly [string, number]>> = {
  300: ['Cinco minutos', 222],
  600: ['Diez minutos', 219],
  900: ['Quince minutos', 218],
  3600: ['Hora', 4],
}
const TIEMPO_TRUNC: Readonly<Record<string, readonly [string, number]>> = {
  five_minutes: TIEMPO[300]!,
  ten_minutes: TIEMPO[600]!,
  fifteen_minutes: TIEMPO[900]!,
  hour: ['Hora', 223],
  day: ['Día', 2],
  month: ['Mes', 3],
  year: ['Año', 1],
}

/** A value that is ready to be written: what stands for its geo differs with geo_agg. */
interface Out {
  readonly at: Instant
  readonly geo: number
  value: number
  count: number
}

/** Groups points by a border of time and by a geo, and combines them. */
function group(
  all: Iterable<Point>,
  border: (at: Instant) => Instant,
  geoFor: (geo: number) => number,
  average: boolean,
): Out[] {
  const groups = new Map<string, Out>()
  for (const { at, geo, value } of all) {
    const start = border(at)
    const to = geoFor(geo)
    const key = `${start} ${to}`
    const out = groups.get(key)
    if (out) {
      out.value += value
      out.count++
    } else groups.set(key, { at: start, geo: to, value, count: 1 })
  }
  for (const out of groups.values()) out.value = Math.round((average ? out.value / out.count : out.value) * 100) / 100
  return [...groups.values()]
}

/** Borders of a local unit, with the last answer remembered. */
function bordersOf(unit: Unit): (at: Instant) => Instant {
  let from = 0
  let to = 0
  return (at) => {
    if (at < from || at >= to) {
      from = floorTo(ZONE, at, unit)
      to = addUnits(ZONE, from, unit, 1)
    }
    return from
  }
}

/** An instant in the service's three ways of writing it; the second of two equal clock hours has the UTC time of the first. */
function clocks(at: Instant): string {
  const offset = offsetAt(ZONE, at)
  const repeated = offsetAt(ZONE, at - 3600) - offset === 3600
  return `"datetime":"${localClock(ZONE, at)}.000${formatOffset(offset)}","datetime_utc":"${formatUtc(repeated ? at - 3600 : at)}","tz_time":"${formatUtc(at).slice(0, 19)}.000Z"`
}

/** The answer of `/indicators/{id}` and `/offer_indicators/{id}`, as JSON text. */
export function seriesAnswer(indicator: Indicator, query: SeriesQuery, world: World, withGeo: boolean): string {
  const today = floorTo(ZONE, world.now, 'day')
  const unasked = query.start_date === undefined && query.end_date === undefined
  const from = query.datetime ?? query.start_date ?? (unasked ? today : 0)
  const to =
    query.datetime !== undefined ? query.datetime + 1 : (query.end_date ?? addUnits(ZONE, today, 'day', 1) - 1) + 1
  const wanted = query.geo_ids?.map(Number)
  const geos = indicator.geos.filter((geo) => !wanted || wanted.includes(geo)).sort((a, b) => a - b)
  const raw = points(indicator, geos, from, to, world)
  const level = query.geo_agg ? query.geo_trunc : undefined
  const geoFor = (geo: number): number => (level === 'country' ? geoOf(geo).country : geo)
  const same = (at: Instant): Instant => at
  const coarsened = changesWithin(indicator, from, to, world).length > 0
  const trunc = query.time_trunc
  let values: Iterable<Point> = raw
  // Across a change of resolution the service sums to hours, prices too.
  if (trunc) values = group(raw, bordersOf(trunc as Unit), same, query.time_agg === 'average')
  else if (coarsened) values = group(raw, bordersOf('hour'), same, false)
  if (query.geo_agg) values = group(values, same, geoFor, query.geo_agg === 'average')

  const english = query.locale === 'en'
  const nameOf = (geo: number): string => (english ? geoOf(geo).en : geoOf(geo).es)
  const seen = new Set<number>()
  const rows: string[] = []
  const tails = new Map<number, string>()
  let last = -1
  let clock = ''
  for (const { at, geo, value } of values) {
    if (at !== last) {
      clock = clocks(at)
      last = at
    }
    seen.add(geo)
    let tail = tails.get(geo)
    if (tail === undefined) {
      tail = query.geo_agg
        ? `,"geo_ids":[${geo}]`
        : withGeo
          ? `,"geo_id":${geo},"geo_name":${JSON.stringify(nameOf(geo))}`
          : ''
      tails.set(geo, tail)
    }
    rows.push(`{"value":${value},${clock}${tail}}`)
  }
  const step = stepAt(indicator, Math.max(from, 1), world)
  const [tiempo, tiempoId] = trunc ? TIEMPO_TRUNC[trunc]! : coarsened ? (['Hora', 223] as const) : TIEMPO[step]!
  const head = JSON.stringify({
    name: english ? indicator.en : indicator.es,
    short_name: indicator.short,
    id: indicator.id,
    composited: indicator.composited ?? false,
    step_type: 'linear',
    disaggregated: indicator.geos.length > 1,
    magnitud: [{ name: indicator.magnitude[1], id: indicator.magnitude[0] }],
    tiempo: [{ name: tiempo, id: tiempoId }],
    geos: withGeo ? [...seen].sort((a, b) => a - b).map((geo) => ({ geo_id: geo, geo_name: nameOf(geo) })) : [],
    values_updated_at: rows.length === 0 ? null : stamp(updatedAt(indicator, last, world)),
  })
  return `{"indicator":${head.slice(0, -1)},"values":[${rows.join(',')}]}}`
}

/** `2021-10-30T20:16:46.000+02:00`. */
const stamp = (at: Instant): string => `${localClock(ZONE, at)}.000${formatOffset(offsetAt(ZONE, at))}`
