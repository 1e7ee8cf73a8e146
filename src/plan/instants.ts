import type { SeriesEntry } from '../job/job.ts'
import { resolveMoment } from '../job/moment.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { identityOf, paramsOf } from './entries.ts'
import { freshnessOf, isDue } from './held.ts'
import { isInRange, type Planning } from './planning.ts'
import { planRequest } from './planRequest.ts'
import { isSkipped } from './unknown.ts'

/** Plans an entry with `datetime`: one request an indicator, for one instant. */
export function* planInstants(planning: Planning, entry: SeriesEntry): Generator<PlannedRequest> {
  const { job, plannerState, now, options, requested } = planning
  if (!entry.datetime) return
  const datetime = resolveMoment(entry.datetime, job.timeZone, now)
  if (!isInRange(planning, datetime)) return
  const freshness = freshnessOf(planning, entry)
  for (const indicatorId of entry.indicators) {
    const params = { ...paramsOf(entry, indicatorId, entry.geoIds), datetime }
    const extra = { series: identityOf(entry, indicatorId), geoIds: [] }
    const planned = planRequest(planning, entry.path, entry.route, params, extra)
    const { target } = planned.request
    const window = { from: datetime, to: datetime + 1 }
    if (!options.restate && !isDue(plannerState.lastAnswer(target), window, freshness)) continue
    if (isSkipped(planning, entry.path, entry.route, indicatorId)) continue
    if (requested.addTarget(target)) yield planned
  }
}
