import type { Job, Window } from '../job/job.ts'
import { resolveWindow } from '../job/moment.ts'
import type { PlannerState, SkippedItem } from '../job/plannerState.ts'
import type { Service } from '../service/services.ts'
import type { Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import type { Unit } from '../util/time/zone.ts'
import type { Requested } from './requested.ts'
import { widen } from './windows.ts'

/** Options of the user in addition to the job. */
export interface PlanOptions {
  /** `narrow` cuts the job's windows down to the range; `replace` puts the range in their place. */
  readonly range?: { readonly interval: Interval; readonly how: 'narrow' | 'replace' }
  /** Requests stored ranges again, too. */
  readonly restate?: boolean
}

/** A job with the options of the user. */
export interface JobWithOptions {
  readonly job: Job
  readonly options: PlanOptions
}

/** What every part of the planner works with. */
export interface Planning extends JobWithOptions {
  readonly service: Service
  readonly plannerState: PlannerState
  readonly now: Instant
  /** What the run has planned to request so far. */
  readonly requested: Requested
  /** Later jobs of the same command. */
  readonly later?: readonly JobWithOptions[]
  /** Called for what is not requested now because the service does not know it. */
  readonly onSkipped?: (passed: SkippedItem) => void
}

/** Whether an instant that a job names lies in the range of the user. */
export const isInRange = ({ options: { range } }: Planning, at: Instant): boolean =>
  !range || (at >= range.interval.from && at < range.interval.to)

/**
 * The range of an entry's window with the options of the user: dates are of the job's zone, the result is widened to borders of
 * the service's zone.
 */
export function wantedRange(
  { job, service, now, options: { range } }: Planning,
  window: Window,
  unit: Unit = 'day',
): Interval {
  const own = resolveWindow(window, job.timeZone, now)
  const wanted = !range
    ? own
    : range.how === 'replace'
      ? range.interval
      : { from: Math.max(own.from, range.interval.from), to: Math.min(own.to, range.interval.to) }
  return wanted.from < wanted.to ? widen(service.timeZone, wanted, unit) : { from: own.from, to: own.from }
}
