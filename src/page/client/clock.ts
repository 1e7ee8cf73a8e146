import { padTwo } from './format.ts'

/*
 * Local time in the service's zone, from offsets that the server sends: the zone of the browser is never used.
 */

/** The offsets of a zone in seconds, each with the instant from which it holds; the first one also holds before. */
export type Offsets = readonly (readonly [at: number, seconds: number])[]

/** Seconds that local time is ahead of UTC at an instant. */
const offsetAt = (offsets: Offsets, at: number): number =>
  (offsets.findLast(([from]) => from <= at) ?? offsets[0] ?? [0, 0])[1]

/** The clock at an instant: `2025-10-26T02:15:00`. */
const clockAt = (offsets: Offsets, at: number): string =>
  new Date((at + offsetAt(offsets, at)) * 1000).toISOString().slice(0, 19)

/** An offset as `+02:00`. */
const offsetText = (seconds: number): string =>
  `${seconds < 0 ? '-' : '+'}${padTwo(Math.floor(Math.abs(seconds) / 3600))}:${padTwo((Math.abs(seconds) % 3600) / 60)}`

/** An instant for an address: a local day, if it is its beginning, else the time with its offset. */
export function addressText(offsets: Offsets, at: number): string {
  const clock = clockAt(offsets, at)
  return clock.endsWith('T00:00:00') ? clock.slice(0, 10) : `${clock}${offsetText(offsetAt(offsets, at))}`
}

/** Whether the clocks change on the local day of an instant: then some hour may come twice. */
const isOddDay = (offsets: Offsets, at: number): boolean =>
  offsets.slice(1).some(([change]) => clockAt(offsets, change).slice(0, 10) === clockAt(offsets, at).slice(0, 10))

/** Local time to the minute; with its offset on a day on which the clocks change. */
export const timeText = (offsets: Offsets, at: number): string =>
  clockAt(offsets, at).slice(0, 16).replace('T', ' ') +
  (isOddDay(offsets, at) ? ` ${offsetText(offsetAt(offsets, at))}` : '')
