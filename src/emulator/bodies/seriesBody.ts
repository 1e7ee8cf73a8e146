import type { Instant } from '../../util/time/instant.ts'
import type { Unit } from '../../util/time/zone.ts'
import { type ParsedQuery, queryLocale, RequestTooLargeError } from '../parseQuery.ts'
import { dayAt } from '../world/calendar.ts'
import { ancestor, findGeo } from '../world/emulatedGeos.ts'
import type { Point } from '../world/generatedValues.ts'
import { INDICATORS, type Indicator } from '../world/indicators.ts'
import { type Bilingual, encode, TERMS } from '../world/texts.ts'
import { NATIVE_STEPS, type Tiempo, type ValueSource } from '../world/valueSource.ts'
import type { World } from '../world/world.ts'
import { aggregate, createFloor } from './aggregate.ts'
import { millisLocal, valueStamps } from './stamps.ts'

/** Resolutions of grouped values: a grouped hour has another id than a native one. */
const GROUPED_STEPS: Readonly<Record<Unit, Tiempo>> = {
  five_minutes: NATIVE_STEPS[300]!,
  ten_minutes: NATIVE_STEPS[600]!,
  fifteen_minutes: NATIVE_STEPS[900]!,
  hour: ['Hora', 'Hour', 223],
  day: ['Día', 'Day', 2],
  month: ['Mes', 'Month', 3],
  year: ['Año', 'Year', 1],
}

/** Maximum values of a response, so that no request blocks the others. */
const MOST_VALUES = 600_000

/** The requested window, [from, to): one period, a range with its end included, or today. */
function requestedWindow(query: ParsedQuery, source: ValueSource, world: World): readonly [from: Instant, to: Instant] {
  if (typeof query.datetime === 'number') {
    const from = source.floor(query.datetime)
    return [from, from + 1]
  }
  const start = query.start_date as Instant | undefined
  const end = query.end_date as Instant | undefined
  const from = start ?? dayAt(end ?? world.now).from
  return [from, end === undefined ? Math.max(dayAt(world.now).to, dayAt(from).to) : end + 1]
}

const PIECE_CHARACTERS = 30_000

/** The requested values, grouped as requested. */
interface SelectedValues {
  readonly values: readonly Point[]
  readonly tiempo: Tiempo
  readonly updated: Instant | null
}

function selectValues(source: ValueSource, query: ParsedQuery, world: World): SelectedValues {
  const [from, to] = requestedWindow(query, source, world)
  const ids = query.geo_ids as readonly string[] | undefined
  const geos = source.geos.filter((geo) => !ids || ids.includes(String(geo))).sort((a, b) => a - b)
  const days = Math.round((to - from) / 86_400)
  if (days * geos.length > world.geoDays || source.most(from, to) * geos.length > MOST_VALUES)
    throw new RequestTooLargeError()
  const raw = source.points(geos, from, to)
  const unit = query.time_trunc as Unit | undefined
  const same = <T>(value: T): T => value
  // Across a change of resolution the service sums to hours, prices too.
  const isCoarsened = unit === undefined && source.changes(from, to, raw)
  const summed = unit ?? (isCoarsened ? 'hour' : undefined)
  const values = summed ? aggregate(raw, createFloor(summed), same, query.time_agg === 'average') : raw
  const level = query.geo_trunc as string | undefined
  const geoFor = (geo: number): number => (level === undefined ? geo : ancestor(geo, level))
  return {
    values: query.geo_agg ? aggregate(values, same, geoFor, query.geo_agg === 'average') : values,
    tiempo: summed ? GROUPED_STEPS[summed] : source.nativeAt(from, raw),
    updated: raw.length === 0 ? null : source.updated(raw),
  }
}

/** The body of `/indicators/{id}` and `/offer_indicators/{id}` as JSON text; the values of the latter have no geo. */
export function seriesBody(source: ValueSource, query: ParsedQuery, world: World, hasGeo: boolean): string {
  const locale = queryLocale(query)
  const { values, tiempo, updated } = selectValues(source, query, world)
  const stamps = valueStamps()
  // The serialized geo fields of a value.
  const tails = new Map<number, string>()
  const createTail = (geo: number): string => {
    if (query.geo_agg) return `,"geo_ids":[${geo}]}`
    return hasGeo ? `,"geo_id":${geo},"geo_name":${JSON.stringify(findGeo(geo)[locale])}}` : '}'
  }
  // Written in pieces: a string that grows by a million concatenations is slow to flatten.
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
      tail = createTail(geo)
      tails.set(geo, tail)
    }
    rows += `${rows === '' && pieces.length === 0 ? '' : ','}{"value":${value},${stamp}${tail}`
    if (rows.length > PIECE_CHARACTERS) {
      pieces.push(rows)
      rows = ''
    }
  }
  const geoIds = hasGeo ? [...tails.keys()].sort((a, b) => a - b) : []
  const { about, geos } = source
  const head = JSON.stringify({
    name: about[locale],
    short_name: about.short,
    id: about.id,
    composited: about.isComposited ?? false,
    step_type: 'linear',
    disaggregated: geos.length > 1,
    magnitud: [{ name: about.magnitude[1], id: about.magnitude[0] }],
    tiempo: [{ name: tiempo[locale === 'en' ? 1 : 0], id: tiempo[2] }],
    geos: geoIds.map((geo) => ({ geo_id: geo, geo_name: findGeo(geo)[locale] })),
    values_updated_at: updated === null ? null : millisLocal(updated),
  })
  return `{"indicator":${head.slice(0, -1)},"values":[${pieces.join('')}${rows}]}}`
}

const MAGNITUDE_WORD = { es: 'Magnitud', en: 'Magnitude' } as const

const describe = ({ about, magnitude }: Indicator, locale: keyof Bilingual): string | undefined =>
  about && encode(`<p>${about[locale]}</p><p><b>${MAGNITUDE_WORD[locale]}:</b> ${magnitude[1]}</p>`)

/** Whether an indicator has one of some terms, named in either language. */
const hasTerm = ({ terms }: Indicator, names: readonly string[]): boolean =>
  [...TERMS.values()].some(({ es, en }) => terms.includes(es) && (names.includes(es) || names.includes(en)))

/** The body of `/indicators`. Some have no description, as at the live service. */
export function catalogueBody(query: ParsedQuery, world: World): object {
  const locale = queryLocale(query)
  const terms = query.taxonomy_terms as readonly string[] | undefined
  const indicators = INDICATORS.filter((row) => !terms || hasTerm(row, terms)).map((row) => {
    const about = describe(row, locale)
    return { name: row[locale], ...(about && { description: about }), short_name: row.short, id: row.id }
  })
  const scripted = terms ? [] : world.scripts.filter(({ kind = 'indicator' }) => kind === 'indicator')
  for (const { id, name = `Serie ${id}` } of scripted)
    if (!indicators.some((row) => row.id === id)) indicators.push({ name, short_name: name, id })
  return { indicators, meta: { size: indicators.length } }
}
