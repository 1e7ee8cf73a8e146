import type { Instant } from '../../util/time/instant.ts'
import type { Script } from './script.ts'

/** The zone in which the service counts days. */
export const EMULATED_ZONE = 'Europe/Madrid'

/** Everything that responses depend on besides the request: the same world gives the same bytes. */
export interface World {
  readonly seed: number
  /** The service's clock. */
  readonly now: Instant
  /** From this instant on the hourly history of the spot price is served as quarter-hours, as the live service once did. */
  readonly historyRewrittenAt: Instant
  /** Scripted series, in addition to those of the demo or in their place. */
  readonly scripts: readonly Script[]
  /** A request for more days times geos than this is refused with 504. */
  readonly geoDays: number
}
