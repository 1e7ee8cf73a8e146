import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { Lane } from './series.ts'

/**
 * The requests of many series together, those that reach latest first; each series' own must come in that order. In every
 * round all series give what ends as late as the latest, so that a round costs one look at each series.
 */
export function* latestFirst(given: Iterable<Lane>): Generator<PlannedRequest> {
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
