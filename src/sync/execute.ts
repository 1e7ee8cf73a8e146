import { type PlannedRequest, seriesKey } from '../job/plannedRequest.ts'
import { calculateAbsentShare } from '../plan/planAbsences.ts'
import { NotFoundError } from '../util/errors.ts'
import { processRequest, type RequestOutcome } from './processRequest.ts'
import type { RequestContext } from './requestContext.ts'

/** Planned requests in the order in which they are sent. */
export type RequestSource = Iterable<PlannedRequest> | AsyncIterable<PlannedRequest>

/** A request, or the parts into which it was split, which are processed one after the other. */
interface Task {
  readonly pending: PlannedRequest[]
  /** The key of the series whose other requests wait for this task; null if they need not. */
  readonly firstOfSeries: string | null
}

/**
 * Executes requests, several at once, and yields their outcomes. The first request of a series runs before its others, because its
 * reply shows the resolution and the possible window size. Starts no more requests after an abort or an error that ends the run.
 * Throws that error when all requests in progress have ended.
 */
export async function* execute(context: RequestContext, source: RequestSource): AsyncGenerator<RequestOutcome, void> {
  const requests = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
  const filter = createFilter()
  const finishedSeries = new Set<string>()
  /** Requests that wait for the first one of their series. */
  const waiting = new Map<string, PlannedRequest[]>()
  const ready: PlannedRequest[] = []
  /** Requests that earlier outcomes have made useless. */
  const useless: PlannedRequest[] = []
  const inProgress = new Map<
    Task,
    Promise<{ readonly task: Task; readonly outcome?: RequestOutcome; readonly error?: unknown }>
  >()
  let firstError: { readonly error: unknown } | null = null
  const isEnding = (): boolean => firstError !== null || context.signal.aborted

  const startNext = (task: Task): void => {
    const result = processRequest(context, task.pending.shift()!).then(
      (outcome) => ({ task, outcome }),
      (error: unknown) => ({ task, error }),
    )
    inProgress.set(task, result)
  }
  const takeTask = async (): Promise<Task | null> => {
    for (;;) {
      const planned = ready.shift() ?? (await requests.next()).value
      if (!planned) return null
      const key = planned.series && planned.window ? seriesKey(planned.series) : null
      const waitingRequests = key === null ? undefined : waiting.get(key)
      if (waitingRequests) waitingRequests.push(planned)
      else if (!filter.admits(planned)) useless.push(planned)
      else {
        const isFirst = key !== null && !finishedSeries.has(key)
        if (isFirst) waiting.set(key, [])
        return { pending: [planned], firstOfSeries: isFirst ? key : null }
      }
    }
  }
  const finish = ({ firstOfSeries }: Task): void => {
    if (firstOfSeries === null) return
    finishedSeries.add(firstOfSeries)
    ready.unshift(...waiting.get(firstOfSeries)!)
    waiting.delete(firstOfSeries)
  }

  try {
    for (;;) {
      while (!isEnding() && inProgress.size < context.concurrency) {
        const task = await takeTask()
        if (!task) break
        startNext(task)
      }
      for (const planned of useless.splice(0)) yield { kind: 'postponed', planned }
      if (inProgress.size === 0) break
      const { task, outcome, error } = await Promise.race(inProgress.values())
      inProgress.delete(task)
      // Later errors are consequences of the first one.
      if (error !== undefined) firstError ??= { error }
      if (outcome?.kind === 'split') task.pending.unshift(...outcome.parts)
      if (outcome) filter.note(outcome)
      if (task.pending.length > 0 && !isEnding()) startNext(task)
      else finish(task)
      if (outcome) yield outcome
    }
  } finally {
    await Promise.all(inProgress.values())
    await requests.return?.()
  }
  if (firstError) throw firstError.error
}

/** Drops planned requests that the outcomes of earlier ones have made useless. */
function createFilter() {
  /** Paths of items for which the service returned 404: their other windows are not requested. */
  const unknown = new Set<string>()
  let [absentRequests, otherRequests] = [0, 0]
  const path = ({ http }: PlannedRequest): string => http.target.split('?')[0]!
  return {
    admits(planned: PlannedRequest): boolean {
      if (unknown.has(path(planned))) return false
      if (planned.reason !== 'absent') {
        otherRequests++
        return true
      }
      // The plan limits absent values to a share of all requests, some of which were dropped since.
      absentRequests++
      return absentRequests <= Math.max(1, calculateAbsentShare(otherRequests))
    },
    note(outcome: RequestOutcome): void {
      const { kind, planned } = outcome
      if (kind === 'failed' && planned.params.id !== undefined && outcome.error instanceof NotFoundError)
        unknown.add(path(planned))
    },
  }
}
