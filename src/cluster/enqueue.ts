import { setImmediate as yieldOnce } from 'node:timers/promises'
import type { Job } from '../job/job.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { overlapWith } from '../plan/requested.ts'
import type { Service } from '../services/services.ts'
import { KEYS_PER_STATEMENT, type Queue, type Queued } from './queue.ts'
import { type QueuedRequest, queuedOf, readQueued } from './queuedRequest.ts'

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

/** What a plan wants and other jobs have queued. */
export interface QueuedByOthers {
  /** The names of those jobs. */
  readonly jobs: readonly string[]
  /** One of their requests; null where there is none. */
  readonly last: PlannedRequest | null
  /** Whether the plan wants any part of what a request is about. */
  isWanted(one: PlannedRequest): boolean
  /** How much of it is still queued or in hand; no less than that while there is any. */
  left(): Promise<number>
}

/** Finds what other jobs than `job` have queued, or in hand, of what that one wants; `had`: whether they had any before it was planned. */
export async function queuedByOthers(
  queue: Queue<QueuedRequest>,
  service: Service,
  job: string,
  had: boolean,
  wanted: () => Promise<Iterable<PlannedRequest>>,
): Promise<QueuedByOthers> {
  const others = readQueued(await queue.open(job), service)
  const isWanted = had || others.length > 0 ? overlapWith(await wanted()) : () => false
  const awaited = others.filter(({ planned }) => isWanted(planned))
  let keys = awaited.map(({ key }) => key)
  return {
    jobs: [...new Set(awaited.map(({ group }) => group))],
    isWanted,
    last: awaited.at(-1)?.planned ?? null,
    async left() {
      // A few of them at a time, until one is found that is still there.
      while (keys.length > 0) {
        const some = keys.slice(0, KEYS_PER_STATEMENT)
        const open = await queue.openAmong(some)
        keys = [...some.filter((key) => open.has(key)), ...keys.slice(KEYS_PER_STATEMENT)]
        if (open.size > 0) break
      }
      return keys.length
    },
  }
}
