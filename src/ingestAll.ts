import { KeyError, NotFoundError, RejectLimitError, SignalError, StoppedError, type SyncError } from './base/errors.ts'
import type { OnEvent } from './base/events.ts'
import { quantity } from './base/quantity.ts'
import type { RunOutcome } from './base/runOutcome.ts'
import { callsLeft } from './calls/budget.ts'
import { hostOf } from './calls/hosts.ts'
import type { LackingGeos } from './checks/lackingGeos.ts'
import type { Store } from './db/store.ts'
import type { FetchOptions } from './fetch/fetch.ts'
import type { OpenTurns } from './fetch/turns.ts'
import type { RejectPolicy } from './ingestContext.ts'
import type { Job } from './job/job.ts'
import type { PlannedRequest } from './job/plannedRequest.ts'
import type { SkippedItem } from './job/plannerState.ts'
import type { Counts } from './load/counts.ts'
import { closeQuarantine } from './load/quarantine/closeQuarantine.ts'
import type { Leased, Pipeline } from './pipeline.ts'
import type { JobWithOptions } from './plan/planning.ts'
import type { Requested } from './plan/requested.ts'
import { absentShare } from './plan/series/absences.ts'
import { findOutage, type OpenRun, openRun, runOutcome } from './runs/openRun.ts'
import { countsOf } from './runs/runRecord.ts'
import type { Service } from './services/services.ts'

/** What a run needs from outside. */
export interface SyncContext {
  readonly store: Store
  readonly service: Service
  readonly baseUrl: string
  readonly key: string
  /** Whether the key may be sent unencrypted to another machine. */
  readonly allowHttp?: boolean | undefined
  readonly version: string
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly signal: AbortSignal
  /** Called for every event (`EVENTS` lists them), in the middle of the work: it must return soon and throw nothing. */
  readonly onEvent?: OnEvent | undefined
  /** Called after every request. */
  readonly onProgress?: (progress: Progress) => void | Promise<void>
  readonly onFailure?: FetchOptions['onFailure'] | undefined
  readonly onPause?: FetchOptions['onPause'] | undefined
  readonly breaker?: FetchOptions['breaker']
  readonly limits?: FetchOptions['limits']
  /** Milliseconds before the first retry. */
  readonly retryMs?: number | undefined
  readonly rejects?: RejectPolicy
  /** Decides when a call may begin, together with others, and tells their pauses; this process by itself when left out. */
  readonly turns?: OpenTurns | undefined
  /** Leaves out what other processes request at the same time; nothing when left out. */
  readonly leased?: Leased | undefined
  /** Executes what was planned in place of this process: others may write meanwhile. */
  readonly execute?: Execute | undefined
  /** What earlier jobs of the same command requested: it is not requested again. */
  readonly requested?: Requested
  /** Whether only a part of the job is requested; `sync` decides it. */
  readonly isPart?: boolean | undefined
  /** Later jobs of the same command: where one of them needs all geos of a series, all are requested at once. */
  readonly later?: readonly JobWithOptions[]
}

/**
 * Executes the planned requests of a job; `total` is how many there are, null where they were not counted; `again` is what the job
 * would request at that moment if nobody else requested anything.
 */
export type Execute = (
  context: SyncContext,
  job: Job,
  command: string,
  requests: Iterable<PlannedRequest>,
  total: number | null,
  again: () => Promise<Iterable<PlannedRequest>>,
) => Promise<Executed>

/** A request that failed for good. */
export interface Failed {
  readonly planned: PlannedRequest
  readonly error: SyncError
}

/** The progress of a run. */
export interface Progress {
  readonly planned: PlannedRequest
  readonly counts: Counts
  /** Requests that are done, and how many there are in all; null where they were not counted. */
  readonly done: number
  readonly total: number | null
  /** Calls left within the job's budget; undefined where it has none. */
  readonly callsLeft: number | undefined
}

/** What executing planned requests did. */
export interface Executed {
  readonly runId: number
  readonly job: string
  readonly outcome: RunOutcome
  readonly counts: Counts
  readonly failures: readonly Failed[]
  readonly seconds: number
  /** Why it ended early, when it did. */
  readonly stop: SyncError | null
}

/** What a run did. */
export interface Summary extends Executed {
  /** What was not requested because the service does not know it. */
  readonly skipped: readonly SkippedItem[]
  /** Geos of the job for which the service has no values. */
  readonly lackingGeos: readonly LackingGeos[]
  /** Whether anything of the job was selected: `--only` may leave nothing. */
  readonly selected: boolean
}

const QUARANTINE_ALL: RejectPolicy = { onReject: 'quarantine', maxRejects: Number.POSITIVE_INFINITY }

/** Ingests planned requests as a run: concurrently, as they come; ends early when the key is refused, the budget is spent or a signal comes. */
export async function ingestAll(
  context: SyncContext,
  job: Job,
  command: string,
  requests: Iterable<PlannedRequest>,
  total: number | null = null,
): Promise<Executed> {
  const { store, now } = context
  const began = now()
  const run = await openRun(context, command, job)
  const { runId } = run
  const failures: Failed[] = []
  const untilEnded = async () => {
    const ended = await ingestRequests(context, job, run, requests, total, failures)
    await closeQuarantine(store, now())
    const counts = await countsOf(store, runId)
    const stop = ended ?? findOutage(failures, counts)
    const outcome = runOutcome(stop, failures.length + counts.rows_rejected)
    await run.end(outcome, stop)
    return { outcome, counts, stop }
  }
  const { outcome, counts, stop } = await untilEnded().catch(async (error: unknown) => {
    await run.fail(error)
    throw error
  })
  // A run without requests writes so little that closing the database is enough.
  if (total !== 0) await store.tidy()
  const seconds = (now() - began) / 1000
  return { runId, job: job.name, outcome, counts, failures, seconds, stop }
}

/** Ingests the requests of a run, with those that fail in `failures`. Answers why it ended early, where it did so in order. */
async function ingestRequests(
  context: SyncContext,
  job: Job,
  { runId, emit }: OpenRun,
  requests: Iterable<PlannedRequest>,
  total: number | null,
  failures: Failed[],
): Promise<SyncError | null> {
  const { store, baseUrl, now, signal } = context
  const onPause = (ms: number, reason: string): void => {
    emit('calls.paused', { wait_ms: Math.round(ms), reason })
    context.onPause?.(ms, reason)
  }
  const { onReject, maxRejects } = context.rejects ?? QUARANTINE_ALL
  let done = 0
  // Paths that the service has just answered with 404: their other windows are not requested.
  const unknown = new Set<string>()
  let pipeline: Pipeline | null = null
  try {
    // Loaded only when there is something to fetch: most scheduled runs have nothing.
    if (total !== 0) {
      const { openPipeline } = await import('./pipeline.ts')
      pipeline = await openPipeline({ ...context, job, runId, onReject, emit, onPause })
    }
    const sent = { absent: 0, others: 0 }
    const isWanted = (planned: PlannedRequest): boolean => {
      if (unknown.has(requestPath(planned))) return false
      // The plan counted requests that may not have been sent since.
      if (planned.reason === 'absent') return ++sent.absent <= Math.max(1, absentShare(sent.others))
      sent.others++
      return true
    }
    await pipeline?.ingestEach(requests, isWanted, async (planned, { error }) => {
      const counts = await countsOf(store, runId)
      if (error) failures.push({ planned, error })
      if (error instanceof NotFoundError) unknown.add(requestPath(planned))
      done++
      const left = await callsLeft(store, hostOf(baseUrl), job.pace, now())
      await context.onProgress?.({ planned, counts, done, total, callsLeft: left })
      const limit = onReject === 'fail' ? 0 : maxRejects
      if (counts.rows_rejected > limit) throw tooManyRejects(counts.rows_rejected, limit)
    })
    return signal.aborted ? new SignalError() : null
  } catch (error) {
    // A refused key, a spent budget and too many rejects end a run in order; anything else is not about the service.
    if (error instanceof KeyError || error instanceof StoppedError || error instanceof RejectLimitError) return error
    throw error
  } finally {
    await pipeline?.close()
  }
}

const requestPath = ({ request }: PlannedRequest): string => request.target.split('?')[0]!

const tooManyRejects = (found: number, limit: number): RejectLimitError =>
  new RejectLimitError(
    `${quantity(found, 'row')} could not be understood, and ${limit} ${limit === 1 ? 'is' : 'are'} allowed.`,
    {
      hint: 'See them with `indicator-sync quarantine list`; what came before them is loaded.',
      code: 'too-many-rejects',
    },
  )
