import { announcedChanges } from '../api/changes.ts'
import { buildRequest } from '../api/request.ts'
import type { Params, RouteName } from '../api/routes.ts'
import type { Service } from '../api/services.ts'
import type { Instant } from '../base/instant.ts'
import type { Interval } from '../base/interval.ts'
import { addUnits, startOfDate } from '../base/zone.ts'
import type { Ask } from '../job/ask.ts'
import type { Neighbours } from '../job/memory.ts'
import type { Rows } from '../tables/rows.ts'

/** The `tiempo` number under which the live service was seen to serve hourly sums of finer values. Source: a recorded case. */
const COARSENED = 223

/** Whether an answer may span a change of resolution: it says so, or it is coarser than what lies around it. */
export function looksCoarse(ask: Ask, rows: Rows, { steps, bordered, ids }: Neighbours): boolean {
  const { window, series, timeZone } = ask
  if (!window || !series || series.timeTrunc !== null || rows.stepS === null || rows.empty) return false
  if (addUnits(timeZone, window.from, 'day', 1) >= window.to) return false
  // A day cannot span a change: a series whose single days bear the number has it for its own.
  if (rows.resolutionId === COARSENED) return !ids.includes(COARSENED)
  const announced = announcedChanges(series.indicatorId).map((date) => startOfDate(timeZone, date))
  return !bordered && !announced.includes(window.to) && steps.some((step) => step < rows.stepS!)
}

/** The same question about another window. */
export function within(service: Service, ask: Ask, window: Interval): Ask {
  const params = { ...ask.params, start_date: window.from, end_date: window.to - 1 }
  return { ...ask, params, window, request: buildRequest(service, ask.route, params as Params<RouteName>) }
}

/** The local days of a window. */
export function daysOf(zone: string, { from, to }: Interval): Interval[] {
  const days: Interval[] = []
  for (let start = from; start < to; ) {
    const end = Math.min(addUnits(zone, start, 'day', 1), to)
    days.push({ from: start, to: end })
    start = end
  }
  return days
}

/**
 * Finds the day on which a step changes, by bisection: two requests for the ends and one for every halving.
 * `stepOf` answers the step of one day, null where it has no values. Answers null when both ends have the same step.
 */
export async function findChange(
  days: readonly Interval[],
  stepOf: (day: Interval) => Promise<number | null>,
): Promise<{ at: Instant; step: number } | null> {
  let low = 0
  let high = days.length - 1
  const first = await stepOf(days[low]!)
  const last = await stepOf(days[high]!)
  if (first === null || last === null || first === last) return null
  while (high - low > 1) {
    const middle = (low + high) >> 1
    const step = await stepOf(days[middle]!)
    if (step === last) high = middle
    else low = middle
  }
  return { at: days[high]!.from, step: last }
}
