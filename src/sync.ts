import type { Reply } from './api/reply.ts'
import type { Service } from './api/services.ts'
import { readMemory } from './audit/held.ts'
import { neighboursOf } from './audit/neighbours.ts'
import { KeyError, ShapeError, StoppedError, type SyncError } from './base/errors.ts'
import { formatMillis } from './base/instant.ts'
import type { Interval } from './base/interval.ts'
import { rememberZone, type Store } from './db/open.ts'
import { createFetcher, type Fetcher, type FetchOptions, isTooLarge } from './fetch/fetch.ts'
import { feed } from './fetch/pace.ts'
import type { Ask } from './job/ask.ts'
import type { Job } from './job/job.ts'
import { callsLeft, spendCall } from './load/budget.ts'
import { type Loading, load, loadCoarse, loadFailure, rememberChange } from './load/load.ts'
import { addCounts, beginRun, type Counts, endRun, NO_COUNTS } from './load/run.ts'
import { createSizes, type Sizes } from './load/sizes.ts'
import { halfOf, piecesOf } from './plan/pieces.ts'
import { plan } from './plan/plan.ts'
import type { PlanOptions } from './plan/planning.ts'
import { daysOf, findChange, looksCoarse, within } from './plan/resolution.ts'
import type { Rows } from './tables/rows.ts'
import { transform } from './transform/transform.ts'

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

/** What became of an ask. */
interface Carried {
  readonly counts: Counts
  readonly error: SyncError | null
  /** The step of the answer, in seconds, where it has one. */
  readonly step: number | null
}

/** The two ends between which asks are carried. */
interface River {
  readonly service: Service
  readonly fetcher: Fetcher
  readonly loading: Loading
  readonly sizes: Sizes
}

/** One ask's way through the river: fetched, transformed, loaded. What is too large for the service goes in smaller pieces. */
async function carry(river: River, ask: Ask): Promise<Carried> {
  const { fetcher, loading, sizes } = river
  const pieces = piecesOf(ask, sizes.get(ask))
  if (pieces.length > 1) return carryPieces(river, ask, pieces)
  const halves = piecesOf(ask, halfOf(ask))
  const reply = await fetcher.fetch(ask.request, halves.length > 1)
  const failed = async (error: SyncError, last: Reply | null): Promise<Carried> => ({
    counts: await loadFailure(loading, ask, error, last),
    error,
    step: null,
  })
  if ('error' in reply) {
    if (!isTooLarge(reply.error) || halves.length < 2) return failed(reply.error, reply.reply)
    await sizes.shrink(ask)
    return carryPieces(river, ask, halves)
  }
  try {
    const rows = transform(reply.body, ask)
    if (looksCoarse(ask, rows, neighboursOf(loading.store, ask))) return await carryParts(river, ask, reply, rows)
    const counts = await load(loading, ask, reply, rows)
    await sizes.grow(ask, reply.ms)
    return { counts, error: null, step: rows.stepS }
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    return failed(error, reply)
  }
}

/** Carries the pieces of an ask one after the other. */
async function carryPieces(river: River, ask: Ask, pieces: readonly Interval[]): Promise<Carried> {
  let all: Carried = { counts: NO_COUNTS, error: null, step: null }
  for (const piece of pieces) {
    const { counts, error } = await carry(river, within(river.service, ask, piece))
    all = { ...all, counts: addCounts(all.counts, counts), error: all.error ?? error }
  }
  return all
}

/** An answer that spans a change of resolution is not loaded: the day of the change is found, remembered, and both sides are asked. */
async function carryParts(river: River, ask: Ask, reply: Reply, rows: Rows): Promise<Carried> {
  const { service, loading } = river
  let counts = NO_COUNTS
  let error: SyncError | null = null
  const part = async (window: Interval): Promise<Carried> => {
    const carried = await carry(river, within(service, ask, window))
    counts = addCounts(counts, carried.counts)
    error ??= carried.error
    return carried
  }
  const window = ask.window!
  const change = await findChange(daysOf(ask.timeZone, window), async (day) => (await part(day)).step)
  if (change) {
    counts = addCounts(counts, await loadCoarse(loading, ask, reply))
    await rememberChange(loading, ask, change.at, change.step)
    for (const side of [
      { from: window.from, to: change.at },
      { from: change.at, to: window.to },
    ])
      await part(side)
  } else if (error === null) {
    // Both ends are as coarse as the whole: the service has nothing finer here.
    counts = addCounts(counts, await load(loading, ask, reply, rows))
  }
  return { counts, error, step: null }
}

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
  const river: River = { service: context.service, fetcher, loading, sizes: createSizes(loading) }
  const failures: Failed[] = []
  let done = 0
  let counts = NO_COUNTS
  let stop: SyncError | null = null
  let outcome: Summary['outcome'] = 'failed'
  try {
    await feed(asks, job.pace.concurrency, signal, async (ask) => {
      const { counts: more, error } = await carry(river, ask)
      counts = addCounts(counts, more)
      if (error) failures.push({ ask, error })
      done++
      const left = callsLeft(store, new URL(baseUrl).host, job.pace, now())
      context.onProgress?.({ ask, counts, done, planned, callsLeft: left })
      if (error instanceof KeyError) throw error
    })
    if (signal.aborted) stop = new StoppedError('Stopped by a signal.', { code: 'signal' })
  } catch (error) {
    if (!(error instanceof KeyError) && !(error instanceof StoppedError)) throw error
    stop = error
  } finally {
    await fetcher.close()
    outcome = outcomeOf(stop, failures.length + counts.rows_rejected)
    await endRun(store, runId, outcome, stop?.message ?? null, formatMillis(now()))
    store.tidy()
  }
  return { runId, job: job.name, outcome, counts, failures, seconds: (now() - began) / 1000, stop }
}

function outcomeOf(stop: SyncError | null, troubles: number): Summary['outcome'] {
  if (stop instanceof KeyError) return 'failed'
  if (stop) return 'stopped'
  return troubles === 0 ? 'done' : 'partial'
}
