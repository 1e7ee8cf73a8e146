import type { Kysely, Transaction } from 'kysely'
import { KeyError, StoppedError, type SyncError, TransientError } from '../base/errors.ts'
import { findSeries } from '../db/queries/series.ts'
import type { Store } from '../db/store.ts'
import { identityRow, type PlannedRequest } from '../job/plannedRequest.ts'
import type { Loading } from '../load/load.ts'
import type { Database } from '../tables/schema.ts'
import type { Claim, Queue } from './queue.ts'
import type { QueuedRequest } from './queuedRequest.ts'

/** Somebody else has the request in hand now: nothing of it is written any more. */
const lost = (): StoppedError => new StoppedError('Another worker has taken this request over.', { code: 'claim-lost' })

/** A request in hand: a store that writes only as long as it is, and a way to end it with its answer. */
export interface ClaimedRequest {
  readonly store: Store
  /** Ends it in the transaction that records the answer to the whole of it. */
  readonly settle: NonNullable<Loading['settle']>
  /** Whether it has been ended. */
  readonly settled: () => boolean
}

/** Locks the series of a request until the end of a transaction: what is recorded of a series is worked out from what is recorded already. */
async function lockSeries(tx: Transaction<Database>, { series }: QueuedRequest): Promise<void> {
  const known = series && (await findSeries(tx, identityRow(series)))
  if (known) await tx.selectFrom('series').select('id').where('id', '=', known.id).forNoKeyUpdate().execute()
}

/** Ends a request in hand by what came of it: what may pass is tried again later. False where it is in these hands no more. */
export const settleBy = (
  queue: Queue<QueuedRequest>,
  claim: Claim<QueuedRequest>,
  error: SyncError | null,
  tx?: Kysely<never>,
): Promise<boolean> => {
  const output = error ? { code: error.code, message: error.message } : {}
  return error instanceof TransientError ? queue.fail(claim, output, tx) : queue.complete(claim, output, tx)
}

/**
 * Ties what is written for a request to the claim on it: every transaction ends by looking whether it is still in these hands, and
 * is rolled back where it is not; the one that records the answer to `whole` ends the request with it. So an answer is there
 * with its coverage and the end of the request, or nothing of it.
 */
export function holdClaim(
  store: Store,
  queue: Queue<QueuedRequest>,
  claim: Claim<QueuedRequest>,
  whole: PlannedRequest | null,
): ClaimedRequest {
  let settled = false
  let settling = false
  return {
    settled: () => settled,
    async settle(tx, planned, error) {
      // A key that is refused says nothing of the request.
      if (planned !== whole || error instanceof KeyError) return
      if (!(await settleBy(queue, claim, error, tx as unknown as Kysely<never>))) throw lost()
      settling = true
    },
    store: {
      ...store,
      async write(work) {
        const result = await store.write(async (tx) => {
          settling = false
          await lockSeries(tx, claim.data)
          const done = await work(tx)
          if (!settled && !settling && !(await queue.holds(claim, tx as unknown as Kysely<never>))) throw lost()
          return done
        })
        settled ||= settling
        return result
      },
    },
  }
}
