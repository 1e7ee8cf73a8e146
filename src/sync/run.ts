import { callsLeft } from '../fetch/budget.ts'
import { parseHost } from '../fetch/hosts.ts'
import type { Job } from '../job/job.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { Counts } from '../load/counts.ts'
import { closeQuarantine } from '../load/quarantine/closeQuarantine.ts'
import { KeyError, RejectLimitError, SignalError, StoppedError, type SyncError } from '../util/errors.ts'
import type { RunOutcome } from '../util/eventFields.ts'
import { quantity } from '../util/text.ts'
import type { Failed, SyncContext } from './context.ts'
import type { Outcome } from './execute.ts'
import type { Fetching } from './fetching.ts'
import { findOutage, type OpenRun, openRun, readCounts, runOutcome } from './record.ts'

/** The result of a run. */
export interface Executed {
  /** The id of the run in `_run`. */
  readonly runId: number
  /** The name of the job. */
  readonly job: string
  /** The command that ran it, such as `sync`. */
  readonly command: string
  /** Whether only a part of the job was requested. */
  readonly isPart: boolean
  /** How the run ended. */
  readonly outcome: RunOutcome
  /** The counters of the run. */
  readonly counts: Counts
  /** Requests that failed for good. */
  readonly failures: readonly Failed[]
  /** Duration. */
  readonly seconds: number
  /** Why it ended early, if it did. */
  readonly stop: SyncError | null
}

/** Requests that are executed together, before the next step is planned. */
export interface Step {
  readonly requests: Iterable<PlannedRequest>
  /** The number of requests; null if there are too many to count. */
  readonly total: number | null
  /** Whether this process executes the step in any case: later ones depend on it. */
  readonly isLocal?: boolean
}

/**
 * Executes the steps of a run and records it. It ends early if the key is refused, the budget is spent or a signal comes.
 * `countSkipped`: how many items of the job the plan left out; a run without them is partial.
 */
export async function executeRun(
  context: SyncContext,
  job: Job,
  command: string,
  steps: Iterable<Step> | AsyncIterable<Step>,
  countSkipped: () => number = () => 0,
): Promise<Executed> {
  const { store, now, signal, distribute } = context
  const began = now()
  await context.onLocked?.()
  const all = Symbol.asyncIterator in steps ? steps[Symbol.asyncIterator]() : steps[Symbol.iterator]()
  // A mistake in the job shows in the first step; then there is no run.
  let step = await all.next()
  const record = await openRun(context, command, job)
  const progress = trackProgress(context, job, record)
  let fetching: Fetching | null = null
  let ended: SyncError | null = null
  let isIdle = true
  try {
    for (; !step.done && !ended; step = await all.next()) {
      const { requests, total, isLocal = false } = step.value
      progress.begin(total)
      isIdle &&= total === 0
      if (distribute && !isLocal) ended = await distribute(context, job, record, requests, progress.failures)
      else if (total !== 0) {
        // Loaded only when there is something to fetch: most scheduled runs have nothing.
        const { execute, openFetching } = await import('./fetching.ts')
        fetching ??= await openFetching(context, job, record)
        for await (const outcome of execute(fetching.run, requests)) await progress.note(outcome)
        if (signal.aborted) ended = new SignalError()
      }
    }
  } catch (error) {
    // A refused key, a spent budget and too many rejects end a run in order; anything else is not about the service.
    if (!endsInOrder(error)) {
      await record.fail(error)
      throw error
    }
    ended = error
  } finally {
    await fetching?.close()
    await all.return?.()
  }
  try {
    await closeQuarantine(store, now())
    const counts = await readCounts(store, record.runId)
    const { failures } = progress
    const stop = ended ?? findOutage(failures, counts)
    const outcome = runOutcome(stop, failures.length + counts.rows_rejected + countSkipped())
    await record.end(outcome, stop)
    // A run without requests writes so little that closing the database is enough.
    if (!isIdle) await store.tidy()
    const seconds = (now() - began) / 1000
    return {
      runId: record.runId,
      job: job.name,
      command,
      isPart: context.part !== undefined,
      outcome,
      counts,
      failures,
      seconds,
      stop,
    }
  } catch (error) {
    await record.fail(error)
    throw error
  }
}

const endsInOrder = (error: unknown): error is SyncError =>
  error instanceof KeyError || error instanceof StoppedError || error instanceof RejectLimitError

/** The progress of a run: how many requests are done, and which failed. */
function trackProgress({ store, baseUrl, now, onProgress, onReject }: SyncContext, job: Job, { runId }: OpenRun) {
  const failures: Failed[] = []
  let done = 0
  let total: number | null = 0
  return {
    failures,
    begin(more: number | null): void {
      total = total === null || more === null ? null : total + more
    },
    /** Notes what became of a request. Throws RejectLimitError if a row was rejected and none may be. */
    async note(outcome: Outcome): Promise<void> {
      const { kind, request: planned } = outcome
      const parts = kind === 'split' ? outcome.into.length : 0
      if (parts === 0) done++
      else if (total !== null) total += parts - 1
      if (kind === 'failed') failures.push({ planned, error: outcome.error })
      const counts = await readCounts(store, runId)
      const left = await callsLeft(store, parseHost(baseUrl), job.pace, now())
      await onProgress?.({ planned, counts, done, total, callsLeft: left })
      if (onReject === 'fail' && counts.rows_rejected > 0) throw rejected(counts.rows_rejected)
    },
  }
}

const rejected = (found: number): RejectLimitError =>
  new RejectLimitError(
    `${quantity(found, 'row')} ${found === 1 ? 'is' : 'are'} invalid, and --on-reject fail allows none.`,
    {
      hint: 'List them with `indicator-sync quarantine list`. Earlier data was loaded.',
      code: 'too-many-rejects',
    },
  )
