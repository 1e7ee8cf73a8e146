import { type Client, openServiceClient } from '../fetch/client.ts'
import { describeSkew, findSkew } from '../fetch/clockSkew.ts'
import type { Job } from '../job/job.ts'
import { createSizes, type Sizes } from '../load/learnedSizes.ts'
import type { LoadContext } from '../load/load.ts'
import type { HttpResponse } from '../service/request.ts'
import type { EmitEvent } from '../util/events.ts'
import { createRedactor } from '../util/redact.ts'
import type { OnReject, SyncContext } from './context.ts'
import type { RunRecord } from './record.ts'

/** What the requests of a run share: the database, the client, and what the run has learned. */
export interface RequestContext extends LoadContext {
  readonly client: Client
  readonly emit: EmitEvent
  readonly signal: AbortSignal
  /** The maximum number of concurrent requests. */
  readonly concurrency: number
  readonly onReject: OnReject
  /** The largest window that the service accepts for each series. */
  readonly sizes: Sizes
  /** Series and resolution ids for which a day was requested to learn what the id means. */
  readonly probed: Set<string>
  /** Compares the clock of a response with that of this machine. */
  readonly checkClock: (response: Pick<HttpResponse, 'headers'>) => void
}

/** Warns once if the clock of this machine is wrong: the times of versions and of missing data come from it. */
function createClockCheck(emit: EmitEvent): RequestContext['checkClock'] {
  let isWarned = false
  return ({ headers }) => {
    const skewS = isWarned ? null : findSkew(headers)
    const difference = skewS === null ? null : describeSkew(skewS)
    if (difference === null) return
    isWarned = true
    emit('clock.differs', {
      reason: `The clock of this machine is ${difference}.`,
      hint: 'Correct it: times of versions and of missing data come from it.',
    })
  }
}

/**
 * Opens the client of a run, and prepares what its requests share. This module is loaded only if there is something to fetch, so that
 * other runs start sooner.
 */
export async function openRequestContext(
  context: SyncContext,
  { pace, keep }: Pick<Job, 'pace' | 'keep'>,
  { runId, emit }: Pick<RunRecord, 'runId' | 'emit'>,
): Promise<RequestContext> {
  const { store, nowMs, signal, onReject = 'quarantine' } = context
  const onPause = (ms: number, reason: string): void => {
    emit('calls.paused', { wait_ms: Math.round(ms), reason })
    context.onPause?.(ms, reason)
  }
  const client = await openServiceClient({ ...context, pace, onPause, openPacer: context.shared?.openPacer })
  const loadContext = { store, runId, keep, nowMs, redactor: createRedactor(context.key) }
  return {
    ...loadContext,
    client,
    emit,
    signal,
    concurrency: pace.concurrency,
    onReject,
    sizes: createSizes(loadContext),
    probed: new Set(),
    checkClock: createClockCheck(emit),
  }
}
