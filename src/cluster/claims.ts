import type { Kysely, Transaction } from 'kysely'
import { KeyError, SyncError, TransientError } from '../base/errors.ts'
import { coordinationOf } from '../db/coordination.ts'
import { findSeries } from '../db/queries/seriesIdentity.ts'
import type { Store } from '../db/store.ts'
import { identityRow, type PlannedRequest } from '../job/plannedRequest.ts'
import type { Loading } from '../load/load.ts'
import type { Database } from '../tables/schema.ts'
import type { LeaseHolder } from './leases.ts'
import type { Claim, Queue } from './queue.ts'
import type { QueuedRequest } from './queuedRequest.ts'

/** Another worker has the request now: nothing more is written for it. */
export class LostClaimError extends SyncError {
  constructor() {
    super('Another worker has taken this request over.', { code: 'claim-lost' })
  }
}

/** Who holds the lease for a claim: each attempt at the same request has a lease of its own, in place of those before it. */
export const leaseHolderOf = ({ id, retryCount, data }: Claim<QueuedRequest>): LeaseHolder => ({
  id: `${id} ${retryCount}`,
  after: data.after,
  replaces: Array.from({ length: retryCount }, (_, earlier) => `${id} ${earlier}`),
})

/** A claimed request: a store that writes only while the claim is valid, and a way to end it with its answer. */
export interface ClaimedRequest {
  readonly store: Store
  /** Ends it in the transaction that records the answer to the whole of it. */
  readonly onRecorded: NonNullable<Loading['onRecorded']>
  /** Whether it has been ended. */
  readonly isEnded: () => boolean
}

/** Locks the series of a request until the transaction ends: what is recorded of a series depends on what is recorded already. */
async function lockSeries(store: Store, tx: Transaction<Database>, { series }: QueuedRequest): Promise<void> {
  const known = series && (await findSeries(tx, identityRow(series)))
  if (known) await coordinationOf(store).lockSeries(tx, known.id)
}

/**
 * How often a request is taken that fails with a transient error. It is sent several times each time, and the breaker pauses
 * all calls for longer and longer meanwhile: waiting for the plan would take hours. Then it is left for the next run, as by a run
 * of one process; what fails is recorded as of any run.
 */
const MAX_TAKES = 3

/** Ends a claimed request by its outcome: a transient error is tried again later. False where the claim is not valid any more. */
export const endClaim = (
  queue: Queue<QueuedRequest>,
  claim: Claim<QueuedRequest>,
  error: SyncError | null,
  tx?: Kysely<Database>,
): Promise<boolean> => {
  const output = error ? { code: error.code, message: error.message } : {}
  const again = error instanceof TransientError && claim.retryCount + 1 < MAX_TAKES
  return again ? queue.fail(claim, output, tx) : queue.complete(claim, output, tx)
}

/**
 * Ties what is written for a request to the claim on it. Every transaction ends by checking the claim, and is rolled back where
 * it is not valid any more; the transaction that records the answer to `whole` also ends the request. So the answer, its
 * coverage and the end of the request are recorded together, or not at all.
 */
export function claimedRequest(
  store: Store,
  queue: Queue<QueuedRequest>,
  claim: Claim<QueuedRequest>,
  whole: PlannedRequest | null,
): ClaimedRequest {
  let ended = false
  let ending = false
  return {
    isEnded: () => ended,
    async onRecorded(tx, planned, error) {
      // A refused key says nothing about the request.
      if (planned !== whole || error instanceof KeyError) return
      if (!(await endClaim(queue, claim, error, tx))) throw new LostClaimError()
      ending = true
    },
    store: {
      ...store,
      async write(work) {
        const result = await store.write(async (tx) => {
          ending = false
          await lockSeries(store, tx, claim.data)
          const done = await work(tx)
          if (!ended && !ending && !(await queue.isValid(claim, tx))) throw new LostClaimError()
          return done
        })
        ended ||= ending
        return result
      },
    },
  }
}
