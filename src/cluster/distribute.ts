import { setImmediate as yieldOnce } from 'node:timers/promises'
import { requireCoordination } from '../db/coordination.ts'
import { isFailure } from '../db/queries/fetchOutcomes.ts'
import { type QueueState, queueNames, readQueues } from '../db/queries/queues.ts'
import type { IdentityRow } from '../db/queries/seriesLookup.ts'
import type { Store } from '../db/store.ts'
import { ALL_GEOS } from '../db/tables/codes.ts'
import { callsLeft } from '../fetch/budget.ts'
import { parseHost } from '../fetch/hosts.ts'
import type { Job } from '../job/job.ts'
import { fromIdentityRow, type PlannedRequest, toRouteCall } from '../job/plannedRequest.ts'
import { recordedError } from '../load/recordFetch.ts'
import type { Run } from '../load/run.ts'
import { planRequest } from '../plan/planning.ts'
import type { Service } from '../service/service.ts'
import { findOpenFailures } from '../state/failedRequests.ts'
import type { Distribute, RequestFailure, SyncContext } from '../sync/context.ts'
import { readCounts } from '../sync/record.ts'
import {
  KeyError,
  SignalError,
  StoppedError,
  type SyncError,
  TransientError,
  UnavailableError,
} from '../util/errors.ts'
import { parseNumbers } from '../util/json.ts'
import { quantity } from '../util/text.ts'
import { toInstant } from '../util/time/instant.ts'
import { wait } from '../util/time/wait.ts'
import type { Queue } from './queue.ts'
import { type NewJob, toQueuedRequest } from './queuedRequest.ts'

/** Requests that are queued in one statement. */
const BATCH = 2_000
/** Milliseconds between two polls of the queue. */
const POLL_MS = 1_000
/** Polls in a row without an active request after which workers seem to be missing. */
const IDLE_POLLS = 5
/** Polls in a row without a reply after which an outage that a worker recorded ends the run. */
const SILENT_POLLS = 5
/** Polls in a row that may fail because the database does not respond. */
const FAILED_POLLS = 60

/** Lets workers execute a plan: queues its requests, and waits until the queue is empty. */
export const distributeTo =
  (queue: Queue): Distribute =>
  async (context, job, run, requests, failed) => {
    const { store, nowMs, service } = context
    const sent = await sendAll(queue, job, run.id, requests, toInstant(nowMs()))
    const earlyEnd = await waitUntilDone(context, job, run, sent)
    failed.push(...(await readFailures(store, service, run.id, nowMs())))
    return earlyEnd
  }

interface QueuedPlan {
  readonly total: number
  readonly last: PlannedRequest | null
}

/** Queues planned requests. While the server inserts a batch, the next one is planned. */
export async function sendAll(
  queue: Queue,
  job: Job,
  runId: number,
  requests: Iterable<PlannedRequest>,
  now: number,
): Promise<QueuedPlan> {
  let total = 0
  let last: PlannedRequest | null = null
  let batch: NewJob[] = []
  let sending: Promise<void> = Promise.resolve()
  const flush = async (): Promise<void> => {
    await sending
    sending = queue.send(batch)
    // The next flush throws the error; until then it must not count as unhandled.
    sending.catch(() => undefined)
    batch = []
    await yieldOnce()
  }
  for (const planned of requests) {
    total++
    last = planned
    batch.push(toQueuedRequest(job, runId, planned, { now, position: total }))
    if (batch.length === BATCH) await flush()
  }
  await flush()
  await sending
  return { total, last }
}

/** Waits until the queue is empty. Returns the error that ends the run early, or null. */
async function waitUntilDone(context: SyncContext, job: Job, run: Run, sent: QueuedPlan): Promise<SyncError | null> {
  const poll = createPoll(context, job, run, sent)
  let failedPolls = 0
  for (;;) {
    try {
      const result = await poll()
      if (result !== 'waiting') return result === 'done' ? null : result
      failedPolls = 0
    } catch (error) {
      // Workers continue without this process, so it waits until the database responds again.
      if (++failedPolls >= FAILED_POLLS) throw error
    }
    try {
      await wait(POLL_MS, context.signal)
    } catch {
      return new SignalError()
    }
  }
}

/** Creates the function that reads the queue, reports progress, and returns the error if no worker can execute the rest. */
function createPoll(
  { store, nowMs, baseUrl, onProgress }: SyncContext,
  { pace }: Job,
  { id: runId, emit }: Run,
  { total, last }: QueuedPlan,
): () => Promise<'waiting' | 'done' | SyncError> {
  const host = parseHost(baseUrl)
  let idlePolls = 0
  let silentPolls = 0
  let replies = -1
  /** The last outage that was recorded before the last reply. */
  let earlierOutage = 0
  return async () => {
    const { queued, active, dead } = await readQueue(store, host)
    const left = queued + active
    const counts = await readCounts(store, runId)
    const calls = await callsLeft(store, host, pace, nowMs())
    if (last) await onProgress?.({ planned: last, counts, done: total - left, total, callsLeft: calls })
    if (left === 0) return dead > 0 ? createDeadError(dead) : 'done'
    silentPolls = counts.requests - counts.failed === replies ? silentPolls + 1 : 0
    replies = counts.requests - counts.failed
    const outage = await requireCoordination(store).lastOutage(host)
    if (silentPolls === 0) earlierOutage = outage
    else if (silentPolls >= SILENT_POLLS && outage > earlierOutage) return createOutageError(host)
    idlePolls = active === 0 ? idlePolls + 1 : 0
    if (idlePolls < IDLE_POLLS) return 'waiting'
    if (idlePolls === IDLE_POLLS)
      emit('workers.missing', {
        total: left,
        reason: `${quantity(left, 'request waits', 'requests wait')}, and no worker takes them.`,
        hint: 'Start one with `indicator-sync worker`.',
      })
    return (await readKeyRefusal(store, runId)) ?? 'waiting'
  }
}

/** Reads the state of the queue of a host. */
async function readQueue(store: Store, host: string): Promise<Omit<QueueState, 'host'>> {
  const { queue } = queueNames(host)
  const states = (await readQueues(store)) ?? []
  return states.find((state) => queueNames(state.host).queue === queue) ?? { queued: 0, active: 0, dead: 0 }
}

const createDeadError = (dead: number): StoppedError =>
  new StoppedError(
    `${quantity(dead, 'request is', 'requests are')} dead: every worker that tried ${dead === 1 ? 'it' : 'them'} died.`,
    {
      hint: 'Check the logs of the workers, then run the same command again: it fetches missing data.',
      code: 'requests-dead',
    },
  )

const createOutageError = (host: string): UnavailableError =>
  new UnavailableError(
    new TransientError(`No worker can reach ${host}.`, { code: 'network' }),
    'Check the network and the base URL. The requests stay in the queue.',
  )

/** The error of the last request of a run if the service refused the key; otherwise null. */
async function readKeyRefusal({ kysely }: Store, runId: number): Promise<KeyError | null> {
  const last = await kysely
    .selectFrom('_fetch')
    .where('run_id', '=', runId)
    .orderBy('id', 'desc')
    .select(['outcome', 'message', 'hint', 'code'])
    .limit(1)
    .executeTakeFirst()
  const error = last && isFailure(last.outcome) ? recordedError({ ...last, outcome: last.outcome }) : null
  return error instanceof KeyError ? error : null
}

/** Reads the requests of a run that failed and have no later reply. */
async function readFailures(store: Store, service: Service, runId: number, nowMs: number): Promise<RequestFailure[]> {
  return (await findOpenFailures(store))
    .filter((failure) => failure.runId === runId)
    .map((failure) => {
      const { route, params, window } = toRouteCall(failure)
      const details = {
        window,
        geoIds: parseNumbers(failure.requested) ?? [ALL_GEOS],
        series: failure.id === null ? null : fromIdentityRow(failure as IdentityRow),
      }
      const planned = planRequest({ service, now: toInstant(nowMs) }, failure.entry, route, params, details)
      return { planned, error: recordedError(failure) }
    })
}
