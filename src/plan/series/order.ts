import type { PlannedRequest } from '../../job/plannedRequest.ts'
import type { SeriesRequests } from './seriesRequests.ts'

/**
 * Merges the requests of many series, those with the latest end first; the requests of each series must be in that order. Each
 * round yields all requests with the latest end, so that a round looks at each series once.
 */
export function* latestFirst(given: Iterable<SeriesRequests>): Generator<PlannedRequest> {
  let queues = Array.from(given, ({ windows, requests }) => ({
    windows,
    next: 0,
    requests: requests[Symbol.iterator](),
  }))
  for (;;) {
    queues = queues.filter(({ windows, next }) => next < windows.length)
    if (queues.length === 0) return
    const latest = queues.reduce((end, { windows, next }) => Math.max(end, windows[next]!.to), Number.NEGATIVE_INFINITY)
    for (const queue of queues) {
      if (queue.windows[queue.next]!.to < latest) continue
      queue.next++
      yield queue.requests.next().value!
    }
  }
}
