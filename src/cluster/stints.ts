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
import type { Ask } from './ask.ts'
import { createSharedTurns } from './turns.ts'

/** What a worker needs from outside: as a run does. Its clock is the database's; its signal ends waits for turns, and what is on its way is finished. */
export interface WorkerContext extends Omit<SyncContext, Planned | 'rejects'> {
  /** The same database by another connection, for what cannot wait until an answer is loaded: turns, and signs of life. */
  readonly signs: Store
  readonly rejects: RejectPolicy
}

/** What only who plans a run needs. */
type Planned = 'onPlanned' | 'onProgress' | 'turns' | 'carryOut' | 'requested' | 'later'

/** What a worker does of one job while there is something to do: a run of its own. */
export interface Stint {
  readonly runId: number
  readonly emit: EmitEvent
  readonly fetcher: Fetcher
}

/** The stints of a worker, one a job. */
export interface Stints {
  of(ask: Ask): Promise<Stint>
  /** The numbers of the runs that are open. */
  runs(): readonly number[]
  /** Ends all of them: nothing is in hand any more. */
  end(reason: string | null): Promise<void>
}

/** Opens stints when the first request of a job comes. */
export function createStints(context: WorkerContext): Stints {
  const { store, signs, now, signal, version } = context
  const open = new Map<string, Promise<Stint & { readonly job: string; readonly began: number }>>()
  const numbers = new Set<number>()

  const begin = async (ask: Ask) => {
    const began = now()
    const runId = await beginRun(store, { command: WORKER, job: ask.job, version, now: formatMillis(began) })
    numbers.add(runId)
    const emit: EmitEvent = (event, fields) =>
      context.onEvent?.({ event, run: runId, job: ask.job, command: WORKER, ...fields })
    const onHold = (ms: number, reason: string): void => {
      emit('calls.held', { wait_ms: Math.round(ms), reason })
      context.onHold?.(ms, reason)
    }
    const fetcher = createFetcher({
      ...{ ...context, pace: ask.pace, onHold, userAgent: `indicator-sync/${version}` },
      ...accountCalls({ ...context, onHold }, null),
      turns: createSharedTurns({ store: signs, pace: ask.pace, signal, breaker: context.breaker, onHold }),
    })
    emit('run.started', {})
    return { runId, emit, fetcher, job: ask.job, began }
  }

  const close = async (stint: Stint & { readonly began: number }, reason: string | null): Promise<void> => {
    const { runId, fetcher, emit, began } = stint
    await fetcher.close()
    await closeQuarantine(store, now())
    const { requests: calls, failed, bytes, ...rows } = await countsOf(store, runId)
    const outcome = reason !== null ? 'stopped' : failed + rows.rows_rejected > 0 ? 'partial' : 'done'
    await endRun(store, runId, outcome, reason, formatMillis(now()))
    numbers.delete(runId)
    emit('run.ended', { outcome, ms: now() - began, calls, failed, bytes, rows: eventRows(rows), reason })
  }

  return {
    async of(ask) {
      const name = canonical([ask.job, ask.pace])
      let stint = open.get(name)
      if (!stint) {
        stint = begin(ask)
        open.set(name, stint)
        stint.catch(() => open.delete(name))
      }
      return stint
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
