import type { Store } from '../../src/db/store.ts'
import type { UserOptions } from '../../src/plan/planning.ts'
import type { Service } from '../../src/service/service.ts'
import { SERVICES } from '../../src/service/services.ts'
import { formatUtc } from '../../src/util/time/instant.ts'
import { json, ms, requestedWindow, runJob, serve, valueAt } from './kit.ts'

const HOUR = 3_600

/** The state of a service of hourly values, which a test changes over time. */
export interface HourlyState {
  /** Geos with values. */
  geos: number[]
  /** Whether a geo has a value at an instant. */
  has: (at: number, geo: number) => boolean
  /** The status of a failed response; undefined for a success. */
  status: (path: string, window: { from: number; to: number }) => number | undefined
  /** The declared resolution id. */
  tiempo: number
  /** Whether a value is unreadable. */
  spoiled: (at: number) => boolean
  /** Instants of additional values between those of its step. */
  strays: readonly number[]
}

/** Starts a service of hourly values that records its requested windows. */
export async function startHourlyService(first: Partial<HourlyState> = {}) {
  const state: HourlyState = {
    geos: [3],
    has: () => true,
    status: () => undefined,
    tiempo: 4,
    spoiled: () => false,
    strays: [],
    ...first,
  }
  const requested: { path: string; from: string; to: string; geos: string }[] = []
  const server = await serve((request, response) => {
    const url = new URL(request.url!, 'http://x')
    const { from, end } = requestedWindow(request)
    const only = url.searchParams.getAll('geo_ids[]').map(Number)
    const window = { from, to: end + 1 }
    requested.push({ path: url.pathname, from: formatUtc(window.from), to: formatUtc(window.to), geos: only.join() })
    const status = state.status(url.pathname, window)
    if (status !== undefined) return json(response, { message: 'no' }, status)
    const values = []
    const hours = Array.from({ length: Math.ceil((end + 1 - from) / HOUR) }, (_, i) => from + i * HOUR)
    for (const at of [...hours, ...state.strays.filter((at) => at >= from && at <= end)])
      for (const geo of state.geos)
        if ((only.length === 0 || only.includes(geo)) && state.has(at, geo))
          values.push(valueAt(at, state.spoiled(at) ? 'x' : 1, geo))
    json(response, {
      indicator: { id: Number(/\d+/.exec(url.pathname)![0]), tiempo: [{ id: state.tiempo }], geos: [], values },
    })
  })
  return {
    state,
    url: server.url,
    /** Runs a job at an instant and returns its requested windows as `from..to geos`. */
    async run(
      store: Store,
      yaml: string,
      at: string | number,
      options: UserOptions = {},
      service: Service = SERVICES.generic,
    ): Promise<string[]> {
      requested.length = 0
      await runJob(store, server, yaml, { now: typeof at === 'number' ? at : ms(at), options, service })
      return requested.map(({ from, to, geos }) => `${from.slice(0, 13)}..${to.slice(0, 13)}${geos ? ` ${geos}` : ''}`)
    },
    requested,
  }
}
