import { setTimeout as sleep } from 'node:timers/promises'
import { KeyError, SignalError, StoppedError, type SyncError } from '../base/errors.ts'
import { quantity } from '../base/quantity.ts'
import { callsLeft } from '../calls/budget.ts'
import { hostOf } from '../calls/hosts.ts'
import { DEAD_MS } from '../db/queries/heartbeats.ts'
import { isFailure } from '../db/queries/outcomes.ts'
import { shared } from '../db/shared.ts'
import type { Store } from '../db/store.ts'
import type { Execute, Failed, SyncContext } from '../ingestAll.ts'
import type { Job } from '../job/job.ts'
import { seriesKey, storedCall } from '../job/plannedRequest.ts'
import { type Counts, NO_COUNTS } from '../load/counts.ts'
import { recordedError } from '../load/record.ts'
import { planRequest } from '../plan/planRequest.ts'
import { createRequested, type Requested } from '../plan/requested.ts'
import { type OpenRun, openRun, runOutcome } from '../runs/openRun.ts'
import { countsOfWorkers, keepRunning } from '../runs/runRecord.ts'
import type { Service } from '../services/services.ts'
import { failures } from '../state/failures.ts'
import { type Enqueued, enqueue } from './enqueue.ts'
import { countLost } from './lost.ts'
import type { Queue } from './queue.ts'
import { plannedOf, type QueuedRequest } from './queuedRequest.ts'

/** A plan that others execute. */
export interface HandOut {
  /** What is queued or in hand already: it is not planned again. */
  readonly requested: Requested
  /** Puts planned requests into the queue, and waits until nothing of their job is left there. */
  readonly execute: Execute
}

/** Milliseconds between two checks of the progress of the workers. */
const POLL_MS = 1_000
/** How many times in a row the database may fail to answer before the wait ends. */
const MAX_ATTEMPTS = 60

/** The last answer that is recorded. */
export async function lastFetch({ kysely }: Pick<Store, 'kysely'>): Promise<number> {
  const { id } = await kysely
    .selectFrom('_fetch')
    .select(({ fn }) => fn.max('id').as('id'))
    .executeTakeFirstOrThrow()
  return id ?? 0
}

/** What failed for good of a job since an answer, and was not answered later. */
async function failedSince(store: Store, service: Service, of: { job: string; after: number; now: number }) {
  const { job, after, now } = of
  return (await failures(store))
    .filter((failure) => failure.job === job && failure.fetchId > after)
    .map((failure): Failed => {
      const { route, params, window } = storedCall(failure)
      return {
        planned: planRequest({ service, now: Math.floor(now / 1000) }, failure.entry, route, params, { window }),
        error: recordedError(failure),
      }
    })
}

/** Whether any living worker takes requests to a host. */
const hasWorkers = async (store: Store, host: string, now: number): Promise<boolean> =>
  (await shared(store.kysely)
    .selectFrom('_worker')
    .select('id')
    .where('host', '=', host)
    .where('seen_at', '>', now - DEAD_MS)
    .executeTakeFirst()) !== undefined

/** The error by which the service refused the key, where that is the last that it said to a job since an answer; null otherwise. */
async function refusedKey({ kysely }: Store, job: string, after: number): Promise<KeyError | null> {
  const last = await kysely
    .selectFrom('_fetch as f')
    .innerJoin('_run as r', 'r.id', 'f.run_id')
    .where('f.id', '>', after)
    .where('r.job', '=', job)
    .orderBy('f.id', 'desc')
    .select(['f.outcome', 'f.message', 'f.hint', 'f.code'])
    .limit(1)
    .executeTakeFirst()
  const error = last && isFailure(last.outcome) ? recordedError({ ...last, outcome: last.outcome }) : null
  return error instanceof KeyError ? error : null
}

/** Why a plan is not done of which some requests are lost; null where none is. */
const lostError = (lost: number): StoppedError | null =>
  lost === 0
    ? null
    : new StoppedError(
        `${quantity(lost, 'planned request is', 'planned requests are')} neither answered nor in the queue any more.`,
        {
          hint: 'Somebody deleted from the queue, or every worker died that took them. Run the same command again: it requests what is missing.',
          code: 'requests-lost',
        },
      )

/** Begins a plan that is handed to workers: what they have already is read before anything is planned. */
export async function openHandOut(store: Store, queue: Queue<QueuedRequest>, service: Service): Promise<HandOut> {
  const requested = createRequested()
  for (const queued of await queue.open())
    if (queued.series && queued.window) requested.add(seriesKey(queued.series), queued.geoIds, [queued.window])
    else requested.addTarget(plannedOf(queued, service).request.target)
  // Workers know every answer from now on, even where the plan does not see it yet.
  const after = await lastFetch(store)

  /** Waits until nothing is left of a job; returns why it ended early where it did. `onCounts` gets what workers did so far. */
  async function waitUntilDone(
    context: SyncContext,
    job: Job,
    { runId, emit, sent, last }: Enqueued & Pick<OpenRun, 'runId' | 'emit'>,
    onCounts: (counts: Counts) => void,
  ): Promise<SyncError | null> {
    const { now, signal, baseUrl } = context
    let warned = false
    /** Looks at the progress of the workers: true when nothing is left, or why nobody will take it. */
    const look = async (): Promise<boolean | KeyError> => {
      const left = await queue.left(job.name)
      const counts = await countsOfWorkers(store, job.name, after)
      onCounts(counts)
      await keepRunning(store, runId)
      const calls = await callsLeft(store, hostOf(baseUrl), job.pace, now())
      const total = Math.max(sent, left)
      if (last) await context.onProgress?.({ planned: last, counts, done: total - left, total, callsLeft: calls })
      if (left === 0) return true
      if (await hasWorkers(store, hostOf(baseUrl), now())) return false
      const refused = await refusedKey(store, job.name, after)
      if (refused) return refused
      if (!warned)
        emit('workers.missing', {
          total: left,
          reason: `${quantity(left, 'request waits', 'requests wait')}, and no worker is there to take them.`,
          hint: 'Start one with `indicator-sync worker`.',
        })
      warned = true
      return false
    }
    for (let failedLooks = 0; ; ) {
      try {
        const looked = await look()
        if (looked) return looked === true ? null : looked
        failedLooks = 0
      } catch (error) {
        // The workers continue without this process, and the wait continues when the database answers again.
        if (++failedLooks >= MAX_ATTEMPTS) throw error
      }
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return new SignalError()
    }
  }

  return {
    requested,
    async execute(context, job, command, requests, _total, again) {
      const { now } = context
      const began = now()
      const run = await openRun({ ...context, store }, command, job)
      const { runId } = run
      let counts = NO_COUNTS
      try {
        const enqueued = await enqueue(queue, job, requests, after, began)
        const ended = await waitUntilDone(context, job, { ...enqueued, ...run }, (latest) => {
          counts = latest
        })
        const lost = lostError(await countLost(store, queue.open, await again(), requested, after))
        counts = await countsOfWorkers(store, job.name, after)
        const all = await failedSince(store, service, { job: job.name, after, now: now() })
        // As in a run of one process, a refused key is why the run ended, and no failure of a request.
        const failed = all.filter(({ error }) => !(error instanceof KeyError))
        const refused = all.find(({ error }) => error instanceof KeyError)?.error ?? null
        const stop = ended ?? refused ?? lost
        const outcome = runOutcome(stop, failed.length + counts.rows_rejected)
        await run.end(outcome, stop, counts)
        const seconds = (now() - began) / 1000
        return { runId, job: job.name, outcome, counts, failures: failed, seconds, stop, skipped: [], selected: true }
      } catch (error) {
        await run.fail(error, counts)
        throw error
      }
    },
  }
}
