import { createClosers } from '../base/closers.ts'
import { hostOf } from '../calls/hosts.ts'
import { coordinationOf } from '../db/coordination.ts'
import { openStore } from '../db/open.ts'
import type { Store } from '../db/store.ts'
import type { OpenTurns } from '../fetch/turns.ts'
import type { SyncContext } from '../ingestAll.ts'
import { openClock } from './clock.ts'
import { openHandOut } from './handOut.ts'
import { createLeases, createOwnLeases } from './leases.ts'
import { createSharedTurns } from './turns.ts'

/** What a run does together with other machines: what it needs of its context for that. */
export interface SharedRun {
  readonly context: Pick<SyncContext, 'turns' | 'leased' | 'execute' | 'now'> & Partial<Pick<SyncContext, 'requested'>>
  close(): Promise<void>
}

/** Joins the machines that share a database: takes turns with them, by its clock; where `distributed`, hands them what is planned. */
export async function openSharedRun(
  store: Store,
  { service, baseUrl, signal, breaker }: Pick<SyncContext, 'service' | 'baseUrl' | 'signal' | 'breaker'>,
  distributed = false,
): Promise<SharedRun> {
  const closers = createClosers()
  try {
    // A second connection: taking a turn must not wait for the transaction that loads an answer.
    const control = await openStore(store.address, { durability: 'full' })
    closers.add(() => control.close())
    const clock = await openClock(control)
    closers.add(clock.close)
    const { lastFetch, forgetDeadProcesses } = coordinationOf(control)
    // Where no worker ever runs, nobody else does. What cannot be forgotten now is by the next one.
    await forgetDeadProcesses(clock.now()).catch(() => undefined)
    const own = createOwnLeases(createLeases(store, control, signal), await lastFetch())
    closers.add(own.close)
    const turns: OpenTurns = (pace, onPause) =>
      createSharedTurns({ store: control, pace, signal, breaker, givesUp: true, onPause })
    const context = {
      now: clock.now,
      turns,
      // Whoever hands out its plan requests nothing itself, but for the catalogue by which a job selects its indicators.
      leased: own.leased,
    }
    if (!distributed) return { context, close: closers.close }
    const { openQueue } = await import('./queue.ts')
    const queue = await openQueue<never>(control, hostOf(baseUrl), { supervises: false, onError: () => undefined })
    closers.add(queue.close)
    const { requested, execute } = await openHandOut(store, queue, service)
    return { context: { ...context, requested, execute }, close: closers.close }
  } catch (error) {
    await closers.close().catch(() => undefined)
    throw error
  }
}
