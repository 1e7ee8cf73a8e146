/* Worlds and their events as plain data that can be printed and shrunk. */
import type { Fault } from '../../src/emulator/faults.ts'
import type { Action, Script, ScriptedResolution } from '../../src/emulator/world/script.ts'
import { border, dateOf, HOUR, SERVICE_ZONE, startOf } from './calendar.ts'

/** The first day of most events; the 25-hour day is the seventh. */
const DAY_0 = startOf(SERVICE_ZONE, '2025-10-20')
/** Returns the first day of an interval, counted from `DAY_0`. */
export const dayAt = (n: number): number => border(SERVICE_ZONE, DAY_0 + 12 * HOUR, 'day', n)
export const dateAt = (n: number): string => dateOf(SERVICE_ZONE, dayAt(n))
/** The time at the start of every sequence: the morning of the eleventh day. */
export const BEGINNING = dayAt(10) + 10 * HOUR

export const KINDS = [
  ...['hourly', 'changing', 'changing twice', 'daily', 'monthly', 'events', 'odd number', 'announced'],
  ...['offer', 'unknown'],
] as const
export type Kind = string
export const idOf = (kind: Kind): number =>
  kind === 'announced' ? 600 : 9001 + (KINDS as readonly string[]).indexOf(kind)

/** An entry of a job. */
export interface Entry {
  readonly kind: Kind
  readonly mode: 'raw' | 'hour' | 'day' | 'month' | 'countries' | 'instant'
  /** Indexes of its geos; null for all. */
  readonly geo: readonly number[] | null
  /** Days from the first to the one after the last; `to` null: two days ahead of now. */
  readonly from: number
  readonly to: number | null
  readonly lookback: number
  readonly refresh: number
  readonly chunk: string | null
}

export interface JobSpec {
  readonly zone: string
  readonly entries: readonly Entry[]
  readonly callsPerDay: number | null
  readonly listings: boolean
}

export interface World {
  readonly lag: number
  /** Days on which series change their resolution. */
  readonly change: readonly [number, number]
  /** The resolution id of days and months, and of empty replies. */
  readonly tiempo: number
  readonly emptyTiempo: number
  readonly limit: number | null
  readonly jobs: readonly [JobSpec, JobSpec]
}

export type Step =
  | { readonly do: 'sync'; readonly job: 0 | 1 }
  | { readonly do: 'both' }
  | {
      readonly do: 'backfill' | 'restate'
      readonly job: 0 | 1
      readonly from: number
      readonly days: number
      readonly newestFirst: boolean
    }
  | { readonly do: 'retry' }
  | { readonly do: 'replay' }
  | { readonly do: 'dismiss' }
  | { readonly do: 'wait'; readonly seconds: number }
  | { readonly do: 'fail'; readonly fault: keyof typeof FAULTS; readonly every: number }
  | { readonly do: 'kill'; readonly at: number }
  | {
      /** `hole`: withdraws six hours of a day. */
      readonly do: 'revise' | 'withdraw' | 'late' | 'hole'
      readonly kind: Kind
      readonly from: number
      readonly days: number
      readonly geo: number | null
      readonly seconds: number
    }
  | { readonly do: 'resolve'; readonly kind: Kind }
  | { readonly do: 'limit'; readonly geoDays: number | null }

export const FAULTS = {
  'server error': { status: 500 },
  'gateway timeout': { status: 504 },
  'not found': { status: 404 },
  'an unreadable row': { rows: 'garbage' },
  'a value as text': { rows: 'text' },
  'no values': { rows: 'none' },
  'one geo missing': { rows: 'geo-missing' },
  'another indicator': { body: 'other-id' },
  'maintenance page': { body: 'html' },
  'connection dropped': { body: 'drop' },
  'half a body': { body: 'truncated' },
  'values outside the window': { rows: 'outside' },
  'rows twice': { rows: 'duplicates' },
  'rows out of order': { rows: 'unsorted' },
} as const satisfies Record<string, Fault>

export interface Sequence {
  readonly world: World
  readonly steps: readonly Step[]
}

const LONG_AGO = startOf(SERVICE_ZONE, '2025-01-01')

/** Returns the resolutions of a kind of series in a world. */
function resolutionsOf(kind: Kind, { change: [first, more], tiempo }: World): ScriptedResolution[] {
  const hours = { from: LONG_AGO, every: HOUR }
  switch (kind) {
    case 'changing':
      return [hours, { from: dayAt(first), every: 900 }]
    case 'changing twice':
      return [hours, { from: dayAt(first), every: 900 }, { from: dayAt(first + more), every: first % 2 ? HOUR : 300 }]
    case 'daily':
      return [{ from: LONG_AGO, every: 'day', tiempo }]
    case 'monthly':
      return [{ from: LONG_AGO, every: 'month', tiempo }]
    case 'events':
      return [{ from: LONG_AGO, every: 'irregular' }]
    case 'odd number':
      return [{ ...hours, tiempo: 223 }]
    case 'announced':
      return [hours, { from: startOf(SERVICE_ZONE, '2025-10-01'), every: 900 }]
    default:
      return [hours]
  }
}

/** Returns the emulator scripts of the series of a world. */
export function scriptsOf(world: World, actions: ReadonlyMap<Kind, readonly Action[]>): Script[] {
  return KINDS.filter((kind) => kind !== 'unknown').map((kind) => ({
    id: idOf(kind),
    kind: kind === 'offer' ? 'offer_indicator' : 'indicator',
    geos: geosOf(kind),
    resolutions: resolutionsOf(kind, world),
    lag: world.lag,
    emptyTiempo: world.emptyTiempo,
    actions: [...(actions.get(kind) ?? [])],
  }))
}

/** The geos of kinds of series with several; a community and its country are in the same country. */
const GEOS: Readonly<Record<Kind, readonly number[]>> = {
  hourly: [3, 8741, 1],
  daily: [3, 8741, 1],
  changing: [3, 8741],
}
/** Returns the geos of a kind of series. */
const geosOf = (kind: Kind): number[] => [...(GEOS[kind] ?? [3])]

/** Returns the action of a step on the service, if any. */
export function actionOf(one: Step, now: number): { readonly kind: Kind; readonly action: Action } | null {
  switch (one.do) {
    case 'hole': {
      const hole = { from: dayAt(one.from) + 6 * HOUR, to: dayAt(one.from) + 12 * HOUR }
      return { kind: one.kind, action: { do: 'withdraw', at: now, ...hole } }
    }
    case 'revise':
    case 'withdraw':
    case 'late': {
      const geos = one.geo === null ? {} : { geos: [geosOf(one.kind)[one.geo % geosOf(one.kind).length]!] }
      const where = { from: dayAt(one.from), to: dayAt(one.from + one.days), ...geos }
      if (one.do === 'late') return { kind: one.kind, action: { do: 'publish', at: now + one.seconds, ...where } }
      return { kind: one.kind, action: { do: one.do, at: now, ...where } }
    }
    case 'resolve':
      return {
        kind: one.kind,
        action: { do: 'resolve', at: now, resolutions: [{ from: LONG_AGO, every: one.kind === 'daily' ? HOUR : 900 }] },
      }
    default:
      return null
  }
}

/** Returns the days of an entry; null: two days ahead of today. Some kinds have other dates. */
export function datesOf({ kind, from, to }: Entry): { readonly from: string; readonly to: string | null } {
  if (kind === 'monthly') return { from: `2025-0${1 + (from % 5)}-01`, to: to === null ? null : '2025-10-01' }
  if (kind === 'announced') return { from: `2025-09-2${from}`, to: `2025-10-0${1 + ((to ?? 4) % 7)}` }
  return { from: dateAt(from), to: to === null || to <= from ? null : dateAt(to) }
}

const windowOf = (entry: Entry): string => {
  const { from, to } = datesOf(entry)
  return `{ from: ${from}, to: ${to ?? '+2d'} }`
}

const GROUPED: Partial<Record<Entry['mode'], string>> = {
  hour: ', timeTrunc: hour, timeAgg: average',
  day: ', timeTrunc: day, timeAgg: sum',
  month: ', timeTrunc: month, timeAgg: average',
  countries: ', geoAgg: sum, geoTrunc: country',
}

const LISTINGS = `catalogue: true
content: [{ kinds: [news, glossaries] }]
archives: [{ window: { from: 2025-10-27, to: +1d }, lookback: 1d }]
archivesJson: [{ window: { from: 2025-10-29, to: +1d } }]
widgets: { list: true, names: [potencia] }
`

const GROUPING: Partial<Record<Entry['mode'], readonly [trunc: string, agg: string]>> = {
  hour: ['hour', 'average'],
  day: ['day', 'sum'],
  month: ['month', 'average'],
}

export interface ResolvedEntry extends Entry {
  readonly id: number
  /** Empty for all geos. */
  readonly geoIds: readonly number[]
  /** The key of its dataset, as in requests. */
  readonly key: string
  readonly trunc: string | null
}

/** Returns the entries of a job with the facts that the oracle needs. */
export const entriesOf = (spec: JobSpec): readonly ResolvedEntry[] =>
  spec.entries.map((one) => {
    const geos = geosOf(one.kind)
    const mode = one.kind === 'offer' && one.mode !== 'instant' ? 'raw' : one.mode
    const geo = one.kind === 'offer' || mode === 'countries' ? null : one.geo
    const geoIds = geo === null ? [] : [...new Set(geo.map((place) => geos[place % geos.length]!))]
    const [trunc, agg] = GROUPING[mode] ?? [null, null]
    const geoAgg = mode === 'countries' ? ['sum', 'country'] : [null, null]
    const id = idOf(one.kind)
    const key = JSON.stringify([
      one.kind === 'offer' ? 'offer_indicator' : 'indicator',
      id,
      trunc,
      agg,
      ...geoAgg,
      null,
    ])
    return { ...one, mode, id, geoIds, key, trunc }
  })

/** Formats a job of a world as YAML. */
export function yamlOf(spec: JobSpec, name: string): string {
  const lines = { series: [] as string[], offers: [] as string[] }
  for (const entry of entriesOf(spec)) {
    const { id, geoIds, mode, kind, lookback, refresh, chunk } = entry
    const range = mode === 'instant' ? `datetime: ${dateAt(entry.from)}T12:00` : `window: ${windowOf(entry)}`
    const geos = geoIds.length > 0 ? `, geoIds: [${geoIds}]` : ''
    const size = chunk === null || mode === 'month' || mode === 'instant' ? '' : `, chunk: ${chunk}`
    lines[kind === 'offer' ? 'offers' : 'series'].push(
      `  - { indicators: [${id}]${geos}${GROUPED[mode] ?? ''}, ${range}, lookback: ${lookback}d, refresh: ${refresh / HOUR}h${size} }`,
    )
  }
  const part = (key: 'series' | 'offers') => (lines[key].length > 0 ? `${key}:\n${lines[key].join('\n')}\n` : '')
  const budget = spec.callsPerDay === null ? '' : `, callsPerDay: ${spec.callsPerDay}`
  return `name: ${name}
timeZone: ${spec.zone}
pace: { perSecond: 50, concurrency: 1${budget} }
${part('series')}${part('offers')}${spec.listings ? LISTINGS : ''}`
}
