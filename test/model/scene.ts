/* The state of a running sequence, and how a difference ends it. */
import type { Emulator } from '../../src/emulator/startEmulator.ts'
import type { Script } from '../../src/emulator/world/script.ts'
import type { Oracle } from './oracle.ts'
import type { Program } from './program.ts'
import type { World } from './world.ts'

/** Counts of comparisons. */
export interface Tally {
  comparisons: number
  steps: number
  requests: number
}

/** The state of a running sequence. */
export interface Scene {
  readonly world: World
  readonly program: Program
  readonly emulator: Emulator
  readonly oracle: Oracle
  readonly tally: Tally
  readonly yaml: readonly [string, string]
  now: number
  /** When the next command dies: at a statement, or after a number of milliseconds. */
  kill: number | null
  /** The limit of days times geos, above which the service returns 504. */
  limit: number
  scripts: readonly Script[]
  /** Number of processed log entries and fetches. */
  seen: number
  fetches: number
  command: number
  /** Longest lookback in days with which each series was requested. */
  readonly lookbacks: Map<string, number>
  /** Shortest lookback: data settled for it may be merged with older data. */
  readonly shortest: Map<string, number>
  /** When a run of each job last sent a repeat. */
  readonly repeatedAt: Map<0 | 1, number>
  /** When a reply last changed the cadence of a series. */
  readonly learnedAt: Map<string, number>
  /** The jobs of which a run ended, so that what they require is stored. */
  readonly ran: Set<0 | 1>
  /** Instants after commands, for queries as of the past. */
  readonly past: number[]
  /** Known days of resolution changes by series. */
  readonly changes: Map<string, Set<number>>
  /** When each request without a window last succeeded. */
  readonly singles: Map<string, number>
  /** Start of the sequence in the service's log. */
  readonly first: number
}

/** A command on jobs; ranges are instants at the service's day boundaries. */
export type Plan =
  | { readonly do: 'sync'; readonly job: 0 | 1 }
  | { readonly do: 'retry' }
  | {
      readonly do: 'backfill' | 'restate'
      readonly job: 0 | 1
      readonly from: number
      readonly to: number
      readonly newestFirst: boolean
    }

/** A difference between model and program. */
export class Difference extends Error {}

/** Reports a difference and ends the sequence. */
export function differ(what: string, expected: unknown, actual: unknown): never {
  throw new Difference(`${what}\n  expected ${JSON.stringify(expected)}\n  actual   ${JSON.stringify(actual)}`)
}

/** Formats an instant for a message. */
export const timeText = (at: number): string => new Date(at * 1000).toISOString()
