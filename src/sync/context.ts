import type { Store } from '../db/store.ts'
import type { ClientOptions } from '../fetch/client.ts'
import type { OpenPacer } from '../fetch/pacer.ts'
import type { Job } from '../job/job.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { Counts } from '../load/counts.ts'
import type { JobWithOptions } from '../plan/planning.ts'
import type { Requested } from '../plan/requested.ts'
import type { Service } from '../service/services.ts'
import type { SyncError } from '../util/errors.ts'
import type { OnEvent } from '../util/events.ts'
import type { OnReject } from './execute.ts'
import type { OpenRun } from './record.ts'

/** What a run needs from outside. */
export interface SyncContext
  extends Pick<
    ClientOptions,
    'baseUrl' | 'key' | 'version' | 'signal' | 'limits' | 'breaker' | 'onGivenUp' | 'retryMs' | 'onFailure'
  > {
  readonly store: Store
  readonly service: Service
  /** Whether the key may be sent unencrypted to another machine. */
  readonly allowHttp?: boolean | undefined
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Called for every event (`EVENTS` lists them), in the middle of the work: it must return soon and throw nothing. */
  readonly onEvent?: OnEvent | undefined
  /** Called after every request. */
  readonly onProgress?: (progress: Progress) => void | Promise<void>
  readonly onPause?: ClientOptions['onPause']
  readonly onReject?: OnReject
  /** Opens a pace that is shared with other processes. Default: a pace of this process. */
  readonly openPacer?: OpenPacer | undefined
  /** Called once the run has the writer's lock, before its first request is planned. */
  readonly onLocked?: (() => Promise<void>) | undefined
  /** Executes a plan elsewhere, such as by workers. Default: in this process. */
  readonly distribute?: Distribute | undefined
  /** What earlier jobs of the same command requested: it is not requested again. */
  readonly requested?: Requested
  /** The command and flags that select a part of the job. Default: described by `sync`, if it requests only a part. */
  readonly part?: string | undefined
  /** Later jobs of the same command: if one of them needs all geos of a series, all are requested at once. */
  readonly later?: readonly JobWithOptions[]
}

/** Executes the requests of a job elsewhere, as part of an open run. Adds what failed; returns why it ended early, if it did. */
export type Distribute = (
  context: SyncContext,
  job: Job,
  run: OpenRun,
  requests: Iterable<PlannedRequest>,
  failures: Failed[],
) => Promise<SyncError | null>

/** A request that failed for good. */
export interface Failed {
  /** The request. */
  readonly planned: PlannedRequest
  /** Why it failed. */
  readonly error: SyncError
}

/** The progress of a run. */
export interface Progress {
  /** The request that is done. */
  readonly planned: PlannedRequest
  /** The counters of this request. */
  readonly counts: Counts
  /** Requests that are done, with the parts of those that were split. */
  readonly done: number
  /** Requests in all, with these parts; null if they were not counted. */
  readonly total: number | null
  /** Calls left within the job's budget; undefined if it has none. */
  readonly callsLeft: number | undefined
}
