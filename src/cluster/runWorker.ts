import type { Transaction } from 'kysely'
import { requireCoordination } from '../db/coordination.ts'
import { UNKNOWN_STATUSES } from '../db/queries/fetchOutcomes.ts'
import { readQueues } from '../db/queries/queues.ts'
import { findSeries } from '../db/queries/seriesLookup.ts'
import type { Store } from '../db/store.ts'
import type { Database } from '../db/tables/schema.ts'
import { parseHost } from '../fetch/hosts.ts'
import type { OpenPacer } from '../fetch/pacer.ts'
import { identityRow, type PlannedRequest } from '../job/plannedRequest.ts'
import { createSizes } from '../load/learnedSizes.ts'
import type { Loading } from '../load/load.ts'
import type { SyncContext } from '../sync/context.ts'
import { type Fetching, openFetching } from '../sync/fetching.ts'
import { type OnReject, processRequest } from '../sync/processRequest.ts'
import {
  BugError,
  KeyError,
  NewerSchemaError,
  RightsError,
  SignalError,
  StoppedError,
  SyncError,
} from '../util/errors.ts'
import { type EventFields, errorFields } from '../util/eventFields.ts'
import { createEmitter, type EmitEvent } from '../util/events.ts'
import { canonical } from '../util/json.ts'
import { createRedactor } from '../util/redact.ts'
import { asSyncError } from '../util/systemErrors.ts'
import { formatUtc } from '../util/time/instant.ts'
import { wait } from '../util/time/wait.ts'
import { type ActiveJob, NoQueueError, openQueue, type Queue } from './queue.ts'
import { OtherServiceError, type QueuedRequest, toPlannedRequest } from './queuedRequest.ts'
import { createSharedPacer } from './sharedPacer.ts'

/** What a worker needs, as a run does. Its signal ends waits; calls under way are finished. */
export interface WorkerContext extends Omit<SyncContext, 'onProgress' | 'shared' | 'requested' | 'later'> {
  /** What a reject does to the reply that has it. A worker has no limit of a whole run. */
  readonly onReject: OnReject
}

/** How a worker works. */
export interface WorkOptions {
  /** Requests that it executes at once. */
  readonly concurrency: number
  /** Ends when nothing is left to do, instead of waiting for more. */
  readonly untilEmpty?: boolean | undefined
  /** Called whenever the database has answered. */
  readonly onHeard?: () => void
}

/** The work of a worker. */
export interface Worked {
  /** Requests that it ended, including those that failed. */
  readonly done: number
  readonly failed: number
  /** Why it ended, if it was not asked to. */
  readonly stop: SyncError | null
}

/** Milliseconds between two looks whether the database is there and of this version. */
const CHECK_MS = 3_000
/** Milliseconds until a worker tries again that a host asked for a long pause. */
const PAUSE_MS = 30_000
/** Waiting does not mend these. */
const LASTING = [NewerSchemaError, RightsError, NoQueueError, KeyError, OtherServiceError]

const isLasting = (error: SyncError): boolean => LASTING.some((one) => error instanceof one)

/** Another worker has the request now, or a new plan replaced it: nothing more is written for it. */
class LostClaimError extends SyncError {
  constructor() {
    super('Another worker or a new plan took over this request.', { code: 'claim-lost' })
  }
}

/** A worker at work. */
interface Working {
  readonly context: WorkerContext
  readonly queue: Queue
  readonly emit: EmitEvent
  /** One for each pace. */
  readonly fetchings: Map<string, Promise<Fetching>>
  done: number
  failed: number
}

/** Fetches, transforms and loads requests of the queue, until it is asked to stop. Then it finishes the calls under way. */
export async function runWorker(context: WorkerContext, options: WorkOptions): Promise<Worked> {
  const { store, baseUrl } = context
  const emit = createEmitter(context.onEvent, { command: 'worker' })
  const ending = new AbortController()
  let stop: SyncError | null = null
  const end = (error: SyncError | null): void => {
    stop ??= error
    ending.abort()
  }
  const outage = createOutage(emit, end)
  const signal = AbortSignal.any([context.signal, ending.signal])
  const queue = await openQueue(store, parseHost(baseUrl), outage.note)
  const working: Working = {
    context: { ...context, signal },
    queue,
    emit,
    fetchings: new Map(),
    done: 0,
    failed: 0,
  }
  const check = async (): Promise<void> => {
    await store.check()
    await queue.check()
    outage.end()
    options.onHeard?.()
    if (options.untilEmpty && !(await readQueues(store))?.some(({ queued, active }) => queued + active > 0)) end(null)
  }
  let checking = Promise.resolve()
  const timer = setInterval(() => {
    checking = checking.then(check).catch(outage.note)
  }, CHECK_MS)
  try {
    await queue.work(options.concurrency, (job) => handle(working, job, end))
    await new Promise((stopped) => {
      if (signal.aborted) stopped(null)
      signal.addEventListener('abort', stopped)
    })
  } finally {
    await queue.stop()
    clearInterval(timer)
    await checking
    for (const fetching of working.fetchings.values()) await (await fetching).close()
  }
  return { done: working.done, failed: working.failed, stop }
}

/** Reports once that the database does not answer, and once that it does again; what waiting does not mend ends the worker. */
function createOutage(emit: EmitEvent, end: (error: SyncError) => void) {
  let since: number | null = null
  return {
    note(thrown: unknown) {
      const error = asSyncError(thrown)
      if (isLasting(error) || error instanceof BugError) return end(error)
      if (since === null) emit('database.lost', errorFields(error))
      since ??= performance.now()
    },
    end() {
      if (since !== null) emit('database.back', { ms: Math.round(performance.now() - since) })
      since = null
    },
  }
}

/** Executes one job of the queue. What it throws makes pg-boss try the job again. */
async function handle(working: Working, job: ActiveJob, end: (error: SyncError) => void): Promise<void> {
  try {
    const error = await execute(working, job)
    working.done++
    if (error) working.failed++
  } catch (thrown) {
    const error = asSyncError(thrown)
    const fields = errorFields(error)
    if (error instanceof LostClaimError)
      return working.emit('claim.lost', { ...eventJob(job), code: error.code, reason: error.message })
    if (isLasting(error)) end(error)
    if (!(error instanceof KeyError || error instanceof OtherServiceError || error instanceof SignalError))
      working.emit('claim.failed', { ...eventJob(job), ...fields })
    throw new Error(createRedactor(working.context.key).text(fields.reason ?? ''))
  }
}

/** Fetches and loads the request of a job, and ends the job with it. Returns the error that was recorded, if the request failed. */
async function execute(working: Working, job: ActiveJob): Promise<SyncError | null> {
  const { context, queue, emit } = working
  const { data } = job
  const planned = toPlannedRequest(data, context.service)
  const seriesId = (planned.series && (await findSeries(context.store.kysely, identityRow(planned.series)))?.id) ?? null
  if (seriesId !== null && (await isUnknown(context.store, data.run, seriesId))) {
    await context.store.write((tx) => queue.complete(job, tx))
    return null
  }
  const claimed = claimedStore(context.store, queue, job, planned)
  const { keep, run } = data
  const ofRun: EmitEvent = (name, fields) => emit(name, { run, job: data.job, ...fields })
  /** The request, or the parts of it that are left. */
  const requests = [planned]
  let failed: SyncError | null = null
  while (requests.length > 0)
    try {
      const fetching = await openFetchingFor(working, data)
      const { guard, store } = claimed
      const own = { ...fetching.run, store, runId: run, keep, emit: ofRun, guard }
      const outcome = await processRequest({ ...own, sizes: createSizes(own) }, requests[0]!)
      requests.splice(0, 1, ...(outcome.kind === 'split' ? outcome.into : []))
      if (outcome.kind === 'failed') failed ??= outcome.error
    } catch (error) {
      if (!(error instanceof StoppedError) || context.signal.aborted) throw error
      // The host asked for a long pause, or cannot be reached: the request keeps its place, and its heartbeats.
      emit('worker.paused', { job: data.job, wait_ms: PAUSE_MS, ...errorFields(error) })
      working.fetchings.delete(paceKey(data))
      await wait(PAUSE_MS, context.signal)
    }
  if (!claimed.isEnded() && !(await claimed.complete())) throw new LostClaimError()
  return failed
}

/** Whether the service said in a run that it does not know a series: its other windows are not requested. */
const isUnknown = async ({ kysely }: Store, run: number, seriesId: number): Promise<boolean> =>
  (await kysely
    .selectFrom('_fetch')
    .select('id')
    .where('run_id', '=', run)
    .where('series_id', '=', seriesId)
    .where('status', 'in', UNKNOWN_STATUSES)
    .limit(1)
    .executeTakeFirst()) !== undefined

const paceKey = ({ pace }: QueuedRequest): string => canonical([pace])

/** The client for the pace of a request. */
function openFetchingFor({ context, fetchings, emit }: Working, data: QueuedRequest): Promise<Fetching> {
  const key = paceKey(data)
  const known = fetchings.get(key)
  if (known) return known
  const openPacer: OpenPacer = (pace, onPause) => createSharedPacer(context.store, pace, { isPatient: true, onPause })
  const onGivenUp = (host: string): Promise<void> => requireCoordination(context.store).recordOutage(host)
  const opened = openFetching({ ...context, shared: { openPacer }, onGivenUp }, data, { runId: data.run, emit })
  fetchings.set(key, opened)
  opened.catch(() => fetchings.delete(key))
  return opened
}

/**
 * Ties what is written for a request to its job: every transaction ends by checking that the job is still this attempt's, and is
 * rolled back otherwise. The transaction that records the answer to the whole request also ends the job.
 */
function claimedStore(store: Store, queue: Queue, job: ActiveJob, whole: PlannedRequest) {
  let isEnded = false
  let ends = false
  return {
    isEnded: () => isEnded,
    complete: () => store.write((tx) => queue.complete(job, tx)),
    guard: (async (_tx, { request, as, error }) => {
      // A refused key says nothing about the request; one that was split ends with its parts.
      ends = request === whole && (as === 'loaded' || as === 'failed') && !(error instanceof KeyError)
    }) satisfies Loading['guard'],
    store: {
      ...store,
      async write(work) {
        const result = await store.write(async (tx) => {
          ends = false
          await lockSeries(tx, job.data)
          const done = await work(tx)
          if (!(await (ends ? queue.complete : queue.confirm)(job, tx))) throw new LostClaimError()
          return done
        })
        isEnded ||= ends
        return result
      },
    } satisfies Store,
  }
}

/** Locks the series of a request until the transaction ends: what is recorded of a series depends on what is recorded already. */
async function lockSeries(tx: Transaction<Database>, { series }: QueuedRequest): Promise<void> {
  const known = series && (await findSeries(tx, identityRow(series)))
  if (known) await tx.selectFrom('series').select('id').where('id', '=', known.id).forNoKeyUpdate().execute()
}

/** The fields of an event that describe a job, without the service: building the request may be what failed. */
const eventJob = ({
  data,
  retryCount,
}: ActiveJob): Pick<EventFields, 'run' | 'job' | 'entry' | 'route' | 'attempt' | 'indicator' | 'window'> => ({
  run: data.run,
  job: data.job,
  entry: data.entry,
  route: data.route,
  attempt: retryCount + 1,
  indicator: data.series?.indicatorId ?? null,
  window: data.window && { from: formatUtc(data.window.from), to: formatUtc(data.window.to) },
})
