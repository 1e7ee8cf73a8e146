import type { Client } from '../fetch/client.ts'
import { type PlannedRequest, seriesKey } from '../job/plannedRequest.ts'
import type { Run } from '../load/run.ts'
import { calculateRepeatShare } from '../plan/planRepeats.ts'
import { createGivenUpItems } from './givenUpItems.ts'
import { processNext, type RequestOutcome } from './processRequest.ts'

/** The most requests that wait for the first one of their series. A series may have more, which are planned only once the first has ended. */
const MAX_WAITING = 1_000

/** Planned requests in the order in which they are sent. */
export type RequestSource = Iterable<PlannedRequest> | AsyncIterable<PlannedRequest>

/** A request, or the parts into which it was split, which are processed one after the other. */
interface Task {
  readonly pending: PlannedRequest[]
  /** The key of the series whose other requests wait for this task; null if none do. */
  readonly firstOf: string | null
  /** True if the request is not sent, because earlier replies show that the service has no such data. */
  readonly isDropped: boolean
}

/**
 * Executes requests, several at once, and yields their outcomes. Starts no more requests after an abort or an error that ends the run.
 * Throws that error when all requests in progress have ended.
 */
export async function* execute(run: Run, client: Client, source: RequestSource): AsyncGenerator<RequestOutcome, void> {
  const queue = createQueue(source)
  const inProgress = new Map<Task, Promise<{ task: Task; outcome?: RequestOutcome; error?: unknown }>>()
  let firstError: { readonly error: unknown } | null = null
  const isEnding = (): boolean => firstError !== null || client.signal.aborted
  const start = (task: Task): void => {
    const result = processNext(run, client, task.pending).then(
      (outcome) => ({ task, outcome, error: outcome.kind === 'stopped' ? outcome.error : undefined }),
      (error: unknown) => ({ task, error }),
    )
    inProgress.set(task, result)
  }
  try {
    for (;;) {
      while (!isEnding() && inProgress.size < client.concurrency) {
        const task = await queue.take()
        if (!task) break
        if (task.isDropped) yield { kind: 'postponed', planned: task.pending[0]! }
        else start(task)
      }
      if (inProgress.size === 0) break
      const { task, outcome, error } = await Promise.race(inProgress.values())
      inProgress.delete(task)
      // Later errors are consequences of the first one.
      if (error !== undefined) firstError ??= { error }
      if (outcome) queue.note(outcome)
      if (task.pending.length > 0 && !isEnding()) start(task)
      else queue.end(task)
      if (outcome) yield outcome
    }
  } finally {
    await Promise.all(inProgress.values())
    await queue.close()
  }
  if (firstError) throw firstError.error
}

/**
 * Decides which request may start next. The first request of a series runs before its others, because its reply shows the resolution
 * and the possible window size.
 */
function createQueue(source: RequestSource) {
  const requests = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
  const { admit, note, announce } = createFilter()
  const ready: PlannedRequest[] = []
  /** The requests of each series that wait for the end of its first request; null once that has ended. */
  const waiting = new Map<string, PlannedRequest[] | null>()
  let waitingCount = 0
  const takeNext = async (): Promise<PlannedRequest | undefined> => {
    const { value, done } = await requests.next()
    if (done) return undefined
    announce(value)
    return value
  }
  return {
    note,
    /** The next task; null if there is none, or all others wait. */
    async take(): Promise<Task | null> {
      for (;;) {
        const planned = ready.shift() ?? (waitingCount < MAX_WAITING ? await takeNext() : undefined)
        if (!planned) return null
        const key = planned.series && planned.window ? seriesKey(planned.series) : null
        const others = key === null ? null : waiting.get(key)
        if (others) {
          others.push(planned)
          waitingCount++
        } else if (!admit(planned)) return { pending: [planned], firstOf: null, isDropped: true }
        else {
          const firstOf = others === undefined ? key : null
          if (firstOf !== null) waiting.set(firstOf, [])
          return { pending: [planned], firstOf, isDropped: false }
        }
      }
    },
    /** Releases the requests that waited for a task. */
    end({ firstOf }: Task): void {
      if (firstOf === null) return
      const others = waiting.get(firstOf) ?? []
      ready.unshift(...others)
      waitingCount -= others.length
      waiting.set(firstOf, null)
    },
    async close(): Promise<void> {
      await requests.return?.()
    },
  }
}

/** Finds planned requests that need not be sent, by the outcomes of earlier ones. */
function createFilter() {
  const givenUp = createGivenUpItems()
  /** The periods of repeats and of all other requests, without dropped ones. */
  let repeatPeriods = 0
  let otherPeriods = 0
  return {
    note: givenUp.note,
    /** Counts a planned request, which may have to wait for another one. */
    announce({ reason, periods = 0 }: PlannedRequest): void {
      if (reason !== 'absent') otherPeriods += periods
    },
    /** Whether a request is sent. Counts its periods, too. */
    admit(planned: PlannedRequest): boolean {
      const { reason, periods = 0 } = planned
      const isGivenUp = givenUp.has(planned)
      if (reason !== 'absent') {
        if (isGivenUp) otherPeriods -= periods
        return !isGivenUp
      }
      // The plan limits repeats to a share of all periods, some of which were dropped since.
      const isFirst = repeatPeriods === 0
      if (isGivenUp || (!isFirst && repeatPeriods + periods > calculateRepeatShare(otherPeriods))) return false
      repeatPeriods += periods
      return true
    },
  }
}
