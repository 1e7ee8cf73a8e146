import { once } from 'node:events'
import type { Transaction } from 'kysely'
import { requireCoordination } from '../db/coordination.ts'
import { readQueues } from '../db/queries/queues.ts'
import { findSeries } from '../db/queries/seriesLookup.ts'
import type { Store } from '../db/store.ts'
import { FETCH_OUTCOMES, type FetchOutcome } from '../db/tables/codes.ts'
import type { Database } from '../db/tables/schema.ts'
import { type Client, openClient } from '../fetch/client.ts'
import { parseHost } from '../fetch/hosts.ts'
import { type PlannedRequest, toIdentityRow } from '../job/plannedRequest.ts'
import { createSizes } from '../load/learnedSizes.ts'
import type { Run } from '../load/run.ts'
import type { SyncContext } from '../sync/context.ts'
import { isUnknownInRun } from '../sync/givenUpItems.ts'
import { processNext } from '../sync/processRequest.ts'
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

/** The environment of a worker. Its signal ends waits; calls in progress finish. */
export type WorkerContext = Omit<SyncContext, 'onProgress' | 'sharedRun'>

export interface WorkOptions {
  /** Maximum number of concurrent requests. */
  readonly concurrency: number
  /** Whether the worker ends when the queue is empty. */
  readonly untilEmpty?: boolean | undefined
  /** Called whenever the database has responded. */
  readonly onHeard?: () => void
}

/** The result of a worker. */
export interface WorkerResult {
  /** Completed requests, including failed ones. */
  readonly done: number
  readonly failed: number
  /** The error that ended it, if it was not stopped. */
  readonly earlyEnd: SyncError | null
}

/** Milliseconds between two checks of the database and the queue. */
const CHECK_MS = 3_000
/** Milliseconds between two attempts after a host requested a long pause. */
const PAUSE_MS = 30_000
/** Errors that do not pass while a worker waits. */
const LASTING_ERRORS = [NewerSchemaError, RightsError, NoQueueError, KeyError, OtherServiceError]

const isLasting = (error: SyncError): boolean => LASTING_ERRORS.some((ErrorClass) => error instanceof ErrorClass)

/** Another worker has the request, or a new plan replaced it: nothing more is written for it. */
class LostClaimError extends SyncError {
  constructor() {
    super('Another worker or a new plan took over this request.', { code: 'claim-lost' })
  }
}

/** The state of a worker. */
interface Worker {
  readonly context: WorkerContext
  readonly queue: Queue
  readonly emit: EmitEvent
  /** A client for each pace. */
  readonly clients: Map<string, Promise<Client>>
  /** See `Sizes`. */
  readonly probed: Set<string>
  done: number
  failed: number
}

/** Fetches, transforms and loads requests of the queue until the signal. Then finishes the calls in progress. */
export async function runWorker(context: WorkerContext, options: WorkOptions): Promise<WorkerResult> {
  const { store, baseUrl } = context
  const emit = createEmitter(context.onEvent, { command: 'worker' })
  const ending = new AbortController()
  let earlyEnd: SyncError | null = null
  const end = (error: SyncError | null): void => {
    earlyEnd ??= error
    ending.abort()
  }
  const outage = createOutage(emit, end)
  const signal = AbortSignal.any([context.signal, ending.signal])
  const queue = await openQueue(store, parseHost(baseUrl), outage.note)
  const worker: Worker = {
    context: { ...context, signal },
    queue,
    emit,
    clients: new Map(),
    probed: new Set(),
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
    await queue.work(options.concurrency, (job) => handleJob(worker, job, end))
    if (!signal.aborted) await once(signal, 'abort')
  } finally {
    await queue.close()
    clearInterval(timer)
    await checking
    for (const open of worker.clients.values()) await (await open).close()
  }
  return { done: worker.done, failed: worker.failed, earlyEnd }
}

/** Reports the start and the end of an outage of the database. Ends the worker if the error does not pass. */
function createOutage(emit: EmitEvent, end: (error: SyncError) => void) {
  let since: number | null = null
  return {
    note(thrown: unknown) {
      const error = asSyncError(thrown)
      if (isLasting(error) || error instanceof BugError) return end(error)
      if (since === null) emit('database.lost', { command: 'worker', ...errorFields(error) })
      since ??= performance.now()
    },
    end() {
      if (since !== null) emit('database.back', { command: 'worker', ms: Math.round(performance.now() - since) })
      since = null
    },
  }
}

/** Executes one job of the queue. After an error, pg-boss tries the job again. */
async function handleJob(worker: Worker, job: ActiveJob, end: (error: SyncError) => void): Promise<void> {
  try {
    const error = await executeJob(worker, job)
    worker.done++
    if (error) worker.failed++
  } catch (thrown) {
    const error = asSyncError(thrown)
    const fields = errorFields(error)
    if (error instanceof LostClaimError)
      return worker.emit('claim.lost', { ...eventJob(job), code: error.code, reason: error.message })
    if (isLasting(error)) end(error)
    if (!(error instanceof KeyError || error instanceof OtherServiceError || error instanceof SignalError))
      worker.emit('claim.failed', { ...eventJob(job), ...fields })
    throw new Error(createRedactor(worker.context.key).text(fields.reason ?? ''))
  }
}

/** Fetches and loads the request of a job, and completes the job. Returns the recorded error if the request failed. */
async function executeJob(worker: Worker, job: ActiveJob): Promise<SyncError | null> {
  const { context, queue, emit } = worker
  const { store, nowMs, onReject = 'quarantine' } = context
  const { data } = job
  const planned = toPlannedRequest(data, context.service)
  if (await isUnknownInRun(store, data.run, planned)) {
    await store.write((tx) => queue.complete(job, tx))
    return null
  }
  const claimed = createClaimedStore(store, queue, job, planned)
  const run: Run = {
    id: data.run,
    store: claimed.store,
    keep: data.keep,
    onReject,
    nowMs,
    emit: (name, fields) => emit(name, { run: data.run, job: data.job, ...fields }),
    redactor: createRedactor(context.key),
    sizes: createSizes(claimed.store, nowMs, worker.probed),
    onRecord: claimed.onRecord,
  }
  /** The request, or the rest of its parts. */
  const pending = [planned]
  let failure: SyncError | null = null
  while (pending.length > 0)
    try {
      const outcome = await processNext(run, await openClientFor(worker, data), pending)
      if (outcome.kind === 'stopped') throw outcome.error
      if (outcome.kind === 'failed') failure ??= outcome.error
    } catch (error) {
      if (!(error instanceof StoppedError) || context.signal.aborted) throw error
      // The host requested a long pause or is unreachable. Meanwhile the job stays active, with heartbeats.
      emit('worker.paused', { job: data.job, wait_ms: PAUSE_MS, ...errorFields(error) })
      worker.clients.delete(paceKey(data))
      await wait(PAUSE_MS, context.signal)
    }
  if (!claimed.isEnded() && !(await claimed.complete())) throw new LostClaimError()
  return failure
}

const paceKey = ({ pace }: QueuedRequest): string => canonical([pace])

/** Returns the client for the pace of a request. */
function openClientFor({ context, clients, emit }: Worker, data: QueuedRequest): Promise<Client> {
  const key = paceKey(data)
  const open = clients.get(key)
  if (open) return open
  const { store, nowMs, signal, onPause } = context
  const opened = openClient(context, {
    store,
    pace: data.pace,
    nowMs,
    signal,
    emit,
    onPause,
    openSharedPacer: (pace, onSharedPause) =>
      createSharedPacer(store, pace, { isPatient: true, onPause: onSharedPause }),
    onGivenUp: (host) => requireCoordination(store).recordOutage(host),
  })
  clients.set(key, opened)
  opened.catch(() => clients.delete(key))
  return opened
}

/** The outcomes that end a job. A split request ends with its parts, and a refused key ends no request. */
const ENDING_OUTCOMES: readonly FetchOutcome[] = [...FETCH_OUTCOMES.good, ...FETCH_OUTCOMES.failed].filter(
  (outcome) => outcome !== 'key',
)

/**
 * A store for one job: each transaction is rolled back if the job is no longer this attempt's. The transaction that records the whole
 * request also completes the job.
 */
function createClaimedStore(store: Store, queue: Queue, job: ActiveJob, whole: PlannedRequest) {
  let isEnded = false
  let isEnding = false
  return {
    isEnded: () => isEnded,
    complete: () => store.write((tx) => queue.complete(job, tx)),
    onRecord: ((planned, outcome) => {
      isEnding = planned === whole && ENDING_OUTCOMES.includes(outcome)
    }) satisfies Run['onRecord'],
    store: {
      ...store,
      async write(work) {
        const result = await store.write(async (tx) => {
          isEnding = false
          await lockSeries(tx, job.data)
          const done = await work(tx)
          const isConfirmed = isEnding ? await queue.complete(job, tx) : await queue.confirm(job, tx)
          if (!isConfirmed) throw new LostClaimError()
          return done
        })
        isEnded ||= isEnding
        return result
      },
    } satisfies Store,
  }
}

/** Locks the series of a request until the transaction ends, because its coverage depends on the stored coverage. */
async function lockSeries(tx: Transaction<Database>, { series }: QueuedRequest): Promise<void> {
  const stored = series && (await findSeries(tx, toIdentityRow(series)))
  if (stored) await tx.selectFrom('series').select('id').where('id', '=', stored.id).forNoKeyUpdate().execute()
}

/** The fields of an event that describe a job. They do not need the service, because building the request may have failed. */
const eventJob = ({
  data,
  retryCount,
}: ActiveJob): Pick<EventFields, 'run' | 'job' | 'entry' | 'route' | 'attempt' | 'indicator' | 'window'> => ({
  run: data.run,
  job: data.job,
  entry: data.entryPath,
  route: data.route,
  attempt: retryCount + 1,
  indicator: data.series?.indicatorId ?? null,
  window: data.window && { from: formatUtc(data.window.from), to: formatUtc(data.window.to) },
})
