import { requireCoordination } from '../db/coordination.ts'
import { clearQueue } from '../db/queries/queues.ts'
import type { Store } from '../db/store.ts'
import { parseHost } from '../fetch/hosts.ts'
import type { OpenPacer } from '../fetch/pacer.ts'
import type { SyncContext } from '../sync/context.ts'
import { createClosers } from '../util/lifetime.ts'
import { createSharedPacer } from './sharedPacer.ts'

/** What a run takes from others that share its database: for its context. */
export interface SharedRun {
  /** @internal */
  readonly context: Pick<SyncContext, 'openPacer' | 'onLocked' | 'distribute'>
  /** Releases the connections to the shared pace and queue. */
  close(): Promise<void>
}

/**
 * Makes a run keep the pace of all processes that share its database; `distributed`: workers execute its plan. Requests that an
 * earlier plan left in the queue are deleted: this run plans them again. Throws InputError if the database is a file.
 */
export async function openSharedRun(
  store: Store,
  { baseUrl }: { readonly baseUrl: string },
  distributed = false,
): Promise<SharedRun> {
  const closers = createClosers()
  const openPacer: OpenPacer = (pace, onPause) => createSharedPacer(store, pace, { onPause })
  requireCoordination(store)
  const onLocked = (): Promise<void> => clearQueue(store.kysely, parseHost(baseUrl))
  if (!distributed) return { context: { openPacer, onLocked }, close: closers.close }
  const { openQueue } = await import('./queue.ts')
  const { distributeTo } = await import('./distribute.ts')
  // What fails in the upkeep of the queue is the workers' concern, too, and they report it.
  const queue = await openQueue(store, parseHost(baseUrl), () => undefined)
  closers.add(queue.stop)
  return { context: { openPacer, onLocked, distribute: distributeTo(queue) }, close: closers.close }
}
