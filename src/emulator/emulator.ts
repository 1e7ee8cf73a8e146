import type { AddressInfo } from 'node:net'
import type { Instant } from '../base/instant.ts'
import { createFaults, type Fault } from './faults.ts'
import { buildServer, type RequestLogEntry } from './server.ts'

/** The key that the embedded service accepts unless it is given another one. */
export const EMULATOR_KEY = '0123456789abcdef'.repeat(4)

/** How an embedded service is set up; everything may be left out. */
export interface EmulatorOptions {
  /** The same seed gives the same values. */
  readonly seed?: number
  /** The service's clock: an instant at which it stands still, or a function; the real clock when left out. */
  readonly now?: Instant | (() => Instant)
  /** 0 for any free port. */
  readonly port?: number
  readonly key?: string
  /** Milliseconds that every answer waits. */
  readonly latencyMs?: number
  /** From this instant of its clock on, the hourly history of the spot price is served as quarter-hours. */
  readonly historyRewrittenAt?: Instant
  /** What goes wrong, and when. */
  readonly faults?: readonly Fault[]
  /** Is told every request as it is answered. */
  readonly log?: (entry: RequestLogEntry) => void
}

/** A running embedded service. */
export interface Emulator {
  /** Where it listens, without a slash at the end. */
  readonly url: string
  readonly key: string
  /** Every request since it started, in the order of the answers. */
  readonly requests: readonly RequestLogEntry[]
  /** Stops its clock at an instant. */
  setNow(at: Instant): void
  close(): Promise<void>
}

/** Starts an embedded copy of the service on this machine's loopback address; nothing else ever starts it. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { seed = 1, port = 0, key = EMULATOR_KEY, latencyMs = 0, log } = options
  const { historyRewrittenAt = Number.POSITIVE_INFINITY } = options
  let clock = options.now ?? (() => Math.floor(Date.now() / 1000))
  const requests: RequestLogEntry[] = []
  const app = buildServer({
    key,
    latencyMs,
    faults: createFaults(options.faults ?? [], seed),
    world: () => ({ seed, now: Math.floor(typeof clock === 'function' ? clock() : clock), historyRewrittenAt }),
    note: (entry) => {
      requests.push(entry)
      log?.(entry)
    },
  })
  await app.listen({ host: '127.0.0.1', port })
  return {
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    key,
    requests,
    setNow: (at) => {
      clock = at
    },
    close: () => app.close(),
  }
}
