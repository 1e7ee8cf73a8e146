import type { Service } from '../service/service.ts'
import type { EmitEvent } from '../util/events.ts'
import type { BreakerOptions } from './breaker.ts'
import type { HostRecords } from './hosts.ts'
import type { Limits } from './http.ts'
import type { Pacer } from './pacer.ts'
import type { ProxySettings } from './proxies.ts'
import type { OnPause } from './waits.ts'

/** The service of a run, and how it is reached. */
export interface Settings {
  readonly service: Service
  readonly baseUrl: string
  /** The API key. */
  readonly key: string
  /** Allows sending the key to another machine over plain HTTP. Default: no. */
  readonly allowHttp?: boolean | undefined
  /** Default: no proxy. */
  readonly proxies?: ProxySettings | undefined
  /** Limits of a call that differ from the defaults. */
  readonly limits?: Partial<Limits> | undefined
  /** Milliseconds before the first retry. Default: a second. */
  readonly retryMs?: number | undefined
  /** When calls to a failing host pause, and when the run gives it up. */
  readonly breaker?: BreakerOptions | undefined
}

/** The options of a client beside the settings of its service. */
export interface ClientOptions {
  /** Decides when each call may be sent. */
  readonly pacer: Pacer
  /** Records hosts, and the pauses that they request, for later runs. Default: nothing is recorded. */
  readonly hosts?: HostRecords | undefined
  /** Maximum number of concurrent calls. */
  readonly concurrency: number
  /** The clock of the recorded times, in epoch milliseconds. Default: the system clock. */
  readonly nowMs?: (() => number) | undefined
  readonly signal: AbortSignal
  /** Emits that calls pause, or that the clock of this machine is wrong. Default: emits nothing. */
  readonly emit?: EmitEvent | undefined
  /** Called when all calls are paused for `ms` milliseconds. */
  readonly onPause?: OnPause | undefined
  /** Called when the breaker gives a host up. With it, a failing host does not end the run: it is tried again after a long pause. */
  readonly onGivenUp?: ((host: string) => Promise<void>) | undefined
}
