import { callsLeft } from '../fetch/budget.ts'
import type { Client } from '../fetch/client.ts'
import { parseHost } from '../fetch/hosts.ts'
import { countJobGaps, type JobGaps } from '../findings/findGaps.ts'
import type { Pace } from '../job/job.ts'
import type { Counts } from '../load/counts.ts'
import { closeQuarantine } from '../load/quarantine/closeQuarantine.ts'
import { KeyError, RejectLimitError, SignalError, StoppedError, type SyncError } from '../util/errors.ts'
import type { RunOutcome } from '../util/eventFields.ts'
import { quantity } from '../util/text.ts'
import { toInstant } from '../util/time/instant.ts'
import type { RequestFailure, RunSpec, SyncContext } from './context.ts'
import type { Batch, RunPlan } from './planRun.ts'
import type { RequestOutcome } from './processRequest.ts'
import { endRun, failRun, findOutage, type OpenRun, openRun, readCounts, recordPlanned, runOutcome } from './record.ts'

/** The result of a run. */
export interface RunResult {
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
  /** Data of the job that is missing after the run. */
  readonly gaps: JobGaps
  /** Requests that failed for good. */
  readonly failures: readonly RequestFailure[]
  /** Duration. */
  readonly seconds: number
  /** Why it ended early, if it did. */
  readonly earlyEnd: SyncError | null
}

/**
 * Executes the plan of a run and records it. The run ends early if the key is refused, the budget is spent, too many rows are rejected
 * or a signal comes.
 */
export async function executeRun(context: SyncContext, spec: RunSpec, plan: RunPlan): Promise<RunResult> {
  const { store, nowMs, signal } = context
  const { job, command, part } = spec
  const beganMs = nowMs()
  await context.sharedRun?.clearQueue()
  const batches = plan.batches[Symbol.asyncIterator]()
  // Planning the first batch reports mistakes in the job, before a run is recorded.
  const first = await batches.next()
  const run = await openRun(context, spec, { beganMs, jobId: plan.jobId, interval: plan.range?.interval })
  try {
    const { failures, isIdle, ...executed } = await executeBatches(context, spec, run, first, batches)
    await closeQuarantine(store, nowMs())
    const counts = await readCounts(store, run.id)
    let earlyEnd = executed.earlyEnd ?? (await findOutage(store, failures, counts))
    // A restate of series that loses values is not a success: the reply may have had only a part of them.
    const lost = spec.options?.restate && job.series.length > 0 ? counts.rows_withdrawn : 0
    let outcome = runOutcome(earlyEnd, failures.length + counts.rows_rejected + plan.notes.skipped.size + lost)
    // A run without requests writes so little that closing the database is enough.
    if (!isIdle) await store.tidy()
    const publishError = signal.aborted ? null : await spec.publish?.()
    if (publishError && outcome !== 'failed') {
      earlyEnd = publishError
      outcome = 'failed'
    }
    const gaps = await countJobGaps(store, plan.jobId, plan.notes.resolvedJob ?? job, toInstant(nowMs()), plan.range)
    await endRun(run, outcome, earlyEnd)
    const seconds = (nowMs() - beganMs) / 1000
    const isPart = part !== undefined
    return { runId: run.id, job: job.name, command, isPart, outcome, counts, gaps, failures, seconds, earlyEnd }
  } catch (error) {
    await failRun(run, error)
    throw error
  }
}

interface BatchesResult {
  readonly failures: readonly RequestFailure[]
  readonly earlyEnd: SyncError | null
  /** Whether there was nothing to request. */
  readonly isIdle: boolean
}

/** Executes all batches of an open run, or until one of them ends it early. */
async function executeBatches(
  context: SyncContext,
  { job }: RunSpec,
  run: OpenRun,
  first: IteratorResult<Batch>,
  later: AsyncIterator<Batch>,
): Promise<BatchesResult> {
  const { store, nowMs, signal, onPause, sharedRun } = context
  const progress = trackProgress(context, job.pace, run)
  let client: Client | null = null
  let earlyEnd: SyncError | null = null
  let isIdle = true
  try {
    for (let batch = first; !batch.done && !earlyEnd; batch = await later.next()) {
      const { requests, total, isLocal = false } = batch.value
      await progress.begin(total)
      isIdle &&= total === 0
      if (sharedRun?.distribute && !isLocal)
        earlyEnd = await sharedRun.distribute(context, job, run, requests, progress.failures)
      else if (total !== 0) {
        // Loaded only if there is something to fetch: most scheduled runs have nothing.
        const { openClient } = await import('../fetch/client.ts')
        const { execute } = await import('./execute.ts')
        client ??= await openClient(context, {
          store,
          pace: job.pace,
          nowMs,
          signal,
          emit: run.emit,
          onPause,
          openSharedPacer: sharedRun?.openPacer,
        })
        for await (const outcome of execute(run, client, requests)) {
          const { rows_rejected: rejected } = await progress.note(outcome)
          if (run.onReject === 'fail' && rejected > 0) throw createRejectLimitError(rejected)
        }
        if (signal.aborted) earlyEnd = new SignalError()
      }
    }
  } catch (error) {
    if (!isOrderlyStop(error)) throw error
    earlyEnd = error
  } finally {
    await client?.close()
    await later.return?.()
  }
  return { failures: progress.failures, earlyEnd, isIdle }
}

/** Whether an error ends a run early, but in order: its data is complete, and its record is closed as usual. */
const isOrderlyStop = (error: unknown): error is SyncError =>
  error instanceof KeyError || error instanceof StoppedError || error instanceof RejectLimitError

/** The failure with which a request was recorded; null if it did not fail. */
function failureOf(outcome: RequestOutcome): SyncError | null {
  if (outcome.kind === 'failed') return outcome.error
  return outcome.kind === 'stopped' ? outcome.failure : null
}

/** Counts the completed requests of a run, and lists the failed ones. */
function trackProgress({ baseUrl, onProgress }: SyncContext, pace: Pace, run: OpenRun) {
  const { id, store, nowMs } = run
  const failures: RequestFailure[] = []
  let done = 0
  let total: number | null = 0
  return {
    failures,
    async begin(more: number | null): Promise<void> {
      total = total === null || more === null ? null : total + more
      if (more !== 0) await recordPlanned(run, total)
    },
    /** Notes the outcome of a request, and returns the counters of the run. */
    async note(outcome: RequestOutcome): Promise<Counts> {
      const { kind, planned } = outcome
      const failure = failureOf(outcome)
      // A later run requests it.
      if (kind === 'stopped' && !failure) return readCounts(store, id)
      const partCount = kind === 'split' ? outcome.parts.length : 0
      if (partCount === 0) done++
      else if (total !== null) {
        total += partCount - 1
        await recordPlanned(run, total)
      }
      if (failure) failures.push({ planned, error: failure })
      const counts = await readCounts(store, id)
      if (onProgress) {
        const left = await callsLeft(store, parseHost(baseUrl), pace, nowMs())
        await onProgress({ planned, counts, done, total, callsLeft: left })
      }
      return counts
    },
  }
}

const createRejectLimitError = (rejected: number): RejectLimitError =>
  new RejectLimitError(
    `${quantity(rejected, 'row')} ${rejected === 1 ? 'is' : 'are'} invalid, and --on-reject fail allows none.`,
    {
      hint: 'List them with `indicator-sync quarantine list`. Earlier data was loaded.',
      code: 'too-many-rejects',
    },
  )
