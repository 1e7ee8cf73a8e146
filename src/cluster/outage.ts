import { BugError, NewerSchemaError, RightsError, type SyncError } from '../base/errors.ts'
import { errorFields } from '../base/eventFields.ts'
import type { EmitEvent } from '../base/events.ts'
import { asSyncError } from '../base/systemErrors.ts'
import { NoQueueError } from './queue.ts'

/** What waiting does not mend. */
const LASTING = [NewerSchemaError, RightsError, NoQueueError, BugError]

/** What a worker makes of errors outside of a request. */
export interface Outage {
  /** Takes an error: it lasts, and ends the worker, or the database does not answer, and the next attempt may succeed. */
  note(thrown: unknown): void
  /** The database has answered. */
  end(): void
}

/** Reports once that the database does not answer, and once that it does again, however many attempts lie between. */
export function createOutage(emit: EmitEvent, onLasting: (error: SyncError) => void): Outage {
  let since: number | null = null
  return {
    note(thrown) {
      const error = asSyncError(thrown)
      if (LASTING.some((one) => error instanceof one)) return onLasting(error)
      if (since !== null) return
      since = performance.now()
      emit('database.lost', errorFields(error))
    },
    end() {
      if (since !== null) emit('database.back', { ms: Math.round(performance.now() - since) })
      since = null
    },
  }
}
