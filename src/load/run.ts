import type { Store } from '../db/store.ts'
import type { FetchOutcome } from '../db/tables/codes.ts'
import type { Job, OnReject } from '../job/job.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { EmitEvent } from '../util/events.ts'
import type { Redactor } from '../util/redact.ts'
import type { Sizes } from './learnedSizes.ts'

/** An open run: its database, clock and rules for loading replies, and the receiver of its events. */
export interface Run {
  /** Its id in `_run`. */
  readonly id: number
  readonly store: Store
  /** Which bodies of replies stay in the database. */
  readonly keep: Job['keep']
  readonly onReject: OnReject
  /** The clock, in epoch milliseconds. */
  readonly nowMs: () => number
  /** Emits an event of this run. */
  readonly emit: EmitEvent
  /** Removes the key from derived texts; bodies are redacted as they arrive. */
  readonly redactor: Redactor
  /** The window sizes that the service accepts, as far as they are known. */
  readonly sizes: Sizes
  /** Called at the end of every transaction that records a request. */
  readonly onRecord?: ((planned: PlannedRequest, outcome: FetchOutcome) => void) | undefined
}
