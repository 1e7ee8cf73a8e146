import type { Pace } from './job.ts'

/** Whether a budget may end a run. A run waits for the calls of a minute. */
export const hasBudget = ({ callsPerHour, callsPerDay }: Pace): boolean => (callsPerHour ?? callsPerDay) !== null

/** The lowest limit of several paces for each key; `otherwise` without any. */
export function strictestPace(paces: readonly Pace[], otherwise: Pace): Pace {
  return paces.length === 0
    ? otherwise
    : paces.reduce((a, b) => ({
        perSecond: Math.min(a.perSecond, b.perSecond),
        concurrency: Math.min(a.concurrency, b.concurrency),
        callsPerMinute: lowest(a.callsPerMinute, b.callsPerMinute),
        callsPerHour: lowest(a.callsPerHour, b.callsPerHour),
        callsPerDay: lowest(a.callsPerDay, b.callsPerDay),
      }))
}

const lowest = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)
