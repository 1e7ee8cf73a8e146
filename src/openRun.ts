import { SyncError } from './base/errors.ts'
import type { EmitEvent, OnEvent } from './base/events.ts'
import { formatMillis } from './base/time/instant.ts'
import type { Store } from './db/store.ts'
import { eventRows } from './ingestContext.ts'
import type { Job } from './job/job.ts'
import { beginRun, type Counts, countsOf, endRun, NO_COUNTS } from './load/run.ts'

/** Where a run is recorded, and who listens. */
interface RunContext {
  readonly store: Store
  readonly version: string
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly onEvent?: OnEvent | undefined
}

/** A run while it goes on: `run.started` was told, and `run.ended` is told once, whatever ends it. */
export interface OpenRun {
  readonly runId: number
  /** Emits an event of this run. */
  readonly emit: EmitEvent
  /** Records its end, and tells it; `counts` are those of its record where it does not count for others. */
  end(outcome: 'done' | 'partial' | 'stopped' | 'failed', error: SyncError | null, counts?: Counts): Promise<void>
  /** Tells that it broke, and records it where that can still be written: not on a full disk, or when the database is gone. */
  fail(error: unknown, counts?: Counts): Promise<void>
}

/** Begins a run of a job, in the database and for whoever listens. */
export async function openRun(
  { store, version, now, onEvent }: RunContext,
  command: string,
  job: Pick<Job, 'name'> & Partial<Pick<Job, 'schedule' | 'timeZone'>>,
): Promise<OpenRun> {
  const began = now()
  const { schedule = null, timeZone } = job
  const record = { command, job: job.name, version, now: formatMillis(began), schedule }
  const runId = await beginRun(store, timeZone === undefined ? record : { ...record, timeZone })
  const emit: EmitEvent = (event, fields) => onEvent?.({ event, run: runId, job: job.name, command, ...fields })
  const tell = (outcome: string, error: SyncError | null, counts: Counts): void => {
    const { requests, failed, bytes, ...rows } = counts
    const why = { code: error?.code ?? null, reason: error?.message ?? null, hint: error?.hint ?? null }
    emit('run.ended', { outcome, ms: now() - began, requests, failed, bytes, rows: eventRows(rows), ...why })
  }
  emit('run.started', {})
  return {
    runId,
    emit,
    async end(outcome, error, counts) {
      const all = counts ?? (await countsOf(store, runId))
      await endRun(store, runId, outcome, error?.message ?? null, formatMillis(now()))
      tell(outcome, error, all)
    },
    async fail(thrown, counts) {
      const error = thrown instanceof SyncError ? thrown : new SyncError('an unexpected error', { code: 'bug' })
      const all = counts ?? (await countsOf(store, runId).catch(() => NO_COUNTS))
      await endRun(store, runId, 'failed', error.message, formatMillis(now())).catch(() => undefined)
      tell('failed', error, all)
    },
  }
}
