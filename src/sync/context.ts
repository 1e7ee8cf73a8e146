import type { Store } from '../db/store.ts'
import type { ClientOptions } from '../fetch/client.ts'
import type { OpenPacer } from '../fetch/pacer.ts'
import type { Job } from '../job/job.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { Counts } from '../load/counts.ts'
import type { RequestRegister } from '../plan/requestRegister.ts'
import type { Service } from '../service/service.ts'
import type { SyncError } from '../util/errors.ts'
import type { OnEvent } from '../util/events.ts'
import type { JobSource } from './jobIdentity.ts'
import type { RunRecord } from './record.ts'

/** What to do with a reply that has invalid rows: quarantine those, or store it without loading it and end the run. */
export type OnReject = 'quarantine' | 'fail'

/** The environment of a run: database, service, clock, signal, and who is informed of its progress. */
export interface SyncContext
  extends Pick<
    ClientOptions,
    'baseUrl' | 'key' | 'version' | 'signal' | 'proxies' | 'onPause' | 'onGivenUp' | 'limits' | 'retryMs' | 'breaker'
  > {
  /** The database, opened as its only writer. */
  readonly store: Store
  readonly service: Service
  /** Whether the key may be sent unencrypted to another machine. */
  readonly allowHttp?: boolean | undefined
  /** The clock, in epoch milliseconds. */
  readonly nowMs: () => number
  readonly onReject?: OnReject
  /** Called synchronously for every event of `EVENTS`. It must return soon and never throw. */
  readonly onEvent?: OnEvent | undefined
  /** Called after every request. */
  readonly onProgress?: (progress: Progress) => void | Promise<void>
  /** Pace and queue shared with other processes. Default: a pace of this process, and no queue. */
  readonly shared?: SharedResources | undefined
  /** Requests of earlier jobs of the same command, which are not sent again. */
  readonly requested?: RequestRegister
  /** The host and file of the job. Default: none, so that its name alone identifies it. */
  readonly jobSource?: JobSource | undefined
  /** The command and flags that select a part of the job. Default: described by `sync` if it requests only a part. */
  readonly partCommand?: string | undefined
  /** Publishes the loaded data, such as to a lake, before the run is closed. Returns the error if that fails. */
  readonly publish?: (() => Promise<SyncError | null>) | undefined
}

/** Pace and queue that a run shares with other processes. */
export interface SharedResources {
  readonly openPacer: OpenPacer
  /** Deletes requests that an earlier plan left in the queue. */
  readonly clearQueue?: () => Promise<void>
  /** Lets workers execute the plan. Default: this process executes it. */
  readonly distribute?: Distribute
}

/**
 * Executes the requests of an open run elsewhere, and adds its failed requests to `failures`. Returns the reason if the run ends
 * early.
 */
export type Distribute = (
  context: SyncContext,
  job: Job,
  run: RunRecord,
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
