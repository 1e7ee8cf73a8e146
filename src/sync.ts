import type { Service } from './api/services.ts'
import { readMemory } from './audit/held.ts'
import { KeyError, ShapeError, StoppedError, SyncError } from './base/errors.ts'
import { formatMillis } from './base/instant.ts'
import { carry, type RejectPolicy, type River } from './carry.ts'
import type { Store } from './db/open.ts'
import { rememberZone } from './db/zones.ts'
import { createFetcher, type FetchOptions } from './fetch/fetch.ts'
import { feed } from './fetch/pace.ts'
import type { Ask } from './job/ask.ts'
import type { Job } from './job/job.ts'
import { callsLeft, spendCall } from './load/budget.ts'
import type { Loading } from './load/load.ts'
import { addCounts, beginRun, type Counts, endRun, NO_COUNTS } from './load/run.ts'
import { createSizes } from './load/sizes.ts'
import { plan } from './plan/plan.ts'
import type { PlanOptions } from './plan/planning.ts'

/** What a run needs from outside. */
export interface SyncContext {
  readonly store: Store
  readonly service: Service
  readonly baseUrl: string
  readonly key: string
  readonly version: string
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly signal: AbortSignal
  /** Told after every request. */
  readonly onProgress?: (progress: Progress) => void
  readonly onFailure?: FetchOptions['onFailure'] | undefined
  readonly onHold?: FetchOptions['onHold'] | undefined
  readonly breaker?: FetchOptions['breaker']
  /** Milliseconds before the first repetition. */
  readonly retryMs?: number | undefined
  readonly rejects?: RejectPolicy
}

/** A request that failed for good. */
export interface Failed {
  readonly ask: Ask
  readonly error: SyncError
}

/** How far a run is. */
export interface Progress {
  readonly ask: Ask
  readonly counts: Counts
  /** Asks that are done, and how many there are in all; null where nobody counted. */
  readonly done: number
  readonly planned: number | null
  /** Calls left within the job's budget; undefined where it has none. */
  readonly callsLeft: number | undefined
}

/** What a run did. */
export interface Summary {
  readonly runId: number
  readonly job: string
  readonly outcome: 'done' | 'partial' | 'stopped' | 'failed'
  readonly counts: Counts
  readonly failures: readonly Failed[]
  readonly seconds: number
  /** Why it ended early, when it did. */
  readonly stop: SyncError | null
}

const SET_ASIDE: RejectPolicy = { onReject: 'quarantine', maxRejects: Number.POSITIVE_INFINITY }

/** A job is planned into requests, requests are fetched into replies, replies are transformed into rows, rows are loaded. */
export async function sync(
  context: SyncContext,
  job: Job,
  command = 'sync',
  options: PlanOptions = {},
): Promise<Summary> {
  const { store, service, now } = context
  await rememberZone(store.kysely, job.timeZone)
  const planning = { job, service, memory: readMemory(store), now: Math.floor(now() / 1000), options }
  // Counted first, for the time to go: a plan is quick, and is never held as a whole.
  const planned = plan(planning).reduce((count) => count + 1, 0)
  return carryAll(context, job, command, plan(planning), planned)
}

/** Carries asks as they come, side by side; ends early when the key is refused, the budget is spent or a signal comes. */
export async function carryAll(
  context: SyncContext,
  job: Job,
  command: string,
  asks: Iterable<Ask>,
  planned: number | null = null,
): Promise<Summary> {
  const { store, baseUrl, now, signal } = context
  const began = now()
  const runId = await beginRun(store, { command, job: job.name, version: context.version, now: formatMillis(began) })
  const fetcher = createFetcher({
    ...context,
    userAgent: `indicator-sync/${context.version}`,
    pace: job.pace,
    beforeCall: () => spendCall(store, new URL(baseUrl).host, job.pace, now()),
  })
  const loading: Loading = { store, runId, keep: job.keep, now }
  const rejects = context.rejects ?? SET_ASIDE
  const river: River = { service: context.service, fetcher, loading, sizes: createSizes(loading), rejects }
  const failures: Failed[] = []
  let done = 0
  let counts = NO_COUNTS
  let stop: SyncError | null = null
  try {
    await feed(asks, job.pace.concurrency, signal, async (ask) => {
      const { counts: more, error } = await carry(river, ask)
      counts = addCounts(counts, more)
      if (error) failures.push({ ask, error })
      done++
      const left = callsLeft(store, new URL(baseUrl).host, job.pace, now())
      context.onProgress?.({ ask, counts, done, planned, callsLeft: left })
      if (error instanceof KeyError) throw error
      const limit = rejects.onReject === 'fail' ? 0 : rejects.maxRejects
      if (counts.rows_rejected > limit) throw tooManyRejects(counts.rows_rejected, limit)
    })
    if (signal.aborted) stop = new StoppedError('Stopped by a signal.', { code: 'signal' })
  } catch (error) {
    if (!(error instanceof KeyError || error instanceof StoppedError || error instanceof ShapeError)) {
      // The run's record says so too, where it can still be written: on a full disk it cannot.
      const message = error instanceof SyncError ? error.message : 'an unexpected error'
      await endRun(store, runId, 'failed', message, formatMillis(now())).catch(() => undefined)
      throw error
    }
    stop = error
  } finally {
    await fetcher.close()
  }
  const outcome = outcomeOf(stop, failures.length + counts.rows_rejected)
  await endRun(store, runId, outcome, stop?.message ?? null, formatMillis(now()))
  store.tidy()
  return { runId, job: job.name, outcome, counts, failures, seconds: (now() - began) / 1000, stop }
}

const tooManyRejects = (found: number, limit: number): ShapeError =>
  new ShapeError(`${found} rows could not be understood, and ${limit} are allowed.`, {
    path: '$',
    hint: 'See them with `indicator-sync quarantine list`; what came before them is loaded.',
    code: 'too-many-rejects',
  })

function outcomeOf(stop: SyncError | null, troubles: number): Summary['outcome'] {
  if (stop instanceof KeyError || stop instanceof ShapeError) return 'failed'
  if (stop) return 'stopped'
  return troubles === 0 ? 'done' : 'partial'
}
