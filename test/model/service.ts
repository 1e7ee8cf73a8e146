/* The replies of the service, parsed from its log independently of the program. */

import type { RequestLogEntry } from '../../src/emulator/server.ts'
import type { Script, ScriptedResolution } from '../../src/emulator/world/script.ts'
import { border, SERVICE_ZONE } from './calendar.ts'

/** A request for a series. */
export interface SeriesRequest {
  readonly target: string
  /** The key of the dataset: equal keys mean the same values. */
  readonly key: string
  readonly kind: 'indicator' | 'offer_indicator'
  readonly id: number
  readonly trunc: string | null
  readonly grouped: boolean
  /** Null for all geos. */
  readonly geos: readonly number[] | null
  /** Null for a request about one instant. */
  readonly window: { readonly from: number; readonly to: number } | null
  /** The instant of the request; null for a window. */
  readonly instant: number | null
}

const PATH = /^\/(indicator|offer_indicator)s\/(\d+)$/

/** Parses the URL of a request; null if it is not about a series. */
export function parseRequest(target: string): SeriesRequest | null {
  const { pathname, searchParams: search } = new URL(target, 'http://service')
  const path = PATH.exec(pathname)
  if (!path) return null
  const geos = search.getAll('geo_ids[]').map(Number)
  const word = (name: string) => search.get(name)
  const geoAgg = word('geo_agg')
  const datetime = word('datetime')
  const [from, to] = [word('start_date'), word('end_date')].map((text) =>
    text === null ? Number.NaN : Date.parse(text) / 1000,
  )
  return {
    target,
    key: JSON.stringify([
      ...[path[1], Number(path[2]), word('time_trunc'), word('time_agg'), geoAgg, word('geo_trunc')],
      geoAgg === null || geos.length === 0 ? null : geos.join(),
    ]),
    kind: path[1] as SeriesRequest['kind'],
    id: Number(path[2]),
    trunc: word('time_trunc'),
    grouped: geoAgg !== null,
    geos: geos.length === 0 || geoAgg !== null ? null : geos,
    window: datetime === null ? { from: from!, to: to! + 1 } : null,
    instant: datetime === null ? null : Date.parse(datetime) / 1000,
  }
}

/** A value of a reply. */
interface ReplyValue {
  readonly geo: number
  readonly at: number
  readonly value: number
  readonly step: number | null
}

/** A reply as the service meant it. */
export interface Reply {
  readonly values: readonly ReplyValue[]
  /** Whether it is about another indicator than requested. */
  readonly foreign: boolean
  /** Invalid rows, unchanged. */
  readonly rejects: readonly string[]
  /** Whether it sums values of several resolutions, and must not be stored. */
  readonly mixed: boolean
  readonly tiempo: number | null
}

interface Body {
  readonly indicator: {
    readonly id: number
    readonly tiempo: readonly { readonly id: number }[]
    readonly values: readonly {
      readonly value: unknown
      readonly datetime: string
      readonly tz_time: string | null
      readonly geo_id?: number
      readonly geo_ids?: readonly number[]
    }[]
  }
}

/** Returns the resolution of a scripted instant at a time, and its index in the list. */
export function resolutionAt(script: Script, at: number, now: number): ScriptedResolution & { readonly place: number } {
  const rewritten = (script.actions ?? []).filter((action) => action.do === 'resolve' && action.at <= now).at(-1)
  const all = rewritten?.do === 'resolve' ? rewritten.resolutions : script.resolutions
  const place = Math.max(
    0,
    all.findLastIndex(({ from }) => from <= at),
  )
  return { ...all[place]!, place }
}

const FIXED: Readonly<Record<string, number>> = {
  hour: 3600,
  fifteen_minutes: 900,
  ten_minutes: 600,
  five_minutes: 300,
}

/** Returns the true length of the period that starts at an instant; null without a length. */
function stepOf(every: ScriptedResolution['every'] | string, at: number): number | null {
  if (typeof every === 'number') return every
  if (every === 'irregular') return null
  return FIXED[every] ?? border(SERVICE_ZONE, at, every as 'day', 1) - at
}

/** Formats a row independently of the order of its fields. */
export const canonicalText = (row: object): string =>
  JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))

/** Parses a reply, with knowledge of how the service generates it. */
export function readReply(request: SeriesRequest, { body, at: now }: RequestLogEntry, script: Script): Reply {
  const { indicator } = JSON.parse(body!) as Body
  const from = request.window?.from ?? Number.NEGATIVE_INFINITY
  const to = request.window?.to ?? Number.POSITIVE_INFINITY
  const rejects: string[] = []
  const values = new Map<string, ReplyValue>()
  for (const row of indicator.values) {
    const at = Date.parse(row.datetime) / 1000
    if (typeof row.value !== 'number' || Number.isNaN(at)) {
      rejects.push(canonicalText(row))
      continue
    }
    if (at < from || at >= to) continue
    const geo = row.geo_id ?? row.geo_ids?.[0] ?? 0
    const step = stepOf(request.trunc ?? resolutionAt(script, at, now).every, at)
    values.set(`${geo} ${at}`, { geo, at, value: row.value, step })
  }
  const list = [...values.values()]
  const places = new Set(list.map(({ at }) => resolutionAt(script, at, now).place))
  return {
    values: list,
    rejects,
    foreign: indicator.id !== request.id,
    mixed: request.trunc === null && request.window !== null && places.size > 1,
    tiempo: indicator.tiempo[0]?.id ?? null,
  }
}
