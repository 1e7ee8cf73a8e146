import { setTimeout as sleep } from 'node:timers/promises'
import { BugError, KeyError, RightsError, SignalError, StoppedError, type SyncError } from '../base/errors.ts'
import { type EventFields, errorFields } from '../base/eventFields.ts'
import { type EmitEvent, emitterOf } from '../base/events.ts'
import { redactorOf } from '../base/redact.ts'
import { asSyncError } from '../base/systemErrors.ts'
import { formatUtc } from '../base/time/instant.ts'
import { createValidity, type Validity } from '../base/time/validity.ts'
import { hostOf } from '../calls/hosts.ts'
import { BEAT_MS, WORKER } from '../db/queries/workers.ts'
import { LapsedError } from '../fetch/turns.ts'
import { ingest } from '../ingest.ts'
import type { IngestContext } from '../ingestContext.ts'
import { createSizes } from '../load/learnedSizes.ts'
import type { Loading } from '../load/load.ts'
import { claimedRequest, endClaim, LostClaimError, leaseHolderOf } from './claims.ts'
import { createLeases, type Leases, retryLapsed } from './leases.ts'
import { createOutage, type Outage } from './outage.ts'
import { type Claim, HEARTBEAT_S, type Queue } from './queue.ts'
import { OtherServiceError, plannedOf, type QueuedRequest } from './queuedRequest.ts'
import { type Registered, register } from './registry.ts'
import { createWorkerRuns, type WorkerContext, type WorkerRuns } from './workerRuns.ts'

/** How a worker works. */
export interface WorkOptions {
  /** Requests in hand at once. */
  readonly concurrency: number
  /** Ends when nothing is left to do, instead of waiting for more. */
  readonly untilEmpty?: boolean | undefined
  /** Is called whenever the database has answered a heartbeat. */
  readonly onHeard?: () => void
}

/** What a worker did. */
export interface Worked {
  /** Requests that it ended, including those that failed. */
  readonly done: number
  readonly failed: number
  /** Why it ended, if it was not asked to. */
  readonly stop: SyncError | null
}

/** Milliseconds for which a worker takes a claim for valid: two seconds less than it lasts without a heartbeat. */
const VALID_CLAIM_MS = (HEARTBEAT_S - 2) * 1_000
/** How often to look for work while there is none. */
const IDLE_MS = 1_000
/** How long a worker does not call a host whose budget is spent, or that asked for a pause, before it looks again. */
const PAUSE_S = 30

/** The fields of an event that describe a request in hand, without the service: building the request may be what failed. */
const eventClaim = ({
  data,
  retryCount,
}: Claim<QueuedRequest>): Pick<EventFields, 'job' | 'where' | 'route' | 'attempt' | 'indicator' | 'window'> => ({
  job: data.job,
  where: data.where,
  route: data.route,
  attempt: retryCount + 1,
  indicator: data.series?.indicatorId ?? null,
  window: data.window && { from: formatUtc(data.window.from), to: formatUtc(data.window.to) },
})

/** A worker at work: what it works with, what it has in hand, what it did, and what keeps it from more. */
interface TakingWorker {
  readonly context: WorkerContext
  readonly queue: Queue<QueuedRequest>
  readonly workerRuns: WorkerRuns
  readonly leases: Leases
  readonly validity: Validity<Claim<QueuedRequest>>
  readonly outage: Outage
  readonly emit: EmitEvent
  readonly samples: IngestContext['samples']
  readonly inHand: Map<Claim<QueuedRequest>, Promise<void>>
  done: number
  failed: number
  stop: SyncError | null
  /** Until when (by the clock of the process) the host is not called, and why. */
  pause: { readonly until: number; readonly error: StoppedError } | null
}

/**
 * Takes requests from the queue, and fetches, transforms and loads each as any run does, until it is asked to stop. Then it
 * finishes the calls under way and puts the rest back.
 */
export async function work(context: WorkerContext, queue: Queue<QueuedRequest>, options: WorkOptions): Promise<Worked> {
  const { store, control, signal } = context
  const registered = await register(control, hostOf(context.baseUrl), context.version)
  const emit = emitterOf(context.onEvent, { command: WORKER })
  const outage = createOutage(emit, (error) => {
    working.stop ??= error
  })
  const workerRuns = createWorkerRuns(context)
  const working: TakingWorker = {
    context,
    queue,
    workerRuns,
    leases: createLeases(store, control, signal),
    validity: createValidity(VALID_CLAIM_MS),
    outage,
    emit,
    samples: new Map(),
    inHand: new Map(),
    done: 0,
    failed: 0,
    stop: null,
    pause: null,
  }
  let beating: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    beating = beating
      .then(() => beat(working, registered))
      .then(() => {
        outage.end()
        options.onHeard?.()
      }, outage.note)
  }, BEAT_MS)
  try {
    for (let more = true; more && !signal.aborted && working.stop === null; )
      more = await step(working, options).catch(async (error: unknown) => {
        outage.note(error)
        await waitInHand(working)
        return true
      })
  } finally {
    await Promise.all(working.inHand.values())
    await workerRuns.end(working.stop).catch(outage.note)
    clearInterval(timer)
    await beating
    await registered.leave().catch(outage.note)
  }
  const { done, failed, stop } = working
  return { done, failed, stop }
}

/** One round of the loop; false when nothing is left to do. */
async function step(working: TakingWorker, { concurrency, untilEmpty }: WorkOptions): Promise<boolean> {
  const { workerRuns, inHand } = working
  if (working.pause && performance.now() >= working.pause.until) working.pause = null
  if (working.pause) {
    if (inHand.size === 0) await workerRuns.end(working.pause.error)
  } else if (inHand.size < concurrency) {
    if (await take(working, concurrency - inHand.size)) return true
    if (inHand.size === 0) {
      await workerRuns.end(null)
      if (untilEmpty) return false
    }
  }
  await waitInHand(working)
  return true
}

/** Waits until something in hand ends, a while at most. */
async function waitInHand({ context: { signal }, inHand }: TakingWorker): Promise<void> {
  await Promise.race([sleep(IDLE_MS, undefined, { signal }).catch(() => undefined), ...inHand.values()])
}

/** Takes as much work as there is room for; false if there was none. */
async function take(working: TakingWorker, room: number): Promise<boolean> {
  const { queue, outage, inHand, validity } = working
  const askedAt = performance.now()
  const claims = await queue.claim(room)
  outage.end()
  for (const claim of claims) {
    validity.confirm(claim, askedAt)
    inHand.set(
      claim,
      handle(working, claim).finally(() => {
        validity.forget(claim)
        inHand.delete(claim)
      }),
    )
  }
  return claims.length > 0
}

/** Makes sure of a claim. Throws LostClaimError where it is not valid any more. */
async function confirmClaim({ validity, queue, context }: TakingWorker, claim: Claim<QueuedRequest>): Promise<void> {
  if (validity.isValid(claim)) return
  const askedAt = performance.now()
  if (!(await queue.isValid(claim, context.control.kysely))) throw new LostClaimError()
  validity.confirm(claim, askedAt)
}

/** Ingests what is left of a claimed request, and ends the claim or gives it up. */
async function handle(working: TakingWorker, claim: Claim<QueuedRequest>): Promise<void> {
  const { context, queue, workerRuns, leases, validity, outage, samples } = working
  const { service } = context
  const { data: queued } = claim
  const holder = leaseHolderOf(claim)
  const checkLease = (): void => {
    if (!validity.isValid(claim)) throw new LapsedError()
    leases.check(holder)
  }
  let run: number | undefined
  const ingestLeft = async (): Promise<void> => {
    await confirmClaim(working, claim)
    const left = await leases.acquire(holder, plannedOf(queued, service))
    const claimed = claimedRequest(context.store, queue, claim, left.length === 1 ? left[0]! : null)
    let error: SyncError | null = null
    if (left.length > 0) {
      const { runId, emit, fetcher } = await workerRuns.of(queued)
      run = runId
      const { onRecorded, store } = claimed
      const redactor = redactorOf(context.key)
      const loading: Loading = { store, runId, keep: queued.keep, now: context.now, redactor, onRecorded }
      const shared = { fetcher, loading, onReject: context.onReject, emit, samples, checkLease }
      for (const one of left) {
        const result = await ingest({ ...shared, sizes: createSizes(loading) }, one)
        error ??= result.error
      }
    }
    if (!claimed.isEnded()) await endClaim(queue, claim, error)
    working.done++
    if (error) working.failed++
  }
  try {
    await retryLapsed(ingestLeft)
  } catch (error) {
    await giveUp(working, claim, error, run).catch(outage.note)
  } finally {
    // A lease that cannot be released now ends because nobody renews it.
    await leases.release(holder).catch(() => undefined)
  }
}

/** Handles what was thrown: it ends the work on a request, or more than that. `run`: the run that it was part of, if one had begun. */
async function giveUp(
  working: TakingWorker,
  claim: Claim<QueuedRequest>,
  thrown: unknown,
  run: number | undefined,
): Promise<void> {
  const error = asSyncError(thrown)
  const { queue, emit } = working
  const about = { ...eventClaim(claim), ...(run === undefined ? {} : { run }) }
  if ([KeyError, OtherServiceError, RightsError].some((one) => error instanceof one)) working.stop ??= error
  else if (error instanceof LostClaimError)
    return emit('claim.lost', { ...about, code: error.code, reason: error.message })
  else if (error instanceof StoppedError && !(error instanceof SignalError)) {
    if (!working.pause) emit('worker.paused', { job: claim.data.job, wait_ms: PAUSE_S * 1000, ...errorFields(error) })
    working.pause ??= { until: performance.now() + PAUSE_S * 1000, error }
  } else if (!(error instanceof StoppedError)) {
    // If the database does not answer, others take the request over once its claim is no longer renewed.
    const fields = errorFields(error)
    emit('claim.failed', { ...about, ...fields })
    if (error instanceof BugError)
      await queue.fail(claim, { message: redactorOf(working.context.key).text(fields.reason ?? '') })
    return
  }
  const { data, key, priority } = claim
  await queue.putBack(claim, { data, key, priority, group: data.job }, working.pause ? PAUSE_S : 0)
}

/** Renews what is in hand, and reports that the worker is alive. */
async function beat(working: TakingWorker, registered: Registered): Promise<void> {
  const { context, queue, workerRuns, leases, validity, inHand } = working
  await context.store.check()
  const askedAt = performance.now()
  const valid = await queue.beat([...inHand.keys()])
  for (const claim of valid) if (inHand.has(claim)) validity.confirm(claim, askedAt)
  await leases.renew(valid.map(leaseHolderOf))
  const wasGivenUp = await registered.beat({
    claims: inHand.size,
    done: working.done,
    draining: context.signal.aborted ? 1 : 0,
    runs: workerRuns.runs().join(','),
    holding: working.pause?.error.message ?? null,
  })
  if (wasGivenUp) workerRuns.giveUp()
}
