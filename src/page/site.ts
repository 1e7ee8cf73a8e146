import type { Door } from './security.ts'

/** What a server needs to know. */
export interface Site {
  /** The database. */
  readonly file: string
  readonly version: string
  readonly door: Door
  /** Epoch seconds. */
  readonly now: () => number
  /** A command as this person types it. */
  readonly command: (rest: string) => string
  /** The folders of lakes that jobs keep up to date. */
  readonly lakes?: () => Promise<readonly string[]>
  /** Is told what went wrong that is no fault of who asked. */
  readonly failed: (error: unknown) => void
  /** How long a request may take to come, and how often that is looked at, in milliseconds. */
  readonly receiveTimeoutMs?: { readonly headers: number; readonly check: number }
}
