import { StoppedError, type SyncError } from '../base/errors.ts'
import type { EmitEvent } from '../base/events.ts'
import { canonical } from '../base/json.ts'
import { accountCalls } from '../calls/account.ts'
import { DEAD_MS, WORKER } from '../db/queries/workers.ts'
import type { Store } from '../db/store.ts'
import { createFetcher, type Fetcher } from '../fetch/fetch.ts'
import type { SyncContext } from '../ingestAll.ts'
import type { RejectPolicy } from '../ingestContext.ts'
import { closeQuarantine } from '../load/quarantine/closeQuarantine.ts'
import { type OpenRun, openRun, runOutcome } from '../runs/openRun.ts'
import { countsOf } from '../runs/runRecord.ts'
import type { QueuedRequest } from './queuedRequest.ts'
import { createSharedTurns } from './turns.ts'

/** What a worker needs, as a run does. Its clock is that of the database; its signal ends waits for turns, while calls under way are finished. */
export interface WorkerContext extends Omit<SyncContext, Planned | 'rejects'> {
  /** A second connection to the same database, for what cannot wait until an answer is loaded: turns, heartbeats, leases. */
  readonly control: Store
  /** What a reject does to the reply that has it. A worker has no limit of a whole run. */
  readonly onReject: RejectPolicy['onReject']
}

/** What only a run that plans needs. */
type Planned = 'onProgress' | 'turns' | 'execute' | 'requested' | 'later'

/** The run in which a worker records what it does for one job, as long as it has work. */
interface WorkerRun {
  readonly runId: number
  readonly emit: EmitEvent
  readonly fetcher: Fetcher
}

/** The runs of a worker, one for each job. */
export interface WorkerRuns {
  of(queued: QueuedRequest): Promise<WorkerRun>
  /** The numbers of the runs that are open. */
  runs(): readonly number[]
  /** What follows begins new runs: others took this worker for dead, and ended those that are open. */
  giveUp(): void
  /** Ends all of them; `stop`: why they end early. No request may be in hand any more. */
  end(stop: SyncError | null): Promise<void>
}

/** Why a run of a worker ends that others took for dead. */
const silentTooLong = (): StoppedError =>
  new StoppedError(`Its worker was silent for more than ${DEAD_MS / 1000} s, and others took it for dead.`, {
    hint: 'The worker goes on in a new run. See why it was suspended, or cut off from the database.',
    code: 'silent',
  })

/** Begins a run when the first request of a job comes. */
export function createWorkerRuns(context: WorkerContext): WorkerRuns {
  const { store, control, now, signal } = context
  const open = new Map<string, Promise<WorkerRun & OpenRun>>()
  /** Those that others ended. Requests in hand may still belong to them. */
  const givenUp: Promise<WorkerRun & OpenRun>[] = []
  const numbers = new Set<number>()

  const begin = async (queued: QueuedRequest) => {
    const run = await openRun(context, WORKER, { name: queued.job })
    const { runId, emit } = run
    numbers.add(runId)
    const onPause = (ms: number, reason: string): void => {
      emit('calls.paused', { wait_ms: Math.round(ms), reason })
      context.onPause?.(ms, reason)
    }
    const fetcher = createFetcher({
      ...context,
      pace: queued.pace,
      onPause,
      ...(await accountCalls({ ...context, onPause, emit }, null)),
      turns: createSharedTurns({ store: control, pace: queued.pace, signal, breaker: context.breaker, onPause }),
    })
    return { ...run, fetcher }
  }

  const close = async ({ runId, fetcher, end, fail }: WorkerRun & OpenRun, stop: SyncError | null): Promise<void> => {
    try {
      await fetcher.close()
      await closeQuarantine(store, now())
      const { failed, rows_rejected } = await countsOf(store, runId)
      await end(runOutcome(stop, failed + rows_rejected), stop)
      numbers.delete(runId)
    } catch (error) {
      await fail(error)
      throw error
    }
  }

  return {
    async of(queued) {
      const name = canonical([queued.job, queued.pace])
      let workerRun = open.get(name)
      if (!workerRun) {
        workerRun = begin(queued)
        open.set(name, workerRun)
        workerRun.catch(() => open.delete(name))
      }
      return workerRun
    },
    runs: () => [...numbers],
    giveUp() {
      givenUp.push(...open.values())
      open.clear()
    },
    async end(stop) {
      const all = [
        ...givenUp.splice(0).map((run) => [run, silentTooLong()] as const),
        ...[...open.values()].map((run) => [run, stop] as const),
      ]
      open.clear()
      // Each is ended, also where another cannot be.
      const ended = await Promise.allSettled(all.map(async ([run, why]) => close(await run, why)))
      for (const one of ended) if (one.status === 'rejected') throw one.reason
    },
  }
}
