import { buildRequest } from '../src/api/request.ts'
import { SERVICES } from '../src/api/services.ts'
import type { Ask } from '../src/job/ask.ts'

/** How many answers of how many values; each is about five geos, hour by hour, one series after the other. */
export interface Shape {
  readonly answers: number
  readonly values: number
}

export const SHAPES = {
  small: { answers: 1_200, values: 850 },
  large: { answers: 10, values: 100_000 },
} as const satisfies Record<string, Shape>

const GEOS = [
  [3, 'España'],
  [1, 'Portugal'],
  [2, 'Francia'],
  [8741, 'Península'],
  [8826, 'Alemania'],
] as const
const BEGIN = Date.parse('2015-01-01T00:00:00Z') / 1000
const ANSWERS_A_SERIES = 100

/** What was asked for answer number `n`, and its body as the service writes it. `salt` changes every value, `stamp` only the time of the update. */
export function answer(n: number, { values }: Shape, salt = 0, stamp = 0): { ask: Ask; body: Buffer } {
  const hours = values / GEOS.length
  const indicatorId = 600 + Math.floor(n / ANSWERS_A_SERIES)
  const from = BEGIN + (n % ANSWERS_A_SERIES) * hours * 3600
  const rows: string[] = []
  for (let hour = 0; hour < hours; hour++) {
    const at = new Date((from + hour * 3600) * 1000).toISOString()
    const local = `${new Date((from + hour * 3600 + 3600) * 1000).toISOString().slice(0, 23)}+01:00`
    for (const [id, name] of GEOS) {
      const value = ((n * 7919 + hour * 104_729 + id * 31 + salt * 17) % 20_000) / 100
      rows.push(
        `{"value":${value},"datetime":"${local}","datetime_utc":"${at.slice(0, 19)}Z","tz_time":"${at}","geo_id":${id},"geo_name":"${name}"}`,
      )
    }
  }
  const geos = GEOS.map(([id, name]) => `{"geo_id":${id},"geo_name":"${name}"}`)
  const body = Buffer.from(
    `{"indicator":{"name":"Precio","short_name":"Precio","id":${indicatorId},"composited":false,"step_type":"linear","disaggregated":true,"magnitud":[{"name":"Precio","id":23}],"tiempo":[{"name":"Hora","id":4}],"geos":[${geos}],"values_updated_at":"2025-11-${String(1 + stamp).padStart(2, '0')}T20:15:00.000+01:00","values":[${rows}]}}`,
  )
  const window = { from, to: from + hours * 3600 }
  const params = { id: indicatorId, locale: 'es', start_date: window.from, end_date: window.to - 1 } as const
  const ask: Ask = {
    where: 'series[0]',
    route: 'indicator',
    params,
    request: buildRequest(SERVICES.generic, 'indicator', params),
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
    window,
    settledBefore: window.to,
    timeZone: 'Europe/Madrid',
    complete: false,
  }
  return { ask, body }
}
