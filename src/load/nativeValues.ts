import { geoRanges, type Observations, type Rows } from '../db/tables/rows.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { announcedChanges } from '../service/resolutions.ts'
import { type Interval, intersect, subtract } from '../util/time/interval.ts'
import { isCalendarStep } from '../util/time/periods.ts'
import { addUnits, floorTo, startOfDate } from '../util/time/zone.ts'
import type { Neighbours } from './neighbours.ts'

/**
 * Whether values are finer than sums of a step: in every geo, most are closer together than the step. One close pair is not a proof:
 * it may be a stray row, or a clock change of half an hour.
 */
function areFiner(observations: Observations, step: number): boolean {
  const { at } = observations
  return geoRanges(observations).every(({ first, end }) => {
    let close = 0
    for (let i = first + 1; i < end; i++) if (at[i]! - at[i - 1]! < step) close++
    return close * 2 > end - first - 1
  })
}

/** Stored evidence about the resolution of a series. */
interface Evidence {
  /** The steps of stored values next to the window, and changes of resolution at its ends. */
  readonly around: Neighbours
  /** Resolution ids of replies for single days of the series. */
  readonly dayIds: readonly number[]
  /** Whether this run requested a single day to learn the meaning of the reply's id. */
  readonly isProbed: boolean
}

/** Whether replies for single days can show what the id of a reply means: it is the id of sums, or the service does not declare it. */
export const needsDayIds = ({ service: { steps } }: PlannedRequest, { resolutionId: id }: Rows): boolean =>
  steps.coarse !== null && id !== null && !steps.native.includes(id)

/** Whether a reply has the id of sums. The native values of some series have that id, too. */
export const hasSumId = ({ service: { steps } }: PlannedRequest, { resolutionId: id }: Rows): boolean =>
  id !== null && id === steps.coarse

/**
 * Whether the values of a reply are certainly native. The service sums only windows with several resolutions, always to the same step
 * and with the same id. Therefore a single day is never summed, and sums are never finer than that step.
 */
export function isNative(
  { window, series, timeZone, service }: PlannedRequest,
  { resolutionId: id, stepS: step, observations }: Rows,
  { around, dayIds }: Pick<Evidence, 'around' | 'dayIds'>,
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
    around.isBordered ||
    announcedChanges(service.changes, series.indicatorId).some((date) => startOfDate(timeZone, date) === window.to)
  return endsAtChange || !around.steps.some((neighbour) => neighbour < step!)
}

/** The windows that replace a request. */
export interface Split {
  /** Whether the first window is a single day that shows the meaning of an unknown id. */
  readonly isProbe: boolean
  /** Disjoint, shorter windows that cover the original one, in the order in which they are requested. */
  readonly parts: readonly Interval[]
  /** Whether every day is requested alone. */
  readonly isByDay: boolean
}

/** Decides which windows replace a request whose reply may contain sums; null if its values are native. */
export function findSplit(planned: PlannedRequest, rows: Rows, evidence: Evidence): Split | null {
  if (isNative(planned, rows, evidence)) return null
  const window = planned.window!
  const days = listDaysWithValues(planned, rows).flatMap((day) => intersect([window], [day]))
  const inOrder = (parts: readonly Interval[]): readonly Interval[] =>
    [...parts, ...subtract([window], parts)].sort((a, b) => a.from - b.from)
  if (days.length < 2) return { isProbe: false, parts: inOrder(days), isByDay: false }
  const isOwnId = rows.resolutionId !== null && evidence.dayIds.includes(rows.resolutionId)
  if (isOwnId) return { isProbe: false, parts: inOrder(days), isByDay: true }
  const isUnknownId = needsDayIds(planned, rows) && !hasSumId(planned, rows)
  const [day] = days
  if (isUnknownId && evidence.dayIds.length === 0 && !evidence.isProbed)
    return { isProbe: true, parts: [day!, ...subtract([window], [day!])], isByDay: false }
  const middle = days[days.length >> 1]!.from
  const parts = [
    { from: window.from, to: middle },
    { from: middle, to: window.to },
  ]
  return { isProbe: false, parts, isByDay: false }
}

/** The local days that have values, in order. */
function listDaysWithValues({ timeZone }: PlannedRequest, { observations }: Rows): Interval[] {
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
