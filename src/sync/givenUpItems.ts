import { NO_FAILURE, UNKNOWN_STATUSES } from '../db/queries/fetchOutcomes.ts'
import { findSeries } from '../db/queries/seriesLookup.ts'
import type { Store } from '../db/store.ts'
import { type PlannedRequest, toIdentityRow } from '../job/plannedRequest.ts'
import { BrokenItemError, NotFoundError } from '../util/errors.ts'
import type { RequestOutcome } from './processRequest.ts'

/*
 * A run gives up an item that the service does not know, such as an indicator: its other windows are not requested. One process remembers
 * the item. Workers look at the records of their run, because another worker may have requested it.
 */

const path = ({ http }: PlannedRequest): string => http.target.split('?')[0]!

/** Creates a memory of the items that a run gives up in this process: also those for which the service fails again and again. */
export function createGivenUpItems() {
  const paths = new Set<string>()
  return {
    has: (planned: PlannedRequest): boolean => paths.has(path(planned)),
    note(outcome: RequestOutcome): void {
      // A listing has no id.
      if (outcome.kind !== 'failed' || outcome.planned.params.id === undefined) return
      const { planned, error } = outcome
      if (error instanceof NotFoundError || error instanceof BrokenItemError) paths.add(path(planned))
    },
  }
}

/** Whether the records of a run say that the service does not know the series of a request. Other failures may pass. */
export async function isUnknownInRun({ kysely }: Store, runId: number, { series }: PlannedRequest): Promise<boolean> {
  const stored = series && (await findSeries(kysely, toIdentityRow(series)))
  if (!stored) return false
  const refusal = await kysely
    .selectFrom('_fetch')
    .select('id')
    .where('run_id', '=', runId)
    .where('series_id', '=', stored.id)
    // Only failures, which have an index: a series may have thousands of requests.
    .where('outcome', 'not in', NO_FAILURE)
    .where('status', 'in', UNKNOWN_STATUSES)
    .limit(1)
    .executeTakeFirst()
  return refusal !== undefined
}
