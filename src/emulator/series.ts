import type { Instant } from '../base/instant.ts'
import type { Unit } from '../base/zone.ts'
import { aggregate, bordersOf } from './aggregate.ts'
import { dayOf } from './days.ts'
import { ancestorOf, geoOf } from './geos.ts'
import type { Indicator } from './indicators.ts'
import { localeOf, type Query } from './query.ts'
import { millisLocal, valueStamps } from './stamps.ts'
import { changesWithin, type Point, points, stepAt, updatedAt } from './values.ts'
import type { World } from './world.ts'

/** How the resolution of an answer is called, and its number. */
type Tiempo = readonly [es: string, en: string, id: number]

const NATIVE: Readonly<Record<number, Tiempo>> = {
  300: ['Cinco minutos', 'Five minutes', 222],
  600: ['Diez minutos', 'Ten minutes', 219],
  900: ['Quince minutos', 'Fifteen minutes', 218],
  3600: ['Hora', 'Hour', 4],
}
/** Grouped by the service, an hour has a number of its own. */
const GROUPED: Readonly<Record<Unit, Tiempo>> = {
  five_minutes: NATIVE[300]!,
  ten_minutes: NATIVE[600]!,
  fifteen_minutes: NATIVE[900]!,
  hour: ['Hora', 'Hour', 223],
  day: ['Día', 'Day', 2],
  month: ['Mes', 'Month', 3],
  year: ['Año', 'Year', 1],
}

/** The stretch that is asked for, [from, to): one period, a range with its end included, or today. */
function windowOf(query: Query, indicator: Indicator, world: World): readonly [from: Instant, to: Instant] {
  if (typeof query.datetime === 'number') {
    const from = query.datetime - (query.datetime % stepAt(indicator, query.datetime, world))
    return [from, from + 1]
  }
  const start = query.start_date as Instant | undefined
  const end = query.end_date as Instant | undefined
  const from = start ?? dayOf(end ?? world.now).from
  return [from, end === undefined ? Math.max(dayOf(world.now).to, dayOf(from).to) : end + 1]
}

const PIECE = 30_000

/** What is asked for, grouped as asked. */
interface Selection {
  readonly values: readonly Point[]
  readonly tiempo: Tiempo
  readonly updated: Instant | null
}

function select(indicator: Indicator, query: Query, world: World): Selection {
  const [from, to] = windowOf(query, indicator, world)
  const wanted = query.geo_ids as readonly string[] | undefined
  const geos = indicator.geos.filter((geo) => !wanted || wanted.includes(String(geo))).sort((a, b) => a - b)
  const raw = points(indicator, geos, from, to, world)
  const unit = query.time_trunc as Unit | undefined
  const same = <T>(value: T): T => value
  // Across a change of resolution the service sums to hours, prices too.
  const coarsened = unit === undefined && changesWithin(indicator, from, to, world)
  const summed = unit ?? (coarsened ? 'hour' : undefined)
  const values = summed ? aggregate(raw, bordersOf(summed), same, query.time_agg === 'average') : raw
  const level = query.geo_trunc as string | undefined
  const geoFor = (geo: number): number => (level === undefined ? geo : ancestorOf(geo, level))
  return {
    values: query.geo_agg ? aggregate(values, same, geoFor, query.geo_agg === 'average') : values,
    tiempo: summed ? GROUPED[summed] : NATIVE[stepAt(indicator, from, world)]!,
    updated: raw.length === 0 ? null : updatedAt(indicator, raw[0]!.at, raw.at(-1)!.at, world),
  }
}

/** The answer of `/indicators/{id}` and `/offer_indicators/{id}` as JSON text; the values of the latter have no geo. */
export function seriesAnswer(indicator: Indicator, query: Query, world: World, withGeo: boolean): string {
  const locale = localeOf(query)
  const { values, tiempo, updated } = select(indicator, query, world)
  const stamps = valueStamps()
  // What stands for the geo of a value, ready to be written.
  const tails = new Map<number, string>()
  const tailOf = (geo: number): string => {
    if (query.geo_agg) return `,"geo_ids":[${geo}]}`
    return withGeo ? `,"geo_id":${geo},"geo_name":${JSON.stringify(geoOf(geo)[locale])}}` : '}'
  }
  // Written in pieces: one text that grows by a million additions is slow to flatten.
  const pieces: string[] = []
  let rows = ''
  let last = Number.NaN
  let stamp = ''
  for (const { at, geo, value } of values) {
    if (at !== last) {
      stamp = stamps(at)
      last = at
    }
    let tail = tails.get(geo)
    if (tail === undefined) {
      tail = tailOf(geo)
      tails.set(geo, tail)
    }
    rows += `${rows === '' && pieces.length === 0 ? '' : ','}{"value":${value},${stamp}${tail}`
    if (rows.length > PIECE) {
      pieces.push(rows)
      rows = ''
    }
  }
  const seen = withGeo ? [...tails.keys()].sort((a, b) => a - b) : []
  const head = JSON.stringify({
    name: indicator[locale],
    short_name: indicator.short,
    id: indicator.id,
    composited: indicator.composited ?? false,
    step_type: 'linear',
    disaggregated: indicator.geos.length > 1,
    magnitud: [{ name: indicator.magnitude[1], id: indicator.magnitude[0] }],
    tiempo: [{ name: tiempo[locale === 'en' ? 1 : 0], id: tiempo[2] }],
    geos: seen.map((geo) => ({ geo_id: geo, geo_name: geoOf(geo)[locale] })),
    values_updated_at: updated === null ? null : millisLocal(updated),
  })
  return `{"indicator":${head.slice(0, -1)},"values":[${pieces.join('')}${rows}]}}`
}
