import { HOUR } from '../base/time/instant.ts'
import type { Interval } from '../base/time/interval.ts'
import { addUnits, floorTo, startOfDate } from '../base/time/zone.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { Neighbours } from '../job/plannerState.ts'
import { requestFor } from '../services/request.ts'
import { announcedChanges } from '../services/resolutionChanges.ts'
import { geoRanges, type Observations, type Rows } from '../tables/rows.ts'

/** The resolution of an answer: the service's id of it, and its step in seconds; null where the answer states none, or periods differ. */
export interface Resolution {
  readonly id: number | null
  readonly step: number | null
  /** Whether the step is only guessed, as for events. */
  readonly guessed: boolean
}

export const resolutionOf = ({ resolutionId, stepS, observations }: Rows): Resolution => ({
  id: resolutionId,
  step: stepS,
  guessed: observations?.guessed === true,
})

/** Whether a step is a calendar period (a day or longer), whose length varies. */
const isCalendar = (step: number | null): boolean => step === null || step > 20 * HOUR

/** Whether two answers have the same resolution: equal ids, where both have one, and equal steps, where both are known. */
export const isSame = (a: Resolution, b: Resolution): boolean => {
  if (a.id !== null && a.id === b.id && (a.guessed || b.guessed)) return true
  const isOneNumber = a.id === b.id || a.id === null || b.id === null
  return isOneNumber && (a.step === b.step || (isCalendar(a.step) && isCalendar(b.step)))
}

/** Whether an answer has a resolution id that the service's declaration does not explain; single days of the series show what it means. */
export const isUnknown = ({ service: { steps } }: PlannedRequest, { resolutionId: id }: Rows): boolean =>
  steps.coarse !== null && id !== null && id !== steps.coarse && !steps.native.includes(id)

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

/**
 * Whether an answer has native values (`native`), may have sums of finer ones (`sums`), or has to be compared with a single day
 * of the series (`unsure`). A service sums only windows with several resolutions, in one step and with one id, so an answer is
 * certainly native when its window is a single day, its values are finer than that step, or its id is known for native values.
 * `dayIds`: the resolution ids of single days of the series.
 */
export function classifyValues(
  planned: PlannedRequest,
  rows: Rows,
  { steps, bordered }: Neighbours,
  dayIds: readonly number[],
): 'native' | 'sums' | 'unsure' {
  const { window, series, timeZone, service } = planned
  if (!window || !series || series.timeTrunc !== null || !rows.observations?.at.length) return 'native'
  if (addUnits(timeZone, window.from, 'day', 1) >= window.to) return 'native'
  const { id, step } = resolutionOf(rows)
  const { coarse, native, byNumber } = service.steps
  if (coarse === null) return 'native'
  const sumStep = byNumber[coarse] as number
  if (id === coarse) return areFiner(rows.observations, sumStep) ? 'native' : 'sums'
  const isKnownStep = id !== null && byNumber[id] !== undefined
  if (isCalendar(step) || (step! < sumStep && (isKnownStep || areFiner(rows.observations, sumStep)))) return 'native'
  if (id !== null) return native.includes(id) || dayIds.includes(id) ? 'native' : 'unsure'
  const isKnown =
    bordered ||
    announcedChanges(service.changes, series.indicatorId).some((date) => startOfDate(timeZone, date) === window.to)
  return !isKnown && steps.some((other) => other < step!) ? 'unsure' : 'native'
}

/** The same request for another window. */
export function withWindow(planned: PlannedRequest, window: Interval): PlannedRequest {
  const moved = { ...planned, window }
  return { ...moved, request: requestFor(moved) }
}

/** The local days that have values, in order. */
export function daysWithValues({ timeZone }: PlannedRequest, { observations }: Rows): Interval[] {
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

/** Splits a window in two at one of its days with values, so that both parts have about equally many of them. There must be two such days. */
export function halve({ from, to }: Interval, days: readonly Interval[]): readonly [Interval, Interval] {
  const middle = days[days.length >> 1]!.from
  return [
    { from, to: middle },
    { from: middle, to },
  ]
}
