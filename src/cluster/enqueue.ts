import { setImmediate as yieldOnce } from 'node:timers/promises'
import type { Job } from '../job/job.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { Queue, Queued } from './queue.ts'
import { type QueuedRequest, queuedOf } from './queuedRequest.ts'

/** Requests that are queued at once. */
const REQUESTS_PER_INSERT = 2_000

/** What was queued: how many requests were not there already, and the last of them. */
export interface Enqueued {
  readonly sent: number
  readonly last: PlannedRequest | null
}

/**
 * Puts planned requests into the queue as they are planned: while the server takes some, the next ones are planned. `after` is the
 * last answer that the plan knew of.
 */
export async function enqueue(
  queue: Queue<QueuedRequest>,
  job: Job,
  requests: Iterable<PlannedRequest>,
  after: number,
  nowMs: number,
): Promise<Enqueued> {
  const now = Math.floor(nowMs / 1000)
  let sent = 0
  let sending: Promise<number> = Promise.resolve(0)
  const send = async (batch: readonly Queued<QueuedRequest>[]): Promise<void> => {
    sent += await sending
    sending = queue.insert(batch)
    // The caller that waits for it gets the error; until then it must not count as unhandled.
    sending.catch(() => undefined)
    await yieldOnce()
  }
  let batch: Queued<QueuedRequest>[] = []
  let last: PlannedRequest | null = null
  for (const planned of requests) {
    last = planned
    batch.push(queuedOf(job, planned, after, now))
    if (batch.length < REQUESTS_PER_INSERT) continue
    await send(batch)
    batch = []
  }
  await send(batch)
  return { sent: sent + (await sending), last }
}
