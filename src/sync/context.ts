import type { Store } from '../db/store.ts'
import type { OpenPacer } from '../fetch/pacer.ts'
import type { Settings } from '../fetch/settings.ts'
import type { OnPause } from '../fetch/waits.ts'
import type { Job, OnReject } from '../job/job.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { Counts } from '../load/counts.ts'
import type { Run } from '../load/run.ts'
import type { UserOptions } from '../plan/planning.ts'
import type { RequestRegister } from '../plan/requestRegister.ts'
import type { SyncError } from '../util/errors.ts'
import type { OnEvent } from '../util/events.ts'
import type { JobSource } from './jobIdentity.ts'

/** The environment of runs: the service, database, clock, signal, and callbacks for progress. */
export interface SyncContext extends Settings {
  /** The database, opened as its only writer. */
  readonly store: Store
  /** The clock, in epoch milliseconds. */
  readonly nowMs: () => number
  /** Ends a run early; requests in progress are finished. */
  readonly signal: AbortSignal
  /** Default: quarantine. */
  readonly onReject?: OnReject | undefined
  /** Called synchronously for every event of `EVENTS`. It must return soon and never throw. */
  readonly onEvent?: OnEvent | undefined
  /** Called after every request. */
  readonly onProgress?: (progress: Progress) => void | Promise<void>
  /** Called when all calls pause. */
  readonly onPause?: OnPause | undefined
  /** Pace and queue shared with other processes. Default: a pace of this process, and no queue. */
  readonly sharedRun?: SharedRun | undefined
}

/** What to run: a job or a part of it. */
export interface RunSpec {
  readonly job: Job
  /** The command that runs it, such as `sync`. */
  readonly command: string
  /** The host and file of the job. Default: none, so that its name alone identifies it. */
  readonly source?: JobSource | undefined
  /** The requested part of the job, and how it is requested. Default: what is missing. */
  readonly options?: UserOptions
  /** The command and flags that select a part of the job. Default: described by `sync` if it requests only a part. */
  readonly part?: string | undefined
  /** Requests of earlier jobs of the same command, which are not sent again. */
  readonly requested?: RequestRegister
  /** Publishes the loaded data, such as to a lake, before the run is closed. Returns the error if that fails. */
  readonly publish?: (() => Promise<SyncError | null>) | undefined
}

/** The connections of a run to the pace and the queue that several processes share. */
export interface SharedRun {
  /** @internal Opens the shared pace. */
  readonly openPacer: OpenPacer
  /** @internal Deletes requests that an earlier plan left in the queue. */
  clearQueue(): Promise<void>
  /** @internal Lets workers execute the plan. Without it, this process executes it. */
  readonly distribute?: Distribute
  /** Closes the connection to the queue. */
  close(): Promise<void>
}

/**
 * Executes the requests of an open run elsewhere, and adds its failed requests to `failures`. Returns the reason if the run ends
 * early.
 */
export type Distribute = (
  context: SyncContext,
  job: Job,
  run: Run,
  requests: Iterable<PlannedRequest>,
  failures: RequestFailure[],
) => Promise<SyncError | null>

/** A request that failed for good. */
export interface RequestFailure {
  /** The request. */
  readonly planned: PlannedRequest
  /** Why it failed. */
  readonly error: SyncError
}

/** The progress of a run. */
export interface Progress {
  /** The request that was just completed. */
  readonly planned: PlannedRequest
  /** The counters of the run. */
  readonly counts: Counts
  /** Completed requests, including the parts of split ones. */
  readonly done: number
  /** All requests, including these parts; null if they were not counted. */
  readonly total: number | null
  /** Calls left within the job's budget; undefined if it has none. */
  readonly callsLeft: number | undefined
}
