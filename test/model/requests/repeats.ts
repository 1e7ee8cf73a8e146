/* No data is requested twice in one run, and none again without need. */
import { HOUR, unitsOf } from '../calendar.ts'
import type { CommandRecords } from '../records.ts'
import { differ, type Plan, type Scene } from '../scene.ts'
import { SCOPE } from '../scope.ts'
import type { SeriesRequest } from '../service.ts'
import { covers, includesGeo, isPartOf, touches, unitOf } from '../units.ts'

/** The unknown resolution id of events. */
const EVENTS = 300
/** The resolution id of values that may be sums. */
const MAYBE_SUMS = 223

/** Expects no repeated request in one run, except samples and parts of large windows. */
export function checkRepeats(plan: Plan, { fetches }: CommandRecords): void {
  const all = fetches.flatMap(({ fetch, request }) => (request?.window ? [{ fetch, request }] : []))
  const loaded = all.filter(({ fetch }) => fetch.outcome === 'ok' || fetch.outcome === 'empty')
  // Possible sums of finer values are sampled by single days.
  const sampled = all.filter(
    ({ fetch, request }) =>
      fetch.outcome === 'coarse' || (request.trunc === null && [MAYBE_SUMS, EVENTS].includes(fetch.resolution_id ?? 0)),
  )
  const isPartOfSampled = (part: SeriesRequest): boolean => sampled.some(({ request }) => isPartOf(part, request))
  for (const [i, { request }] of loaded.entries())
    for (const { request: earlier } of loaded.slice(0, i)) {
      if (!isSameData(request, earlier) || isPartOfSampled(request) || isPartOfSampled(earlier)) continue
      differ(`${plan.do}: the same is requested twice in one run`, [], [request.target, earlier.target])
    }
}

/** Whether two requests have an instant of a geo in common. */
const isSameData = (a: SeriesRequest, b: SeriesRequest): boolean =>
  a.key === b.key &&
  touches(a, b.window!) &&
  (a.geos === null || b.geos === null || a.geos.some((geo) => b.geos!.includes(geo)))

/** Returns whether everything in a request was already requested at an instant. */
export function wasRequestedAt({ oracle }: Scene, at: number): (request: SeriesRequest) => boolean {
  const before = new Map([...oracle].map(([key, { events }]) => [key, events.filter((event) => event.at === at)]))
  return ({ key, window, geos, trunc }) =>
    unitsOf(window!.from, window!.to, unitOf(trunc)).every((unit) =>
      (geos ?? [null]).every((geo) =>
        before.get(key)?.some(({ request }) => covers(request, unit) && includesGeo(request, geo)),
      ),
    )
}

/** Expects a second sync at the same time to request only periods that turned out to be missing by the replies of the first one. */
export function checkSecondSync(
  { learnedAt, now }: Scene,
  wasRequested: (request: SeriesRequest) => boolean,
  { sent, fetches }: CommandRecords,
): void {
  if (!SCOPE.has('repeats')) return
  for (const { request, entry } of sent) {
    const reason = fetches.findLast(({ fetch }) => fetch.target === entry.url)?.fetch.reason
    const isNewlyMissing = reason === 'absent' && learnedAt.get(request.key) === now
    if ((!request.window || wasRequested(request)) && !isNewlyMissing)
      differ('a second sync with nothing new sends a request', [], entry.url)
  }
}

/** R1: expects instants and listings, which have no window, not to be requested while fresh. */
export function checkWithoutWindow({ now, singles, tally }: Scene, plan: Plan, { fetches }: CommandRecords): void {
  const withoutWindow = fetches.filter(({ request }) => !request?.window)
  for (const { fetch, request } of withoutWindow) {
    if (plan.do === 'restate' || plan.do === 'retry') continue
    const last = singles.get(fetch.target)
    const refresh = request ? HOUR : 12 * HOUR
    tally.comparisons++
    if (last !== undefined && now - last < refresh)
      differ(`${plan.do}: requested again too soon`, now - last, fetch.target)
  }
  for (const { fetch } of withoutWindow)
    if (fetch.outcome === 'ok' || fetch.outcome === 'empty') singles.set(fetch.target, now)
}
