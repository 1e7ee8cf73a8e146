import { DAY } from '../base/time/instant.ts'
import type { Interval } from '../base/time/interval.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { borderUnit, cut } from './windows.ts'

/** Half of a window's length in seconds; undefined for a request without a window or a series. */
export const halfOf = ({ window, series }: PlannedRequest): number | undefined =>
  window && series ? Math.ceil((window.to - window.from) / 2) : undefined

/**
 * The window of a request in pieces of at most `seconds`, on local borders; one piece where it is short enough already or cannot
 * be divided: a bucket, and a day, are requested as a whole.
 */
export function piecesOf(planned: PlannedRequest, seconds: number | undefined): Interval[] {
  const { window, series, timeZone } = planned
  if (!window) return []
  if (!series || seconds === undefined || window.to - window.from <= seconds) return [window]
  const size = { unit: 'day', count: Math.max(1, Math.floor(seconds / DAY)) } as const
  return [...cut(timeZone, window, size, [], borderUnit(series.timeTrunc))]
}
