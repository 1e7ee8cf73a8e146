import { KeyError, SchemaError, StoppedError, SyncError } from './base/errors.ts'
import type { EmitEvent, OnEvent } from './base/events.ts'
import { formatMillis } from './base/instant.ts'
import { redactorOf } from './base/redact.ts'
import { stoppedBySignal } from './base/stopped.ts'
import { accountCalls } from './calls.ts'
import { lockForRun } from './db/lock.ts'
import type { Store } from './db/open.ts'
import { rememberZone } from './db/zones.ts'
import { createFetcher, type FetchOptions } from './fetch/fetch.ts'
import { countOf, forEachConcurrently } from './fetch/pace.ts'
import { ingest } from './ingest.ts'
import { eventRows, type IngestContext, type RejectPolicy } from './ingestContext.ts'
import type { Job } from './job/job.ts'
import type { PlannedRequest } from './job/plannedRequest.ts'
import type { PassedOver } from './job/plannerState.ts'
import { applySelectors, needsCatalogue, resolveSelectors } from './job/select.ts'
import { callsLeft } from './load/budget.ts'
import type { Loading } from './load/load.ts'
import { closeQuarantine } from './load/quarantine.ts'
import { addCounts, beginRun, type Counts, countsOf, endRun } from './load/run.ts'
import { createSizes } from './load/sizes.ts'
import { hostOf } from './load/source.ts'
import { rememberWanted } from './load/wanted.ts'
import { type Asked, createAsked } from './plan/asked.ts'
import { planSelection } from './plan/listings.ts'
import { plan } from './plan/plan.ts'
import type { Meant, Planning, PlanOptions } from './plan/planning.ts'
import { namesGeos } from './plan/question.ts'
import { wantedOf } from './plan/wanted.ts'
import type { Service } from './services/services.ts'
import { readCatalogue } from './state/catalogue.ts'
import { readPlannerState } from './state/coverage.ts'

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
  /** Told of everything that happens; what there is, is in `EVENTS`. It is called in the middle of the work: it returns soon and throws nothing. */
  readonly onEvent?: OnEvent | undefined
  /** Told after every request. */
  readonly onProgress?: (progress: Progress) => void | Promise<void>
  readonly onFailure?: FetchOptions['onFailure'] | undefined
  readonly onHold?: FetchOptions['onHold'] | undefined
  readonly breaker?: FetchOptions['breaker']
  readonly limits?: FetchOptions['limits']
  /** Milliseconds before the first repetition. */
  readonly retryMs?: number | undefined
  readonly rejects?: RejectPolicy
  /** What jobs before this one asked in the same call: it is not asked again. */
  readonly asked?: Asked
  /** Jobs that come after this one in the same call: what they ask of all geos is asked of all at once. */
  readonly later?: readonly Meant[]
}

/** A request that failed for good. */
export interface Failed {
  readonly planned: PlannedRequest
  readonly error: SyncError
}

/** How far a run is. */
export interface Progress {
  readonly planned: PlannedRequest
  readonly counts: Counts
  /** Requests that are done, and how many there are in all; null where nobody counted. */
  readonly done: number
  readonly total: number | null
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
  /** What was left alone, because the service does not know it. */
  readonly passedOver: readonly PassedOver[]
}

const SET_ASIDE: RejectPolicy = { onReject: 'quarantine', maxRejects: Number.POSITIVE_INFINITY }

/** A job is planned into requests, requests are fetched into replies, replies are transformed into rows, rows are loaded. */
export async function sync(
  context: SyncContext,
  job: Job,
  command = 'sync',
  options: PlanOptions = {},
): Promise<Summary> {
  const { store, service, now, later = [] } = context
  const unlock = await lockForRun(store, `${command} ${job.name}`, now)
  const asked = context.asked ?? createAsked()
  const passedOver = new Map<string, PassedOver>()
  const planningOf = async (of: Job): Promise<Planning> => ({
    ...{ job: of, service, plannerState: await readPlannerState(store), now: Math.floor(now() / 1000), options, asked },
    onPassedOver: (one) => passedOver.set(`${one.route} ${one.id}`, one),
  })
  try {
    await store.write((tx) => rememberZone(tx, service.timeZone))
    // Indicators that are named by what the catalogue says of them are known when it is held.
    const jobs = namesGeos(job) ? [job, ...later.map((one) => one.job)] : [job]
    const readListed = async () => (jobs.some(needsCatalogue) ? await readCatalogue(store) : [])
    // A job before this one may have asked for it in vain: without it nothing is known.
    const selecting = (await readListed()).length > 0 ? asked : createAsked()
    const missing: PlannedRequest[] = []
    for (const one of jobs) missing.push(...planSelection({ ...(await planningOf(one)), asked: selecting }))
    const first = missing.length > 0 ? await ingestAll(context, job, command, missing, missing.length) : null
    const catalogue = await readListed()
    if (first && (first.stop || (needsCatalogue(job) && catalogue.length === 0))) return first
    const planning = {
      ...(await planningOf(resolveSelectors(job, catalogue))),
      later: later.map((one) => ({ ...one, job: applySelectors(one.job, catalogue) })),
    }
    // Counted first, for the time to go: a plan is quick, and is never held as a whole.
    const total = await countOf(plan({ ...planning, asked: asked.copy() }), context.signal)
    const rest = await ingestAll(context, job, command, plan(planning), total)
    if (!options.range) await rememberWanted(store, job.name, wantedOf(planning))
    return { ...(first ? joined(first, rest) : rest), passedOver: [...passedOver.values()] }
  } finally {
    await unlock()
  }
}

/** Two runs of one job, told as one. */
const joined = (first: Summary, rest: Summary): Summary => ({
  ...rest,
  outcome: rest.outcome === 'done' ? first.outcome : rest.outcome,
  counts: addCounts(first.counts, rest.counts),
  failures: [...first.failures, ...rest.failures],
  seconds: first.seconds + rest.seconds,
})

/** Ingests planned requests concurrently, as they come; ends early when the key is refused, the budget is spent or a signal comes. */
export async function ingestAll(
  context: SyncContext,
  job: Job,
  command: string,
  requests: Iterable<PlannedRequest>,
  total: number | null = null,
): Promise<Summary> {
  const { store, baseUrl, now, signal } = context
  const began = now()
  const runId = await beginRun(store, {
    ...{ command, job: job.name, version: context.version, now: formatMillis(began) },
    ...{ schedule: job.schedule, timeZone: job.timeZone },
  })
  const emit: EmitEvent = (event, fields) => context.onEvent?.({ event, run: runId, job: job.name, command, ...fields })
  const onHold = (ms: number, reason: string): void => {
    emit('calls.held', { wait_ms: Math.round(ms), reason })
    context.onHold?.(ms, reason)
  }
  emit('run.started', {})
  const fetcher = createFetcher({
    ...context,
    onHold,
    userAgent: `indicator-sync/${context.version}`,
    pace: job.pace,
    ...accountCalls({ ...context, onHold }, job.pace),
  })
  const loading: Loading = { store, runId, keep: job.keep, now, redactor: redactorOf(context.key) }
  const rejects = context.rejects ?? SET_ASIDE
  const ingestContext: IngestContext = {
    service: context.service,
    fetcher,
    loading,
    sizes: createSizes(loading),
    rejects,
    probes: new Map(),
    emit,
  }
  const ended = async (outcome: Summary['outcome'], error: SyncError | null): Promise<void> => {
    const { requests: calls, failed, bytes, ...rows } = await countsOf(store, runId)
    const stopped = { code: error?.code ?? null, reason: error?.message ?? null, hint: error?.hint ?? null }
    const ms = now() - began
    emit('run.ended', { outcome, ms, calls, failed, bytes, rows: eventRows(rows), ...stopped })
  }
  const failures: Failed[] = []
  let done = 0
  // What the service has just said it does not know: its other windows are not asked.
  const unknown = new Set<string>()
  let stop: SyncError | null = null
  try {
    await forEachConcurrently(requests, job.pace.concurrency, signal, async (planned) => {
      const [path] = planned.request.target.split('?') as [string]
      if (unknown.has(path)) return
      const { error } = await ingest(ingestContext, planned)
      const counts = await countsOf(store, runId)
      if (error) failures.push({ planned, error })
      if (error?.code === 'not-found') unknown.add(path)
      done++
      const left = await callsLeft(store, hostOf(baseUrl), job.pace, now())
      await context.onProgress?.({ planned, counts, done, total, callsLeft: left })
      if (error instanceof KeyError) throw error
      const limit = rejects.onReject === 'fail' ? 0 : rejects.maxRejects
      if (counts.rows_rejected > limit) throw tooManyRejects(counts.rows_rejected, limit)
    })
    if (signal.aborted) stop = stoppedBySignal()
  } catch (error) {
    if (!(error instanceof KeyError || error instanceof StoppedError || error instanceof SchemaError)) {
      // The run's record says so too, where it can still be written: on a full disk it cannot.
      const message = error instanceof SyncError ? error.message : 'an unexpected error'
      await endRun(store, runId, 'failed', message, formatMillis(now())).catch(() => undefined)
      await ended('failed', error instanceof SyncError ? error : new SyncError(message, { code: 'bug' }))
      throw error
    }
    stop = error
  } finally {
    await fetcher.close()
  }
  await closeQuarantine(store, now())
  const counts = await countsOf(store, runId)
  const outcome = outcomeOf(stop, failures.length + counts.rows_rejected)
  await endRun(store, runId, outcome, stop?.message ?? null, formatMillis(now()))
  await ended(outcome, stop)
  store.tidy()
  return { runId, job: job.name, outcome, counts, failures, seconds: (now() - began) / 1000, stop, passedOver: [] }
}

const tooManyRejects = (found: number, limit: number): SchemaError =>
  new SchemaError(`${found} rows could not be understood, and ${limit} are allowed.`, {
    path: '$',
    hint: 'See them with `indicator-sync quarantine list`; what came before them is loaded.',
    code: 'too-many-rejects',
  })

function outcomeOf(stop: SyncError | null, troubles: number): Summary['outcome'] {
  if (stop instanceof KeyError || stop instanceof SchemaError) return 'failed'
  if (stop) return 'stopped'
  return troubles === 0 ? 'done' : 'partial'
}
