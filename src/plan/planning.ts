import { buildRequest } from '../api/request.ts'
import type { AnyParams, Locale, Params, RouteName } from '../api/routes.ts'
import type { Service } from '../api/services.ts'
import type { Instant } from '../base/instant.ts'
import type { Interval } from '../base/interval.ts'
import type { Unit } from '../base/zone.ts'
import { ALL_GEOS, type Ask } from '../job/ask.ts'
import type { Job, Window } from '../job/job.ts'
import type { Memory } from '../job/memory.ts'
import { resolveWindow } from '../job/moment.ts'
import { widen } from './windows.ts'

/** What the user said on top of the job. */
export interface PlanOptions {
  /** `narrow` cuts the job's windows down to the range; `replace` puts the range in their place. */
  readonly range?: { readonly interval: Interval; readonly how: 'narrow' | 'replace' }
  /** Asks what is held already, too. */
  readonly restate?: boolean
  readonly newestFirst?: boolean
}

/** What every part of the planner works with. */
export interface Planning {
  readonly job: Job
  readonly service: Service
  readonly memory: Memory
  readonly now: Instant
  readonly options: PlanOptions
}

/** The range that an entry's window means together with what the user said, widened to local borders. */
export function wantedRange({ job, now, options: { range } }: Planning, window: Window, unit: Unit = 'day'): Interval {
  const own = resolveWindow(window, job.timeZone, now)
  const meant = !range
    ? own
    : range.how === 'replace'
      ? range.interval
      : { from: Math.max(own.from, range.interval.from), to: Math.min(own.to, range.interval.to) }
  return meant.from < meant.to ? widen(job.timeZone, meant, unit) : { from: own.from, to: own.from }
}

type Extra = Partial<Pick<Ask, 'series' | 'geoIds' | 'window' | 'settledBefore' | 'complete' | 'reason'>>

/** Makes an ask with its request; what is not said is what a listing without a range has. */
export function ask(
  { service, job, now }: Planning,
  where: string,
  route: RouteName,
  given: AnyParams,
  extra: Extra = {},
): Ask {
  const params = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return {
    where,
    route,
    params,
    request: buildRequest(service, route, params as Params<RouteName>),
    locale: (params.locale as Locale | undefined) ?? 'es',
    reason: 'missing',
    series: null,
    geoIds: [ALL_GEOS],
    window: null,
    settledBefore: now,
    timeZone: job.timeZone,
    complete: false,
    ...extra,
  }
}
