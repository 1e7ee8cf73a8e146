import { openSync, readFileSync, writeSync } from 'node:fs'
import type { PlannedRequest } from '../src/job/plannedRequest.ts'
import { requestFor } from '../src/service/request.ts'
import { SERVICES } from '../src/service/services.ts'
import { addUnits, startOfDate } from '../src/util/time/zone.ts'

/** The number of responses and their days. Each response has hourly values of five geos. */
export interface Shape {
  readonly responses: number
  readonly days: number
}

export const SHAPES = {
  small: { responses: 1_200, days: 7 },
  large: { responses: 10, days: 833 },
} as const satisfies Record<string, Shape>
export type ShapeName = keyof typeof SHAPES

const GEOS = [
  [3, 'España'],
  [1, 'Portugal'],
  [2, 'Francia'],
  [8741, 'Península'],
  [8826, 'Alemania'],
] as const
const ZONE = 'Europe/Madrid'
const BEGIN = startOfDate(ZONE, '2015-01-01')!
/** As in a backfill, long after the windows. */
const SETTLED_BEFORE = startOfDate(ZONE, '2026-01-01')!
/** Counts the values of a response, if no clock changes. */
export const countValues = ({ days }: Shape): number => days * 24 * GEOS.length
const RESPONSES_PER_SERIES = 100

/** Writes a body like the service, in two parts; only the first contains the indicator. `salt` changes every value, `stamp` only the time of the update. */
export function writeBody(id: number, from: number, to: number, salt = 0, stamp = 0): { head: string; rows: string } {
  const rows: string[] = []
  for (let at = from; at < to; at += 3600) {
    const utc = new Date(at * 1000).toISOString()
    const local = `${new Date((at + 3600) * 1000).toISOString().slice(0, 23)}+01:00`
    for (const [geo, name] of GEOS) {
      const value = (((at / 3600) * 104_729 + geo * 31 + salt * 17) % 20_000) / 100
      rows.push(
        `{"value":${value},"datetime":"${local}","datetime_utc":"${utc.slice(0, 19)}Z","tz_time":"${utc}","geo_id":${geo},"geo_name":"${name}"}`,
      )
    }
  }
  const geos = GEOS.map(([geo, name]) => `{"geo_id":${geo},"geo_name":"${name}"}`)
  return {
    head: `{"indicator":{"name":"Precio","short_name":"Precio","id":${id},"composited":false,"step_type":"linear","disaggregated":true,"magnitud":[{"name":"Precio","id":23}],"tiempo":[{"name":"Hora","id":4}],"geos":[${geos}],"values_updated_at":"2025-11-${String(1 + stamp).padStart(2, '0')}T20:15:00.000+01:00"`,
    rows: `,"values":[${rows}]}}`,
  }
}

/** Plans the request of response number `n`. */
export function planRequest(n: number, { days }: Shape): PlannedRequest {
  const indicatorId = 600 + Math.floor(n / RESPONSES_PER_SERIES)
  const from = addUnits(ZONE, BEGIN, 'day', (n % RESPONSES_PER_SERIES) * days)
  const window = { from, to: addUnits(ZONE, from, 'day', days) }
  const call = {
    service: SERVICES.generic,
    route: 'indicator',
    params: { id: indicatorId, locale: 'es' },
    window,
  } as const
  return {
    ...call,
    entryPath: 'series[0]',
    http: requestFor(call),
    locale: 'es',
    reason: 'missing',
    series: {
      kind: 'indicator',
      indicatorId,
      timeTrunc: null,
      timeAgg: null,
      geoAgg: null,
      geoTrunc: null,
      geoIds: null,
    },
    geoIds: [0],
    settledBefore: SETTLED_BEFORE,
    lookbackS: 172_800,
    timeZone: ZONE,
    isUnfiltered: false,
  }
}

/** Writes the responses of a shape to a file, each as length, line break, body, line break. */
export function writeResponses(file: string, shape: Shape, salt: number, stamp: number): void {
  const out = openSync(file, 'w')
  for (let n = 0; n < shape.responses; n++) {
    const { series, window } = planRequest(n, shape)
    const { head, rows } = writeBody(series!.indicatorId, window!.from, window!.to, salt, stamp)
    const body = Buffer.from(head + rows)
    writeSync(out, `${body.length}\n`)
    writeSync(out, body)
    writeSync(out, '\n')
  }
}

/** Reads the bodies of such a file. */
export function readResponses(file: string): Buffer[] {
  const bytes = readFileSync(file)
  const bodies: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const line = bytes.indexOf(10, at)
    const length = Number(bytes.toString('latin1', at, line))
    bodies.push(bytes.subarray(line + 1, line + 1 + length))
    at = line + 2 + length
  }
  return bodies
}
