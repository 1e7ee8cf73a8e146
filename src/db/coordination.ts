import { InputError } from '../util/errors.ts'

/** Limits of the calls to a host. All lengths are milliseconds. */
export interface SlotTerms {
  /** Minimum time between two calls. */
  readonly gap: number
  /** Slots that start later than this from now are not taken. */
  readonly ahead: number
  /** Maximum calls within any window of `ms`. */
  readonly limits: readonly { readonly calls: number; readonly ms: number }[]
  /** How long calls are recorded: the longest of those windows. */
  readonly remembered: number
}

/** The next slot of a host. */
export interface Slot {
  /** Whether it was taken and its call counted. */
  readonly isTaken: boolean
  /** Milliseconds until it starts. */
  readonly beginsIn: number
  /** The index of the spent limit; null if there is none. */
  readonly spent: number | null
}

/** Operations for processes that share a database on a server. */
export interface Coordination {
  /**
   * Takes the next slot to call a host and counts the call, unless it starts too late or a limit is spent. Uses the server's
   * clock.
   */
  takeSlot(host: string, terms: SlotTerms): Promise<Slot>
  /** Delays the next slot of a host by at least `ms` from now. */
  delayHost(host: string, ms: number): Promise<void>
  /** Records that a host cannot be reached. */
  recordOutage(host: string): Promise<void>
  /** The time of the last such record by the server's clock (epoch milliseconds); 0 if there is none. */
  lastOutage(host: string): Promise<number>
  /** Whether a table exists, even if this user has no privileges on it. */
  hasTable(schema: string, table: string): Promise<boolean>
}

/** Returns the coordination of a database. Throws InputError if it is a file. */
export function requireCoordination({
  coordination,
  file,
}: {
  readonly file: string
  readonly coordination: Coordination | null
}): Coordination {
  if (coordination) return coordination
  throw new InputError(`Workers cannot share ${file}: it is a file.`, {
    hint: 'Pass --database postgres://USER@HOST/DATABASE.',
    code: 'only-servers',
  })
}
