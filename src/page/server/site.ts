import type { Service } from '../../service/service.ts'
import type { Door } from './security.ts'

/** What a server needs to know. */
export interface Site {
  /** The database. */
  readonly file: string
  readonly version: string
  /** The service that the database is filled from. */
  readonly service: Service
  readonly door: Door
  /** Epoch seconds. */
  readonly now: () => number
  /** A command as this person types it. */
  readonly command: (rest: string) => string
  /** The folders of lakes that jobs keep up to date. */
  readonly lakes?: () => Promise<readonly string[]>
  /** Called with errors that are not the user's. */
  readonly failed: (error: unknown) => void
  /** How long a request may take to arrive, and how often that is checked, in milliseconds. */
  readonly receiveTimeoutMs?: { readonly headers: number; readonly check: number }
}
