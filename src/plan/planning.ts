import type { Instant } from '../base/instant.ts'
import type { Interval } from '../base/interval.ts'
import type { Unit } from '../base/zone.ts'
import type { Job, Window } from '../job/job.ts'
import { resolveWindow } from '../job/moment.ts'
import { ALL_GEOS, type PlannedRequest } from '../job/plannedRequest.ts'
import type { PassedOver, PlannerState } from '../job/plannerState.ts'
import { buildRequest } from '../services/request.ts'
import type { AnyParams, Locale, Params, RouteName } from '../services/routes.ts'
import type { Service } from '../services/services.ts'
import type { Requested } from './requested.ts'
import { widen } from './windows.ts'

/** What the user said on top of the job. */
export interface PlanOptions {
  /** `narrow` cuts the job's windows down to the range; `replace` puts the range in their place. */
  readonly range?: { readonly interval: Interval; readonly how: 'narrow' | 'replace' }
  /** Requests what is held already, too. */
  readonly restate?: boolean
  readonly newestFirst?: boolean
  /** Only some indicators of the job are meant: what it wants beside them is not forgotten. */
  readonly part?: boolean
}

/** A job with what the user said on top of it. */
export interface JobWithOptions {
  readonly job: Job
  readonly options: PlanOptions
}

/** What every part of the planner works with. */
export interface Planning extends JobWithOptions {
  readonly service: Service
  readonly plannerState: PlannerState
  readonly now: Instant
  /** What the run requests already. */
  readonly requested: Requested
  /** Jobs that come after this one in the same call. */
  readonly later?: readonly JobWithOptions[]
  /** Told of what is left alone for now, because the service does not know it. */
  readonly onPassedOver?: (passed: PassedOver) => void
}

/**
 * The range that an entry's window means together with what the user said: its words in the job's zone, widened to the
 * borders of the service's.
 */
export function wantedRange(
  { job, service, now, options: { range } }: Planning,
  window: Window,
  unit: Unit = 'day',
): Interval {
  const own = resolveWindow(window, job.timeZone, now)
  const meant = !range
    ? own
    : range.how === 'replace'
      ? range.interval
      : { from: Math.max(own.from, range.interval.from), to: Math.min(own.to, range.interval.to) }
  return meant.from < meant.to ? widen(service.timeZone, meant, unit) : { from: own.from, to: own.from }
}

type Extra = Partial<
  Pick<PlannedRequest, 'series' | 'geoIds' | 'window' | 'settledBefore' | 'lookbackS' | 'complete' | 'reason'>
>

/** Plans one request; what is left out is as for a listing without a range. */
export function planRequest(
  { service, now }: Pick<Planning, 'service' | 'now'>,
  where: string,
  route: RouteName,
  given: AnyParams,
  extra: Extra = {},
): PlannedRequest {
  const params: { [name: string]: AnyParams[string] } = {}
  for (const name in given) if (given[name] !== undefined) params[name] = given[name]
  return {
    where,
    route,
    params,
    request: buildRequest(service, route, params as Params<RouteName>),
    locale: (params.locale as Locale | undefined) ?? service.locales[0],
    reason: 'missing',
    series: null,
    geoIds: [ALL_GEOS],
    window: null,
    settledBefore: now,
    lookbackS: null,
    timeZone: service.timeZone,
    service,
    complete: false,
    ...extra,
  }
}
