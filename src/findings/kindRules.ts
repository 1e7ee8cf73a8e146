import type { Reader } from '../db/store.ts'
import type { StoredJob } from '../state/storedJobs.ts'
import type { Instant } from '../util/time/instant.ts'
import type { CommandFacts } from './commands.ts'
import type { FindingKind } from './finding.ts'
import type { NextRuns } from './nextRuns.ts'
import type { Trouble, TroubleOf } from './trouble.ts'
import type { ListNames } from './words.ts'

/** What sentences need besides the facts. */
export interface MessageContext {
  /** Writes a command as the user types it. */
  readonly toCommand: (words: string) => string
  /** Lists names: all of them, or only the first ones. */
  readonly listNames: ListNames
  readonly now: Instant
  /** The next runs of each job. */
  readonly nextRuns: ReadonlyMap<number, NextRuns>
}

/** All that distinguishes one kind of finding from another. */
export interface KindRules<K extends FindingKind> {
  /** Finds the troubles of this kind. Kinds that one function finds name the same function, which is called once. */
  readonly find: (db: Reader, now: Instant) => Promise<readonly Trouble[]>
  /** What a finding is about, in some words. */
  readonly subject: (trouble: TroubleOf<K>, jobs: ReadonlyMap<number, StoredJob>) => string
  /** What is wrong, and what a person must do if no command helps. */
  readonly message: (trouble: TroubleOf<K>, context: MessageContext) => string
  /** The geos that a finding is about, each once; null if it is not about geos. */
  readonly geoIds: ((trouble: TroubleOf<K>) => readonly number[]) | null
  /** The command that ends a finding; null if only a person, or time, can. */
  readonly command:
    | ((trouble: TroubleOf<K>, facts: CommandFacts, consequences: readonly Trouble[]) => string | null)
    | null
  /** Whether a trouble of a later kind follows directly from one of this kind. A kind without it causes nothing. */
  readonly isCauseOf?: (cause: TroubleOf<K>, trouble: Trouble) => boolean
  /** True if the message names the series that lack data. */
  readonly namesItsSeries?: true
}
