import type { EmitEvent } from '../base/events.ts'
import { canonical } from '../base/json.ts'
import { formatMillis } from '../base/time/instant.ts'
import { accountCalls } from '../calls.ts'
import type { Store } from '../db/store.ts'
import { createFetcher, type Fetcher } from '../fetch/fetch.ts'
import type { SyncContext } from '../ingestAll.ts'
import { eventRows, type RejectPolicy } from '../ingestContext.ts'
import { closeQuarantine } from '../load/quarantine/closeQuarantine.ts'
import { beginRun, countsOf, endRun, WORKER } from '../load/run.ts'
import type { QueuedRequest } from './queuedRequest.ts'
import { createSharedTurns } from './turns.ts'

/** What a worker needs, as a run does. Its clock is that of the database; its signal ends waits for turns, while calls under way are finished. */
export interface WorkerContext extends Omit<SyncContext, Planned | 'rejects'> {
  /** The same database by another connection, for what cannot wait until an answer is loaded: turns, and signs of life. */
  readonly signs: Store
  readonly rejects: RejectPolicy
}

/** What only a run that plans needs. */
type Planned = 'onPlanned' | 'onProgress' | 'turns' | 'execute' | 'requested' | 'later'

/** The run in which a worker records what it does for one job, as long as it has work. */
export interface WorkerRun {
  readonly runId: number
  readonly emit: EmitEvent
  readonly fetcher: Fetcher
}

/** The runs of a worker, one for each job. */
export interface WorkerRuns {
  of(queued: QueuedRequest): Promise<WorkerRun>
  /** The numbers of the runs that are open. */
  runs(): readonly number[]
  /** Ends all of them; nothing may be in hand any more. */
  end(reason: string | null): Promise<void>
}

/** Begins a run when the first request of a job comes. */
export function createWorkerRuns(context: WorkerContext): WorkerRuns {
  const { store, signs, now, signal, version } = context
  const open = new Map<string, Promise<WorkerRun & { readonly job: string; readonly began: number }>>()
  const numbers = new Set<number>()

  const begin = async (queued: QueuedRequest) => {
    const began = now()
    const runId = await beginRun(store, { command: WORKER, job: queued.job, version, now: formatMillis(began) })
    numbers.add(runId)
    const emit: EmitEvent = (event, fields) =>
      context.onEvent?.({ event, run: runId, job: queued.job, command: WORKER, ...fields })
    const onHold = (ms: number, reason: string): void => {
      emit('calls.held', { wait_ms: Math.round(ms), reason })
      context.onHold?.(ms, reason)
    }
    const fetcher = createFetcher({
      ...{ ...context, pace: queued.pace, onHold, userAgent: `indicator-sync/${version}` },
      ...accountCalls({ ...context, onHold }, null),
      turns: createSharedTurns({ store: signs, pace: queued.pace, signal, breaker: context.breaker, onHold }),
    })
    emit('run.started', {})
    return { runId, emit, fetcher, job: queued.job, began }
  }

  const close = async (workerRun: WorkerRun & { readonly began: number }, reason: string | null): Promise<void> => {
    const { runId, fetcher, emit, began } = workerRun
    await fetcher.close()
    await closeQuarantine(store, now())
    const { requests: calls, failed, bytes, ...rows } = await countsOf(store, runId)
    const outcome = reason !== null ? 'stopped' : failed + rows.rows_rejected > 0 ? 'partial' : 'done'
    await endRun(store, runId, outcome, reason, formatMillis(now()))
    numbers.delete(runId)
    emit('run.ended', { outcome, ms: now() - began, calls, failed, bytes, rows: eventRows(rows), reason })
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
    async end(reason) {
      for (const [name, opened] of open) {
        open.delete(name)
        await close(await opened, reason)
      }
    },
  }
}
