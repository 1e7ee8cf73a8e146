import type { Kysely, Transaction } from 'kysely'
import { InputError } from '../base/errors.ts'
import type { ClusterDatabase } from '../tables/cluster.ts'
import type { Database } from '../tables/schema.ts'

/** A database that many machines share, seen with the tables that only such a one has. */
export const shared = (db: Kysely<Database>): Kysely<ClusterDatabase> => db as unknown as Kysely<ClusterDatabase>

/** On what terms a turn is taken; all lengths are milliseconds. */
export interface TurnTerms {
  /** None begins within the next so many. */
  readonly lead: number
  /** None begins later than so many after the lead. */
  readonly ahead: number
  /** Between the beginnings of two. */
  readonly gap: number
  /** Calls under way at once, at most; the host may allow fewer at the moment. */
  readonly concurrency: number
  /** Calls that begin within any window of so many milliseconds, at most. */
  readonly limits: readonly { readonly calls: number; readonly ms: number }[]
  /** How long it is remembered that a call began: as long as the longest of those windows. */
  readonly remembered: number
  /** After how long the call counts as over where nobody renews it. */
  readonly alive: number
}

/** What stands in the way of a turn: a pause, too many calls under way, a turn that is too far ahead, or a limit by its place in the list of limits. */
type Obstacle = 'paused' | 'full' | 'far' | `${number}`

/** A turn that was taken, or what stands in its way. Times are epoch milliseconds by the clock of the database. */
export interface TurnAnswer {
  /** The number of the call under way; null where no turn was taken. */
  readonly id: number | null
  readonly obstacle: Obstacle | null
  readonly now: number
  /** When the turn begins, or would. */
  readonly begins: number
  /** Until when all calls to the host are paused. */
  readonly pausedUntil: number
}

/** A failure, or a pause that a host asked for, and how the circuit breaker judges it. */
export interface FailedCall {
  readonly isFailure: boolean
  /** Milliseconds that the host asked to wait. */
  readonly waitMs: number
  /** The breaker opens after so many failures in a row, for so many milliseconds, twice as long each time, up to a most. */
  readonly failures: number
  readonly pauseMs: number
  readonly maxPauseMs: number
}

/**
 * What machines that share a database do there and typed queries have no words for. Only a database on a server has it.
 * Whatever locks rows or tables without a transaction of the caller is one batch: several statements in one round trip, so that no
 * lock waits for a process, which may be frozen, or gone with its machine.
 */
export interface Coordination {
  /** The clock of the database in whole epoch milliseconds, the only one that all machines agree on; also in the middle of a transaction. */
  clock(tx?: Kysely<Database>): Promise<number>
  /** Locks a series until the transaction ends. What refers to it meanwhile does not wait. */
  lockSeries(tx: Transaction<Database>, seriesId: number): Promise<void>
  /**
   * Extends leases until so many milliseconds after now, those that have at least so many left, by the clock of the database at the
   * moment at which that is executed. Answers the names of their holders.
   */
  extendLeases(claims: readonly string[], lengthMs: number, leastLeftMs: number): Promise<readonly string[]>
  /** Takes a turn to call a host and spends its budget, where a call may begin and its turn is near. */
  takeTurn(host: string, terms: TurnTerms): Promise<TurnAnswer>
  /** Records a failure, or a pause that a host asked for, and answers for how many milliseconds the breaker pauses all calls. */
  judgeFailedCall(host: string, call: FailedCall): Promise<number>
  /**
   * The last answer (_fetch.id; 0 where there is none), when every answer of a lower number can be seen, too: an answer gets its
   * number before it is committed, and one that is long may be committed after those that follow. Waits for those that are being loaded.
   */
  lastFetch(): Promise<number>
  /** Forgets the workers that are dead at an instant (epoch milliseconds) and ends their runs, and forgets the leases and calls of any dead process. */
  forgetDeadProcesses(at: number): Promise<void>
  /** Whether there is a table, also one on which this user has no right. */
  isMade(schema: string, table: string): Promise<boolean>
}

/** A database, as far as it says whether machines share it. */
interface OfMachines {
  readonly file: string
  readonly coordination: Coordination | null
}

/** How machines work together on a database that they share. Throws InputError where the database is a file of one machine. */
export function coordinationOf({ coordination, file }: OfMachines): Coordination {
  if (coordination) return coordination
  throw new InputError(`${file} is a file: machines share only a database on a server.`, {
    hint: 'Name one with --database postgres://USER@HOST/DATABASE.',
    code: 'only-servers',
  })
}
