import { ALL_GEOS } from '../db/tables/codes.ts'
import type { Job, UserRange, Window } from '../job/job.ts'
import { resolveWindow } from '../job/moment.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { requestFor } from '../service/request.ts'
import type { AnyParams, Locale } from '../service/routes.ts'
import type { Service } from '../service/service.ts'
import type { Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import type { Unit } from '../util/time/zone.ts'
import type { Duties } from './duties.ts'
import type { PlannerState, SkippedItem } from './plannerState.ts'
import type { RequestRegister } from './requestRegister.ts'
import { widen } from './windows.ts'

/** Options of the user in addition to the job. */
export interface UserOptions {
  /** Default: the windows of the job. */
  readonly range?: UserRange
  /** Whether stored ranges are requested again. */
  readonly restate?: boolean
}

/** The input of the planner. */
export interface PlanContext {
  readonly job: Job
  /** The stored job. Without one, the job has no history. */
  readonly jobId?: number | null
  readonly options: UserOptions
  readonly service: Service
  readonly plannerState: PlannerState
  readonly now: Instant
  /** What the job requires by its stored duties. Default: only what its windows select now. */
  readonly duties?: Duties
  /** The requests that the run has planned so far. */
  readonly requested: RequestRegister
  /** Called for an item that is not requested now because the service does not know it. */
  readonly onSkipped?: (item: SkippedItem) => void
}

/** Whether an instant that a job names lies in the range of the user. */
export const isInRange = ({ options: { range } }: PlanContext, at: Instant): boolean =>
  !range || (at >= range.interval.from && at < range.interval.to)

/** A window after the range of the user was applied; empty or reversed if they share no instant. */
const applyRange = (resolved: Interval, { how, interval }: UserRange): Interval =>
  how === 'replace'
    ? interval
    : { from: Math.max(resolved.from, interval.from), to: Math.min(resolved.to, interval.to) }

/**
 * The range that the window of an entry and the user select. Its dates are of the job's zone, its borders of the service's zone.
 * `earliest`: the earliest start that the window ever had.
 */
export function findSelectedRange(
  { job, service, now, options: { range } }: Pick<PlanContext, 'job' | 'service' | 'now' | 'options'>,
  window: Window,
  unit: Unit = 'day',
  earliest?: Instant,
): Interval {
  const resolved = resolveWindow(window, job.timeZone, now, earliest)
  const selected = range ? applyRange(resolved, range) : resolved
  return selected.from < selected.to
    ? widen(service.timeZone, selected, unit)
    : { from: resolved.from, to: resolved.from }
}

/** Plans one request. The defaults are those of a listing without a range. */
export function planRequest(
  { service, now }: Pick<PlanContext, 'service' | 'now'>,
  entryPath: string,
  route: string,
  allParams: AnyParams,
  {
    window = null,
    ...extra
  }: Partial<
    Pick<
      PlannedRequest,
      'series' | 'geoIds' | 'window' | 'settledBefore' | 'lookbackS' | 'isUnfiltered' | 'reason' | 'periods'
    >
  > = {},
): PlannedRequest {
  const params: { [name: string]: AnyParams[string] } = {}
  for (const name in allParams) if (allParams[name] !== undefined) params[name] = allParams[name]
  return {
    entryPath,
    route,
    params,
    window,
    http: requestFor({ service, route, params, window }),
    locale: (params.locale as Locale | undefined) ?? service.locales[0],
    reason: 'missing',
    series: null,
    geoIds: [ALL_GEOS],
    settledBefore: now,
    lookbackS: null,
    timeZone: service.timeZone,
    service,
    isUnfiltered: false,
    ...extra,
  }
}
