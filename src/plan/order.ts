import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { Lane } from './series.ts'

/**
 * The requests of many series together, those that reach latest first; each series' own must come in that order. In every
 * round all series give what ends as late as the latest, so that a round costs one look at each series.
 */
export function* latestFirst(given: Iterable<Lane>): Generator<PlannedRequest> {
  let lanes = Array.from(given, ({ windows, requests }) => ({
    windows,
    next: 0,
    requests: requests[Symbol.iterator](),
  }))
  for (;;) {
    lanes = lanes.filter(({ windows, next }) => next < windows.length)
    if (lanes.length === 0) return
    const latest = lanes.reduce((end, { windows, next }) => Math.max(end, windows[next]!.to), Number.NEGATIVE_INFINITY)
    for (const lane of lanes) {
      if (lane.windows[lane.next]!.to < latest) continue
      lane.next++
      yield lane.requests.next().value!
    }
  }
}
