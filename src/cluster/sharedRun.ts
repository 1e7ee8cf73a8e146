import { createClosers } from '../base/closers.ts'
import { hostOf } from '../calls/hosts.ts'
import { coordinationOf } from '../db/coordination.ts'
import { clearQueue } from '../db/queries/queues.ts'
import type { Store } from '../db/store.ts'
import type { OpenTurns } from '../fetch/turns.ts'
import type { SyncContext } from '../ingestAll.ts'
import { createSharedPacer } from './pacer.ts'
import { createPacedTurns } from './turns.ts'

/** What a run takes from others that share its database: for its context. */
export interface SharedRun {
  readonly context: Pick<SyncContext, 'turns' | 'execute'>
  close(): Promise<void>
}

/**
 * Makes a run keep the pace of all processes that share its database; `distributed`: workers execute its plan. Requests that an
 * earlier plan left in the queue are deleted: this run plans them again. Throws InputError if the database is a file.
 */
export async function openSharedRun(
  store: Store,
  { baseUrl, signal, breaker }: Pick<SyncContext, 'baseUrl' | 'signal' | 'breaker'>,
  distributed = false,
): Promise<SharedRun> {
  const closers = createClosers()
  const turns: OpenTurns = (pace, onPause) =>
    createPacedTurns(createSharedPacer(store, pace, { onPause }), pace, signal, { breaker, givesUp: true })
  coordinationOf(store)
  await clearQueue(store.kysely, hostOf(baseUrl))
  if (!distributed) return { context: { turns }, close: closers.close }
  const { openQueue } = await import('./queue.ts')
  const { distributeTo } = await import('./distribute.ts')
  // What fails in the upkeep of the queue is the workers' concern, too, and they report it.
  const queue = await openQueue(store, hostOf(baseUrl), () => undefined)
  closers.add(queue.stop)
  return { context: { turns, execute: distributeTo(queue) }, close: closers.close }
}
