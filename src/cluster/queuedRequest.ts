import { createHash } from 'node:crypto'
import type { Job } from '../job/job.ts'
import { hasBudget } from '../job/pace.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { paramsWithoutWindow, requestFor, sentParams } from '../service/request.ts'
import type { Service } from '../service/service.ts'
import { InputError } from '../util/errors.ts'
import type { Instant } from '../util/time/instant.ts'

/** A planned request in the queue, with the settings of its job. `params` are those that are sent, including the range. */
export interface QueuedRequest extends Omit<PlannedRequest, 'http' | 'service'> {
  /** The name of the job. */
  readonly job: string
  /** `_run.id`. */
  readonly run: number
  readonly pace: Job['pace']
  readonly keep: Job['keep']
  /** The name of the service for which it was planned. */
  readonly profile: string
}

/** A job for the queue. */
export interface NewJob {
  readonly data: QueuedRequest
  /** Unique among queued and active jobs. */
  readonly key: string
  /** The highest priority is executed first. */
  readonly priority: number
}

/** Seconds after now that are later than every window. */
const BEYOND_WINDOWS_S = 366 * 86_400

/**
 * Creates the job of a planned request. If a budget may end the run, requests keep the order of the plan, in which everything has its
 * turn; `position` counts them. Otherwise the latest windows come first. Requests without a window precede them, because others may
 * wait for them.
 */
export function toQueuedRequest(
  job: Job,
  run: number,
  planned: PlannedRequest,
  { now, position }: { readonly now: Instant; readonly position: number },
): NewJob {
  const { http, service, ...rest } = planned
  const { name, pace, keep } = job
  return {
    data: { ...rest, params: sentParams(planned), job: name, run, pace, keep, profile: service.name },
    key: createHash('sha256').update(http.target).digest('hex'),
    priority: hasBudget(pace) ? -position : Math.floor((planned.window?.to ?? now + BEYOND_WINDOWS_S) / 3600),
  }
}

/** A request was planned for another service, so its days, steps and parameters may have other meanings. */
export class OtherServiceError extends InputError {
  constructor(planned: string, configured: string) {
    super(`The queue has requests for service ${planned}, but this worker uses service ${configured}.`, {
      hint: 'Start `sync --distributed` and workers with the same --service.',
      code: 'other-service',
    })
  }
}

/** Restores the planned request of a job. Throws OtherServiceError if it was planned for another service. */
export function toPlannedRequest(queued: QueuedRequest, service: Service): PlannedRequest {
  const { job: _job, run: _run, pace: _pace, keep: _keep, profile, ...rest } = queued
  // The queue may have been edited.
  if (typeof profile === 'string' && profile !== service.name) throw new OtherServiceError(profile, service.name)
  const call = { ...rest, params: paramsWithoutWindow(queued.params, queued.window), service }
  return { ...call, http: requestFor(call) }
}
