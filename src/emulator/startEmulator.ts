import { listen } from '../util/listen.ts'
import { type Instant, toInstant } from '../util/time/instant.ts'
import { createFaults, type Fault } from './faults.ts'
import { buildEmulatorServer, type RequestLogEntry } from './server.ts'
import type { Script } from './world/script.ts'

/** The default key of the emulator. */
export const EMULATOR_KEY = '0123456789abcdef'.repeat(4)

/** Settings of an emulator; all are optional. */
export interface EmulatorOptions {
  /** The same seed gives the same values. */
  readonly seed?: number
  /** The service's clock: a fixed instant, or a function. Default: the real clock. */
  readonly now?: Instant | (() => Instant)
  /** 0 for any free port. */
  readonly port?: number
  /** The address to listen on. Default: the loopback address. */
  readonly host?: string
  /** The API key to accept. Default: a fixed one. */
  readonly key?: string
  /** Milliseconds before every response. */
  readonly latencyMs?: number
  /** From this instant of its clock on, the hourly history of the spot price is served as quarter-hours. */
  readonly historyRewrittenAt?: Instant
  /** Scripted series, in addition to those of the demo or in their place. */
  readonly scripts?: readonly Script[]
  /** A request for more days times geos than this is refused with 504. Default: no limit. */
  readonly geoDays?: number
  /** Whether the request log keeps the bodies of responses. */
  readonly keepBodies?: boolean
  /** The faults to inject. */
  readonly faults?: readonly Fault[]
  /** Called after every response. */
  readonly log?: (entry: RequestLogEntry) => void
}

/** A running emulator. */
export interface Emulator {
  /** Where it listens, without a slash at the end. */
  readonly url: string
  /** The API key that it accepts. */
  readonly key: string
  /** Every request since it started, in the order of the responses. */
  readonly requests: readonly RequestLogEntry[]
  /** Stops its clock at an instant. */
  setNow(at: Instant): void
  /** Replaces the faults; calls are counted from 1 again. */
  setFaults(faults: readonly Fault[]): void
  /** Replaces the scripts. */
  setScripts(scripts: readonly Script[]): void
  /** Replaces the limit of days times geos. */
  setGeoDays(geoDays: number): void
  /** Stops it and closes all connections. */
  close(): Promise<void>
}

/** Starts an emulated service, on the loopback address by default. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { seed = 1, port = 0, host = '127.0.0.1', key = EMULATOR_KEY, latencyMs = 0, log } = options
  const { historyRewrittenAt = Number.POSITIVE_INFINITY, keepBodies = false } = options
  let { scripts = [], geoDays = Number.POSITIVE_INFINITY } = options
  let clock = options.now ?? (() => toInstant(Date.now()))
  let faults = createFaults(options.faults ?? [], seed)
  const requests: RequestLogEntry[] = []
  const server = buildEmulatorServer({
    key,
    latencyMs,
    keepBodies,
    faults: { next: (...call) => faults.next(...call) },
    world: () => {
      const now = Math.floor(typeof clock === 'function' ? clock() : clock)
      return { seed, now, historyRewrittenAt, scripts, geoDays }
    },
    note: (entry) => {
      requests.push(entry)
      log?.(entry)
    },
  })
  const { url, close } = await listen(server, { host, port })
  return {
    url,
    key,
    requests,
    setNow: (at) => {
      clock = at
    },
    setFaults: (next) => {
      faults = createFaults(next, seed)
    },
    setScripts: (next) => {
      scripts = next
    },
    setGeoDays: (next) => {
      geoDays = next
    },
    close,
  }
}
