import type { PlannedRequest } from '../job/plannedRequest.ts'
import { requestFor } from '../service/request.ts'
import { DAY } from '../util/time/instant.ts'
import { type Interval, intersect } from '../util/time/interval.ts'
import { borderUnit, cut, widen } from './windows.ts'

/** Half the length of a window in seconds; undefined for a request without a window or a series. */
export const halfLength = ({ window, series }: PlannedRequest): number | undefined =>
  window && series ? Math.ceil((window.to - window.from) / 2) : undefined

/** Splits the window of a request into pieces of at most `seconds`, on local borders. A day or a bucket is never split. */
export function splitWindow(planned: PlannedRequest, seconds: number | undefined): Interval[] {
  const { window, series, timeZone } = planned
  if (!window) return []
  if (!series || seconds === undefined || window.to - window.from <= seconds) return [window]
  const size = { unit: 'day', count: Math.max(1, Math.floor(seconds / DAY)) } as const
  return [...cut(timeZone, window, size, [], borderUnit(series.timeTrunc))]
}

/** The first piece of a request for absences, of at most `seconds`. It begins and ends at an absence; null without any. */
export function absentPiece(
  planned: PlannedRequest,
  seconds: number | undefined,
  absences: readonly Interval[],
): Interval | null {
  const { window, series, timeZone } = planned
  if (!window) return null
  const unit = borderUnit(series?.timeTrunc ?? null)
  const inside = intersect(
    [window],
    absences.map((absence) => widen(timeZone, absence, unit)),
  )
  if (inside.length === 0) return null
  const from = Math.min(...inside.map((absence) => absence.from))
  const [piece] = splitWindow({ ...planned, window: { from, to: window.to } }, seconds)
  const reached = inside.filter((absence) => absence.from < piece!.to)
  return { from, to: Math.min(piece!.to, Math.max(...reached.map(({ to }) => to))) }
}

/** Returns the request for another window. */
export function withWindow(planned: PlannedRequest, window: Interval): PlannedRequest {
  const moved = { ...planned, window }
  return { ...moved, request: requestFor(moved) }
}
