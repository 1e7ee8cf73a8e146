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
import { type PlannedRequest, storedCall, storedIdentity } from '../job/plannedRequest.ts'
import { recordedError } from '../load/recordFetch.ts'
import { planRequest } from '../plan/planning.ts'
import { failures } from '../reports/failedRequests.ts'
import type { Service } from '../service/services.ts'
import type { Distribute, Failed, SyncContext } from '../sync/context.ts'
import { type OpenRun, readCounts } from '../sync/record.ts'
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
import { wait } from '../util/time/wait.ts'
import type { Queue } from './queue.ts'
import { type NewJob, toQueuedRequest } from './queuedRequest.ts'

/** Requests that are queued in one statement. */
const BATCH = 2_000
/** Milliseconds between two looks at the queue. */
const POLL_MS = 1_000
/** Looks in a row without an active request until no worker seems to be there. */
const IDLE_LOOKS = 5
/** Looks in a row without an answer of the service until an outage that a worker records ends the run. */
const SILENT_LOOKS = 5
/** Looks in a row that the database may fail to answer. */
const FAILED_LOOKS = 60

/**
 * Executes a plan by workers: queues its requests, and waits until none is left. What an earlier plan left in
 * the queue is gone: the run cleared it when it got the lock.
 */
export const distributeTo =
  (queue: Queue): Distribute =>
  async (context, job, run, requests, failed) => {
    const { store, now, service } = context
    const sent = await sendAll(queue, job, run.runId, requests, Math.floor(now() / 1000))
    const ended = await waitUntilDone(context, job, run, sent)
    // As in a run of one process, a refused key ends the run, and is no failure of a request.
    const all = await readFailures(store, service, run.runId, now())
    failed.push(...all.filter(({ error }) => !(error instanceof KeyError)))
    return ended
  }

interface Sent {
  readonly total: number
  readonly last: PlannedRequest | null
}

/** Puts planned requests into the queue; while the server takes some, the next ones are planned. */
export async function sendAll(
  queue: Queue,
  job: Job,
  runId: number,
  requests: Iterable<PlannedRequest>,
  now: number,
): Promise<Sent> {
  let total = 0
  let last: PlannedRequest | null = null
  let batch: NewJob[] = []
  let sending: Promise<void> = Promise.resolve()
  const flush = async (): Promise<void> => {
    await sending
    sending = queue.send(batch)
    // The next flush gets the error; until then it must not count as unhandled.
    sending.catch(() => undefined)
    batch = []
    await yieldOnce()
  }
  for (const planned of requests) {
    total++
    last = planned
    batch.push(toQueuedRequest(job, runId, planned, now))
    if (batch.length === BATCH) await flush()
  }
  await flush()
  await sending
  return { total, last }
}

/** Waits until nothing is left in the queue. Returns why the run ended early, if it did. */
async function waitUntilDone(
  context: SyncContext,
  job: Job,
  { runId, emit }: OpenRun,
  { total, last }: Sent,
): Promise<SyncError | null> {
  const { store, signal, now } = context
  const host = parseHost(context.baseUrl)
  let [idle, failed, silent, answered] = [0, 0, 0, -1]
  /** The last outage that was recorded before the last answer. */
  let outage = 0
  /** Looks at the queue: true when nothing is left, or why nobody will take the rest. */
  const look = async (): Promise<boolean | SyncError> => {
    const { queued, active, dead } = await readQueue(store, host)
    const left = queued + active
    const counts = await readCounts(store, runId)
    const calls = await callsLeft(store, host, job.pace, now())
    if (last) await context.onProgress?.({ planned: last, counts, done: total - left, total, callsLeft: calls })
    if (left === 0) return dead > 0 ? deadError(dead) : true
    silent = counts.requests - counts.failed === answered ? silent + 1 : 0
    answered = counts.requests - counts.failed
    const lastOutage = await requireCoordination(store).lastOutage(host)
    if (silent === 0) outage = lastOutage
    else if (silent >= SILENT_LOOKS && lastOutage > outage) return outageError(host)
    idle = active === 0 ? idle + 1 : 0
    if (idle < IDLE_LOOKS) return false
    if (idle === IDLE_LOOKS)
      emit('workers.missing', {
        total: left,
        reason: `${quantity(left, 'request waits', 'requests wait')}, and no worker takes them.`,
        hint: 'Start one with `indicator-sync worker`.',
      })
    return (await refusedKey(store, runId)) ?? false
  }
  for (;;) {
    try {
      const looked = await look()
      if (looked !== false) return looked === true ? null : looked
      failed = 0
    } catch (error) {
      // The workers continue without this process, and the wait continues when the database answers again.
      if (++failed >= FAILED_LOOKS) throw error
    }
    try {
      await wait(POLL_MS, signal)
    } catch {
      return new SignalError()
    }
  }
}

/** The state of the queue of a host. */
async function readQueue(store: Store, host: string): Promise<Omit<QueueState, 'host'>> {
  const { queue } = queueNames(host)
  const queues = (await readQueues(store)) ?? []
  return queues.find((one) => queueNames(one.host).queue === queue) ?? { queued: 0, active: 0, dead: 0 }
}

const deadError = (dead: number): StoppedError =>
  new StoppedError(
    `${quantity(dead, 'request is', 'requests are')} dead: every worker that tried ${dead === 1 ? 'it' : 'them'} died.`,
    {
      hint: 'Check the logs of the workers, then run the same command again: it fetches missing data.',
      code: 'requests-dead',
    },
  )

const outageError = (host: string): UnavailableError =>
  new UnavailableError(
    new TransientError(`No worker can reach ${host}.`, { code: 'network' }),
    'Check the network and the base URL. The requests stay in the queue.',
  )

/** The refusal of the key, if that is the last answer to a run; null otherwise. */
async function refusedKey({ kysely }: Store, runId: number): Promise<KeyError | null> {
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

/** The requests of a run that failed and were not answered later. */
async function readFailures(store: Store, service: Service, runId: number, nowMs: number): Promise<Failed[]> {
  return (await failures(store))
    .filter((failure) => failure.runId === runId)
    .map((failure) => {
      const { route, params, window } = storedCall(failure)
      const of = {
        window,
        geoIds: parseNumbers(failure.requested) ?? [ALL_GEOS],
        series: failure.id === null ? null : storedIdentity(failure as IdentityRow),
      }
      const planned = planRequest({ service, now: Math.floor(nowMs / 1000) }, failure.entry, route, params, of)
      return { planned, error: recordedError(failure) }
    })
}
