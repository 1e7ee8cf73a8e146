/* Known changes of resolution: no window spans such a day. */
import { SERVICE_ZONE, startOf } from './calendar.ts'
import type { CommandRecords } from './records.ts'
import { differ, type Scene } from './scene.ts'
import type { SeriesRequest } from './service.ts'
import { idOf } from './world.ts'

/** Changes announced by the operator: indicators, and the first day of quarter-hours. */
const ANNOUNCED: Readonly<Record<number, string>> = { 600: '2025-10-01' }

const isInside = (at: number, { window }: SeriesRequest): boolean =>
  window !== null && window.from < at && window.to > at

/** Compares the requests of a command with the changes known before it. */
export function checkChanges({ changes, tally }: Scene, command: string, sent: readonly SeriesRequest[]): void {
  // A failed request is repeated unchanged.
  if (command === 'retry') return
  for (const request of sent) {
    if (request.trunc !== null) continue
    const announced = ANNOUNCED[request.id]
    const known = [...(changes.get(request.key) ?? []), ...(announced ? [startOf(SERVICE_ZONE, announced)] : [])]
    tally.comparisons++
    const at = known.find((one) => isInside(one, request))
    if (at !== undefined)
      differ(`${command}: a window spans a known change`, new Date(at * 1000).toISOString(), request.target)
  }
}

/** Adds the changes that a command found: between two adjacent parts of a coarse reply with different steps. */
export function readChanges({ changes }: Scene, { fetches }: CommandRecords): void {
  if (fetches.some(({ fetch }) => fetch.outcome === 'too-large')) return
  const all = fetches.flatMap(({ fetch, request }) => (request?.window ? [{ fetch, request, ...request.window }] : []))
  // The step of events is a guess, which reveals no change.
  const good = all.filter(
    ({ fetch, request }) =>
      fetch.outcome === 'ok' && fetch.rows_rejected === 0 && fetch.step_s !== null && request.id !== idOf('events'),
  )
  for (const coarse of all.filter(({ fetch }) => fetch.outcome === 'coarse')) {
    const parts = good.filter(
      ({ request, from, to }) =>
        request.key === coarse.request.key &&
        String(request.geos) === String(coarse.request.geos) &&
        from >= coarse.from &&
        to <= coarse.to,
    )
    for (const before of parts)
      for (const after of parts)
        if (before.to === after.from && before.fetch.step_s !== after.fetch.step_s)
          changes.set(coarse.request.key, new Set([...(changes.get(coarse.request.key) ?? []), after.from]))
  }
}
