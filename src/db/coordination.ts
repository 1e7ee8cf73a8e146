import { InputError } from '../util/errors.ts'

/** How often a host may be called. All lengths are milliseconds. */
export interface SlotTerms {
  /** Between two calls. */
  readonly gap: number
  /** A slot that begins later than this from now is not taken yet. */
  readonly ahead: number
  /** Calls within any window of so many milliseconds, at most. */
  readonly limits: readonly { readonly calls: number; readonly ms: number }[]
  /** How long a call is remembered: as long as the longest of those windows. */
  readonly remembered: number
}

/** The next slot of a host. */
export interface Slot {
  /** Whether it was taken, and its call counted. */
  readonly isTaken: boolean
  /** Milliseconds until it begins. */
  readonly beginsIn: number
  /** The limit that leaves no call, by its place in the list; null if every limit leaves one. */
  readonly spent: number | null
}

/** What processes share in a database on a server, beyond typed queries. */
export interface Coordination {
  /** Takes the next slot to call a host and counts the call, unless it begins too late or a limit is spent. By the clock of the server. */
  takeSlot(host: string, terms: SlotTerms): Promise<Slot>
  /** Delays the next slot of a host by at least so many milliseconds from now. */
  delayHost(host: string, ms: number): Promise<void>
  /** Records that no process reaches a host. */
  recordOutage(host: string): Promise<void>
  /** When that was recorded last, by the clock of the server (epoch milliseconds); 0 if it never was. */
  lastOutage(host: string): Promise<number>
  /** Whether there is a table, also one on which this user has no right. */
  hasTable(schema: string, table: string): Promise<boolean>
}

/** What processes share in this database. Throws InputError if it is a file. */
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
