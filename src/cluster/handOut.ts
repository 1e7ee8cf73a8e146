import { setTimeout as sleep } from 'node:timers/promises'
import { KeyError, SignalError, StoppedError, SyncError } from '../base/errors.ts'
import { numbersOf } from '../base/json.ts'
import { quantity } from '../base/quantity.ts'
import { callsLeft } from '../calls/budget.ts'
import { hostOf } from '../calls/hosts.ts'
import { coordinationOf, shared } from '../db/coordination.ts'
import { isFailure } from '../db/queries/outcomes.ts'
import type { IdentityRow } from '../db/queries/seriesIdentity.ts'
import { DEAD_MS } from '../db/queries/workers.ts'
import type { Store } from '../db/store.ts'
import type { Execute, Failed, SyncContext } from '../ingestAll.ts'
import type { Job } from '../job/job.ts'
import { storedCall, storedIdentity } from '../job/plannedRequest.ts'
import { type Counts, NO_COUNTS } from '../load/counts.ts'
import { recordedError } from '../load/record.ts'
import { planRequest } from '../plan/planRequest.ts'
import { createRequested, noteAll, type Requested } from '../plan/requested.ts'
import { findOutage, type OpenRun, openRun, runOutcome } from '../runs/openRun.ts'
import { countsOfWorkers, keepRunning } from '../runs/runRecord.ts'
import type { Service } from '../services/services.ts'
import { failures } from '../state/failures.ts'
import { ALL_GEOS } from '../tables/sql/allGeos.ts'
import { type Enqueued, enqueue, type QueuedByOthers, queuedByOthers } from './enqueue.ts'
import { clearDead, countLost } from './lost.ts'
import type { Kept, Queue } from './queue.ts'
import { type QueuedRequest, readQueued } from './queuedRequest.ts'

/** A plan that others execute. */
export interface HandOut {
  /** What is queued or in hand already: it is not planned again. */
  readonly requested: Requested
  /** Puts planned requests into the queue, and waits until nothing of their job is left there, nor of what others queued of the same. */
  readonly execute: Execute
}

/** Milliseconds between two checks of the progress of the workers. */
const POLL_MS = 1_000
/** How many times in a row the database may fail to answer before the wait ends. */
const MAX_ATTEMPTS = 60

/** What failed for good since an answer, and was not answered later, with the job that requested it. */
async function failedSince(store: Store, service: Service, after: number, now: number) {
  return (await failures(store))
    .filter(({ fetchId }) => fetchId > after)
    .map((failure) => {
      const { route, params, window } = storedCall(failure)
      const of = {
        window,
        geoIds: numbersOf(failure.requested) ?? [ALL_GEOS],
        series: failure.id === null ? null : storedIdentity(failure as IdentityRow),
      }
      const planned = planRequest({ service, now: Math.floor(now / 1000) }, failure.entry, route, params, of)
      return { job: failure.job, planned, error: recordedError(failure) }
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

/** The error by which the service refused the key, where that is the last that it said to some jobs since an answer; null otherwise. */
async function refusedKey({ kysely }: Store, jobs: readonly string[], after: number): Promise<KeyError | null> {
  const last = await kysely
    .selectFrom('_fetch as f')
    .innerJoin('_run as r', 'r.id', 'f.run_id')
    .where('f.id', '>', after)
    .where('r.job', 'in', jobs)
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

/** The warning of what is in the queue and not understood: the first of it, and why. */
const unreadableFields = (total: number, { id, key }: Kept<unknown>, error: Error) => ({
  total,
  reason: `${quantity(total, 'request')} in the queue ${total === 1 ? 'is' : 'are'} not understood, the first is ${id} (key ${key}): ${error instanceof SyncError ? error.message : 'it is no request of this version.'}`,
  hint:
    (error instanceof SyncError && error.hint) ||
    'A newer version queued it, or somebody edited it: update this version, or delete its row from pgboss.job.',
})

/** Begins a plan that is handed to workers: what they have already is read before anything is planned. */
export async function openHandOut(store: Store, queue: Queue<QueuedRequest>, service: Service): Promise<HandOut> {
  // Workers know every answer from now on, even where the plan does not see it yet. What is in the queue is answered after this.
  const after = await coordinationOf(store).lastFetch()
  const requested = createRequested()
  const unreadable: [Kept<QueuedRequest>, Error][] = []
  const readOpen = async (onUnreadable?: Parameters<typeof readQueued>[2]) =>
    readQueued(await queue.open(), service, onUnreadable).map(({ planned }) => planned)
  noteAll(requested, await readOpen((one, error) => unreadable.push([one, error])))
  const hadAny = requested.requests() > 0
  const [firstUnreadable] = unreadable
  let warning = firstUnreadable ? unreadableFields(unreadable.length, ...firstUnreadable) : null
  /** The jobs of this command that ended: what failed of them is reported. */
  const reported = new Set<string | null>()

  /** What failed of a job, and of what others requested of what it wants. */
  async function failuresOf(job: string, { isWanted }: QueuedByOthers, now: number): Promise<Failed[]> {
    return (await failedSince(store, service, after, now))
      .filter((one) => one.job === job || (!reported.has(one.job) && isWanted(one.planned)))
      .map(({ planned, error }) => ({ planned, error }))
  }

  /**
   * Waits until nothing is left of a job, nor of what others queued of the same; returns why it ended early where it did. `onCounts` gets
   * what workers did so far.
   */
  async function waitUntilDone(
    context: SyncContext,
    job: Job,
    { runId, emit, sent, last, others }: Enqueued & Pick<OpenRun, 'runId' | 'emit'> & { others: QueuedByOthers },
    onCounts: (counts: Counts) => void,
  ): Promise<SyncError | null> {
    const { now, signal, baseUrl } = context
    const total = sent + (await others.left())
    const shown = last ?? others.last
    let warned = false
    /** Looks at the progress of the workers: true when nothing is left, or why nobody will take it. */
    const look = async (): Promise<boolean | KeyError> => {
      const left = (await queue.left(job.name)) + (await others.left())
      const counts = await countsOfWorkers(store, job.name, after)
      onCounts(counts)
      await keepRunning(store, runId)
      const calls = await callsLeft(store, hostOf(baseUrl), job.pace, now())
      const all = Math.max(total, left)
      if (shown) await context.onProgress?.({ planned: shown, counts, done: all - left, total: all, callsLeft: calls })
      if (left === 0) return true
      if (await hasWorkers(store, hostOf(baseUrl), now())) return false
      const refused = await refusedKey(store, [job.name, ...others.jobs], after)
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
      if (warning) run.emit('queue.unreadable', warning)
      warning = null
      try {
        const enqueued = await enqueue(queue, job, requests, after, began)
        await clearDead(store, queue, service)
        const others = await queuedByOthers(queue, service, job.name, hadAny, again)
        const ended = await waitUntilDone(context, job, { ...enqueued, ...run, others }, (latest) => {
          counts = latest
        })
        const lost = ended ? null : lostError(await countLost(store, readOpen, await again(), requested, after))
        await clearDead(store, queue, service)
        counts = await countsOfWorkers(store, job.name, after)
        const all = await failuresOf(job.name, others, now())
        reported.add(job.name)
        // As in a run of one process, a refused key is why the run ended, and no failure of a request.
        const failed = all.filter(({ error }) => !(error instanceof KeyError))
        const refused = all.find(({ error }) => error instanceof KeyError)?.error ?? null
        const stop = ended ?? refused ?? lost ?? findOutage(failed, counts)
        const outcome = runOutcome(stop, failed.length + counts.rows_rejected)
        await run.end(outcome, stop, counts)
        const seconds = (now() - began) / 1000
        return { runId, job: job.name, outcome, counts, failures: failed, seconds, stop }
      } catch (error) {
        await run.fail(error, counts)
        throw error
      }
    },
  }
}
