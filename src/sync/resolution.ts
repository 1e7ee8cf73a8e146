import { geoRanges, type Observations, type Rows } from '../db/tables/rows.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { Neighbours } from '../job/plannerState.ts'
import { announcedChanges } from '../service/resolutions.ts'
import { type Interval, intersect, subtract } from '../util/time/interval.ts'
import { isCalendarStep } from '../util/time/periods.ts'
import { addUnits, floorTo, startOfDate } from '../util/time/zone.ts'

/**
 * Whether values are finer than sums of this step: in every geo, most are less than that apart. Never whether any two are: a
 * stray row may come between sums, and where clocks change by half an hour, so do sums of hours.
 */
function areFiner(rows: Observations, step: number): boolean {
  const { at } = rows
  return geoRanges(rows).every(({ first, end }) => {
    let close = 0
    for (let i = first + 1; i < end; i++) if (at[i]! - at[i - 1]! < step) close++
    return close * 2 > end - first - 1
  })
}

/** What is known of the resolution of a series, beside an answer. */
interface Known {
  /** What is stored on both sides of the window and inside it. */
  readonly around: Neighbours
  /** Resolution ids of answers to single days of the series. */
  readonly dayIds: readonly number[]
  /** Whether a day was requested in this run to learn what the id of the answer means. */
  readonly isProbed: boolean
}

/** Whether the ids of single days tell what the id of an answer means: it is that of sums, or the service does not declare it. */
export const needsDayIds = ({ service: { steps } }: PlannedRequest, { resolutionId: id }: Rows): boolean =>
  steps.coarse !== null && id !== null && !steps.native.includes(id)

/** Whether the values of an answer have the id of sums: its series uses that id itself if they are native. */
export const hasSumId = ({ service: { steps } }: PlannedRequest, { resolutionId: id }: Rows): boolean =>
  id !== null && id === steps.coarse

/**
 * Whether the values of an answer are certainly those of the series, and no sums of finer ones. A service sums windows with several
 * resolutions, in one step and with one id; so it does not sum a single day, and sums are never finer than that step.
 */
export function isNative(
  { window, series, timeZone, service }: PlannedRequest,
  { resolutionId: id, stepS: step, observations }: Rows,
  { around, dayIds }: Pick<Known, 'around' | 'dayIds'>,
): boolean {
  if (!window || !series || series.timeTrunc !== null || !observations?.at.length) return true
  if (addUnits(timeZone, window.from, 'day', 1) >= window.to) return true
  const { coarse, native, byNumber } = service.steps
  if (coarse === null) return true
  const sumStep = byNumber[coarse] as number
  if (id === coarse) return areFiner(observations, sumStep)
  const hasKnownStep = id !== null && byNumber[id] !== undefined
  if (step === null || isCalendarStep(step) || (step < sumStep && (hasKnownStep || areFiner(observations, sumStep))))
    return true
  if (id !== null) return native.includes(id) || dayIds.includes(id)
  const endsAtChange =
    around.bordered ||
    announcedChanges(service.changes, series.indicatorId).some((date) => startOfDate(timeZone, date) === window.to)
  return endsAtChange || !around.steps.some((other) => other < step!)
}

/** The windows that replace that of an answer, in the order in which they are requested; `isByDay`: every day is requested alone. */
export interface Split {
  readonly why: 'coarse' | 'probe'
  readonly into: readonly Interval[]
  readonly isByDay: boolean
}

/**
 * Decides by which windows an answer is replaced; null if its values are native. The windows are disjoint, shorter, and cover that
 * of the answer.
 */
export function findSplit(request: PlannedRequest, rows: Rows, known: Known): Split | null {
  if (isNative(request, rows, known)) return null
  const window = request.window!
  const days = daysWithValues(request, rows).flatMap((day) => intersect([window], [day]))
  const inOrder = (parts: readonly Interval[]): readonly Interval[] =>
    [...parts, ...subtract([window], parts)].sort((a, b) => a.from - b.from)
  if (days.length < 2) return { why: 'coarse', into: inOrder(days), isByDay: false }
  const isOwnId = rows.resolutionId !== null && known.dayIds.includes(rows.resolutionId)
  if (isOwnId) return { why: 'coarse', into: inOrder(days), isByDay: true }
  const isUnknownId = needsDayIds(request, rows) && !hasSumId(request, rows)
  const [day] = days
  if (isUnknownId && known.dayIds.length === 0 && !known.isProbed)
    return { why: 'probe', into: [day!, ...subtract([window], [day!])], isByDay: false }
  const middle = days[days.length >> 1]!.from
  const halves = [
    { from: window.from, to: middle },
    { from: middle, to: window.to },
  ]
  return { why: 'coarse', into: halves, isByDay: false }
}

/** The local days that have values, in order. */
function daysWithValues({ timeZone }: PlannedRequest, { observations }: Rows): Interval[] {
  const days = new Map<number, Interval>()
  let from = Number.POSITIVE_INFINITY
  let to = Number.NEGATIVE_INFINITY
  for (const at of observations?.at ?? []) {
    if (at >= from && at < to) continue
    from = floorTo(timeZone, at, 'day')
    to = addUnits(timeZone, from, 'day', 1)
    days.set(from, { from, to })
  }
  return [...days.values()].sort((a, b) => a.from - b.from)
}
