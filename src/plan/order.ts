import type { PlannedRequest } from '../job/plannedRequest.ts'

const endOf = ({ window }: PlannedRequest): number => window?.to ?? Number.POSITIVE_INFINITY

/**
 * The requests of many series together, those that reach latest first; each series' own must come in that order. In every
 * round all series give what ends as late as the latest, so that a round costs one look at each series.
 */
export function* latestFirst(series: Iterable<Iterable<PlannedRequest>>): Generator<PlannedRequest> {
  let lanes = [...series].map((requests) => {
    const iterator = requests[Symbol.iterator]()
    return { iterator, head: iterator.next() }
  })
  for (;;) {
    lanes = lanes.filter(({ head }) => !head.done)
    const latest = lanes.reduce((end, { head }) => Math.max(end, endOf(head.value)), Number.NEGATIVE_INFINITY)
    if (lanes.length === 0) return
    for (const lane of lanes) {
      if (endOf(lane.head.value) < latest) continue
      yield lane.head.value
      lane.head = lane.iterator.next()
    }
  }
}
