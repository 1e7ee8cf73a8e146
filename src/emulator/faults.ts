import { setTimeout as wait } from 'node:timers/promises'
import { brotliCompressSync } from 'node:zlib'
import { z } from 'zod'
import { ROUTE_NAMES, type RouteName } from '../service/routes.ts'
import { noise } from './world/noise.ts'

/** Faults of the values of a series. */
const ROW_FAULTS = ['duplicates', 'unsorted', 'outside', 'revised', 'text', 'garbage', 'none', 'geo-missing'] as const

/** A fault: which calls it affects, and how. Calls of a route are counted from 1. */
const fault = z
  .strictObject({
    route: z
      .enum(ROUTE_NAMES as [RouteName, ...RouteName[]])
      .optional()
      .describe('Route; default: all'),
    id: z.int().positive().optional().describe('Indicator; default: all'),
    calls: z.array(z.int().positive()).optional().describe('Numbers of the calls'),
    every: z.int().positive().optional().describe('Every nth call'),
    probability: z.number().min(0).max(1).optional().describe('Share of the calls, chosen by the seed'),
    status: z.int().min(300).max(599).optional().describe('Status code of the response'),
    retryAfter: z
      .union([z.int(), z.literal('date')])
      .optional()
      .describe('Seconds, or date: two seconds ahead, as a date'),
    latencyMs: z.int().positive().optional().describe('Delay before the response'),
    body: z
      .enum([
        'drop',
        'truncated',
        'wrong-brotli',
        'html',
        'firewall',
        'message',
        'empty',
        'other-root',
        'other-id',
        'slow',
      ])
      .optional()
      .describe('Fault of the body'),
    rows: z.enum(ROW_FAULTS).optional().describe('Fault of the values'),
  })
  .refine(({ status, latencyMs, body, rows }) => status ?? latencyMs ?? body ?? rows, {
    error: 'a fault needs status, latencyMs, body or rows',
  })

export const faultFile = z.array(fault)
export type Fault = z.infer<typeof fault>

/** Counts the calls and returns the fault of each. */
export interface Faults {
  next(route: RouteName, id: string | undefined): Fault | undefined
}

/** The first fault of the list that applies to a call is used. */
export function createFaults(faults: readonly Fault[], seed: number): Faults {
  const calls = new Map<RouteName, number>()
  return {
    next(route, id) {
      const call = (calls.get(route) ?? 0) + 1
      calls.set(route, call)
      return faults.find((fault, i) => {
        if (fault.route && fault.route !== route) return false
        if (fault.id && fault.id !== Number(id)) return false
        if (fault.calls) return fault.calls.includes(call)
        if (fault.every) return call % fault.every === 0
        if (fault.probability !== undefined)
          return (noise(seed, i, ROUTE_NAMES.indexOf(route), call) + 1) / 2 < fault.probability
        return true
      })
    },
  }
}

interface IndicatorBody {
  indicator?: { values?: Record<string, unknown>[]; geos?: { geo_id: number }[]; values_updated_at?: string | null }
}

/** The change of values for each kind of fault. */
const SPOIL_ROWS: Readonly<
  Record<(typeof ROW_FAULTS)[number], (values: Record<string, unknown>[]) => Record<string, unknown>[]>
> = {
  duplicates: (values) => values.flatMap((value) => [value, value]),
  unsorted: (values) =>
    values
      .map((_, i) => values[(i * 7919 + 13) % values.length]!)
      .filter((value, i, values) => values.indexOf(value) === i),
  outside: (values) => [
    ...values,
    ...values.slice(0, 3).map((value) => ({
      ...value,
      datetime: '2001-01-01T00:00:00.000+01:00',
      datetime_utc: '2000-12-31T23:00:00Z',
      tz_time: '2000-12-31T23:00:00.000Z',
    })),
  ],
  revised: (values) => values.map((value) => ({ ...value, value: Number(value.value) + 1 })),
  garbage: (values) => values.map((value, i) => (i === 0 ? { ...value, datetime: 'yesterday', tz_time: null } : value)),
  none: () => [],
  'geo-missing': (values) => values.filter(({ geo_id }) => geo_id !== values.at(-1)?.geo_id),
  text: (values) => values.map((value, i) => (i === 0 ? { ...value, value: String(value.value) } : value)),
}

function spoilRows(text: string, rows: Fault['rows']): string {
  const body = JSON.parse(text) as IndicatorBody
  if (!rows || !body.indicator?.values) return text
  const values = SPOIL_ROWS[rows](body.indicator.values)
  // The lists of geos and the time of the last update must fit the values.
  const geoIds = new Set(values.map(({ geo_id }) => geo_id))
  const geos = body.indicator.geos?.filter(({ geo_id }) => geoIds.has(geo_id))
  const age = values.length === 0 ? { values_updated_at: null } : {}
  return JSON.stringify({ indicator: { ...body.indicator, ...(geos && { geos }), ...age, values } })
}

const PAGE = '<!doctype html><html><body><h1>Down for maintenance</h1></body></html>'
const FIREWALL = '<html><head><title>Request Rejected</title></head><body>The requested URL was rejected.</body></html>'

/** A text in ten pieces with a pause before each. */
async function* slowly(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  const size = Math.max(1, Math.ceil(bytes.length / 10))
  for (let at = 0; at < bytes.length; at += size) {
    await wait(50)
    yield bytes.subarray(at, at + size)
  }
}

/** A response with a fault. Texts are compressed if the client accepts that. */
interface SpoiledResponse {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream
}

/** The response for each kind of fault. */
const SPOIL_BODY: Readonly<Record<Exclude<NonNullable<Fault['body']>, 'drop'>, (whole: string) => SpoiledResponse>> = {
  truncated: (whole) => ({ body: whole.slice(0, whole.length / 2) }),
  'wrong-brotli': (whole) => ({
    headers: { 'Content-Encoding': 'br' },
    body: Uint8Array.from(brotliCompressSync(whole).subarray(0, 20)),
  }),
  html: () => ({ headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: PAGE }),
  firewall: () => ({ status: 403, headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: FIREWALL }),
  message: () => ({ body: '{"message":"No values for specified archive"}' }),
  empty: () => ({ body: '' }),
  'other-root': () => ({ body: '{"something":{}}' }),
  'other-id': (whole) => ({ body: whole.replace(/"id":(\d+)/, (_, id) => `"id":${Number(id) + 1}`) }),
  slow: (whole) => ({ body: ReadableStream.from(slowly(whole)) }),
}

/** Returns the response with a fault, after its delay; null if the connection is dropped. */
export async function spoil(fault: Fault, text: string): Promise<SpoiledResponse | null> {
  const { status, retryAfter, latencyMs, body, rows } = fault
  if (latencyMs) await wait(latencyMs)
  if (body === 'drop') return null
  const whole = spoilRows(text, rows)
  const failed = status === undefined ? { body: whole } : { status, body: `{"status":${status},"message":"A fault"}` }
  const spoiled: SpoiledResponse = body ? SPOIL_BODY[body](whole) : failed
  if (retryAfter === undefined) return spoiled
  const until = retryAfter === 'date' ? new Date(Date.now() + 2000).toUTCString() : String(retryAfter)
  return { ...spoiled, headers: { ...spoiled.headers, 'Retry-After': until } }
}
