import { requireCoordination } from '../db/coordination.ts'
import { clearQueue } from '../db/queries/queues.ts'
import type { Store } from '../db/store.ts'
import { parseHost } from '../fetch/hosts.ts'
import type { SharedRun } from '../sync/context.ts'
import { createSharedPacer } from './sharedPacer.ts'

/**
 * Lets runs keep the common pace of all processes on their database. `distributed`: workers execute their plans. Each run deletes
 * requests that an earlier plan left in the queue. Throws InputError if the database is a file.
 */
export async function openSharedRun(
  store: Store,
  { baseUrl }: { readonly baseUrl: string },
  distributed = false,
): Promise<SharedRun> {
  requireCoordination(store)
  const host = parseHost(baseUrl)
  const shared: SharedRun = {
    openPacer: (pace, onPause) => createSharedPacer(store, pace, { onPause }),
    clearQueue: () => clearQueue(store.kysely, host),
    close: async () => undefined,
  }
  if (!distributed) return shared
  const { openQueue } = await import('./queue.ts')
  const { distributeTo } = await import('./distribute.ts')
  // Errors in the maintenance of the queue are reported by the workers.
  const queue = await openQueue(store, host, () => undefined)
  return { ...shared, distribute: distributeTo(queue), close: queue.close }
}
