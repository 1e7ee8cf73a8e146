import type { Interval } from '../base/interval.ts'
import { addUnits, floorTo, startOfDate } from '../base/zone.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { Neighbours } from '../job/plannerState.ts'
import { announcedChanges } from '../services/changes.ts'
import { buildRequest, rangeParams } from '../services/request.ts'
import type { Params, RouteName } from '../services/routes.ts'
import type { Service } from '../services/services.ts'
import type { Rows } from '../tables/rows.ts'

const HOUR = 3_600

/** In which resolution an answer came: the service's number for it, and its seconds; null where it tells none, or periods differ. */
export interface Kind {
  readonly id: number | null
  readonly step: number | null
  /** Whether nothing tells how long its periods are, as with events. */
  readonly guessed: boolean
}

export const kindOf = ({ resolutionId, stepS, observations }: Rows): Kind => ({
  id: resolutionId,
  step: stepS,
  guessed: observations?.guessed === true,
})

/** A period of the calendar, whose days and months are not all equally long, and which no sum by the hour is. */
const isCalendar = (step: number | null): boolean => step === null || step > 20 * HOUR

/** Whether two answers came in one resolution: under one number, where both have one, and in periods of one length, where they tell it. */
export const isSame = (a: Kind, b: Kind): boolean => {
  if (a.id !== null && a.id === b.id && (a.guessed || b.guessed)) return true
  const isOneNumber = a.id === b.id || a.id === null || b.id === null
  return isOneNumber && (a.step === b.step || (isCalendar(a.step) && isCalendar(b.step)))
}

/** Whether an answer bears a number of which nothing but the single days of its series tell what it stands for. */
export const isUnknown = ({ service }: PlannedRequest, { resolutionId: id }: Rows): boolean =>
  id !== null && id !== service.steps.coarse && !service.steps.native.includes(id)

/**
 * What is to be thought of an answer: values as they are (`native`), what may be sums of finer ones (`sums`), or what one
 * day of the series has to tell (`unsure`). The service sums only over several resolutions, by the hour and under one
 * number, so an answer is native for certain when it is about a single day, is finer than hours, or comes under a number
 * that is known for values. `dayIds`: the numbers under which single days of the series came.
 */
export function judge(
  planned: PlannedRequest,
  rows: Rows,
  { steps, bordered }: Neighbours,
  dayIds: readonly number[],
): 'native' | 'sums' | 'unsure' {
  const { window, series, timeZone, service } = planned
  if (!window || !series || series.timeTrunc !== null || !rows.observations?.at.length) return 'native'
  if (addUnits(timeZone, window.from, 'day', 1) >= window.to) return 'native'
  const { id, step } = kindOf(rows)
  const { coarse, native } = service.steps
  const isCoarse = id !== null && id === coarse
  // Sums come by the hour.
  if (isCalendar(step) ? !isCoarse : step! < HOUR) return 'native'
  if (isCoarse) return 'sums'
  if (id !== null) return native.includes(id) || dayIds.includes(id) ? 'native' : 'unsure'
  const isKnown =
    bordered ||
    announcedChanges(service.changes, series.indicatorId).some((date) => startOfDate(timeZone, date) === window.to)
  return !isKnown && steps.some((other) => other < step!) ? 'unsure' : 'native'
}

/** The same question about another window. */
export function within(service: Service, planned: PlannedRequest, window: Interval): PlannedRequest {
  const params = { ...planned.params, ...rangeParams(window) }
  return { ...planned, params, window, request: buildRequest(service, planned.route, params as Params<RouteName>) }
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

/** Cuts a window in two before one of its days with values, so that both parts have as many of them as can be. There must be two such days. */
export function halve({ from, to }: Interval, days: readonly Interval[]): readonly [Interval, Interval] {
  const middle = days[days.length >> 1]!.from
  return [
    { from, to: middle },
    { from: middle, to },
  ]
}
