import { openSync, readFileSync, writeSync } from 'node:fs'
import type { PlannedRequest } from '../src/job/plannedRequest.ts'
import { requestFor } from '../src/service/request.ts'
import { SERVICES } from '../src/service/services.ts'
import { addUnits, startOfDate } from '../src/util/time/zone.ts'

/** How many answers of how many days; each is about five geos, hour by hour, one series after the other. */
export interface Shape {
  readonly answers: number
  readonly days: number
}

export const SHAPES = {
  small: { answers: 1_200, days: 7 },
  large: { answers: 10, days: 833 },
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
/** Values of an answer, but for those of days in which the clocks change. */
export const valuesOf = ({ days }: Shape): number => days * 24 * GEOS.length
const ANSWERS_A_SERIES = 100

/** A body as the service writes it, in two parts, of which only the first names the indicator. `salt` changes every value, `stamp` only the time of the update. */
export function bodyOf(id: number, from: number, to: number, salt = 0, stamp = 0): { head: string; rows: string } {
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

/** What was asked for answer number `n`. */
export function plannedRequestOf(n: number, { days }: Shape): PlannedRequest {
  const indicatorId = 600 + Math.floor(n / ANSWERS_A_SERIES)
  // Whole days, as everything is asked.
  const from = addUnits(ZONE, BEGIN, 'day', (n % ANSWERS_A_SERIES) * days)
  const window = { from, to: addUnits(ZONE, from, 'day', days) }
  const call = {
    service: SERVICES.generic,
    route: 'indicator',
    params: { id: indicatorId, locale: 'es' },
    window,
  } as const
  return {
    ...call,
    entry: 'series[0]',
    request: requestFor(call),
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
    settledBefore: window.to,
    lookbackS: 172_800,
    timeZone: ZONE,
    complete: false,
  }
}

/** Writes the answers of a shape to a file: length, line break, body, line break, and again. */
export function writeAnswers(file: string, shape: Shape, salt: number, stamp: number): void {
  const out = openSync(file, 'w')
  for (let n = 0; n < shape.answers; n++) {
    const { series, window } = plannedRequestOf(n, shape)
    const { head, rows } = bodyOf(series!.indicatorId, window!.from, window!.to, salt, stamp)
    const body = Buffer.from(head + rows)
    writeSync(out, `${body.length}\n`)
    writeSync(out, body)
    writeSync(out, '\n')
  }
}

/** The bodies of such a file. */
export function readAnswers(file: string): Buffer[] {
  const all = readFileSync(file)
  const bodies: Buffer[] = []
  for (let at = 0; at < all.length; ) {
    const line = all.indexOf(10, at)
    const length = Number(all.toString('latin1', at, line))
    bodies.push(all.subarray(line + 1, line + 1 + length))
    at = line + 2 + length
  }
  return bodies
}
