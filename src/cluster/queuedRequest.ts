import { createHash } from 'node:crypto'
import type { Job } from '../job/job.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { ownParams, requestFor, sentParams } from '../service/request.ts'
import type { Service } from '../service/service.ts'
import { InputError } from '../util/errors.ts'
import type { Instant } from '../util/time/instant.ts'

/**
 * A planned request as it is queued: with what its worker must know of the job and the run, and without the service, which the
 * worker has. Its parameters are those that are sent, the range included.
 */
export interface QueuedRequest extends Omit<PlannedRequest, 'request' | 'service'> {
  /** The name of the job. */
  readonly job: string
  /** The run (_run.id) that it belongs to. */
  readonly run: number
  readonly pace: Job['pace']
  readonly keep: Job['keep']
  /** The profile of the service that it was planned for. */
  readonly profile: string
}

/** A request for the queue. */
export interface NewJob {
  readonly data: QueuedRequest
  /** Unique among all that are queued or being executed. */
  readonly key: string
  /** The highest goes first. */
  readonly priority: number
}

/** Seconds ahead of now that come before every window. */
const FIRST = 366 * 86_400

/**
 * Describes a planned request for the queue. The latest windows come first; requests without a window come before all, because
 * others may wait for them.
 */
export function toQueuedRequest(job: Job, run: number, planned: PlannedRequest, now: Instant): NewJob {
  const { request, service, ...rest } = planned
  const { name, pace, keep } = job
  return {
    data: { ...rest, params: sentParams(planned), job: name, run, pace, keep, profile: service.name },
    key: createHash('sha256').update(request.target).digest('hex'),
    priority: Math.floor((planned.window?.to ?? now + FIRST) / 3600),
  }
}

/** A request was planned for another service than that of this process: its days, steps and parameters may mean something else. */
export class OtherServiceError extends InputError {
  constructor(planned: string, own: string) {
    super(`The queue has requests for service ${planned}, but this worker uses service ${own}.`, {
      hint: 'Start `sync --distributed` and workers with the same --service.',
      code: 'other-service',
    })
  }
}

/** The planned request of what was queued. Throws OtherServiceError if it was planned for another service. */
export function toPlannedRequest(queued: QueuedRequest, service: Service): PlannedRequest {
  const { job: _job, run: _run, pace: _pace, keep: _keep, profile, ...rest } = queued
  // Somebody may have edited it away.
  if (typeof profile === 'string' && profile !== service.name) throw new OtherServiceError(profile, service.name)
  const call = { ...rest, params: ownParams(queued.params, queued.window), service }
  return { ...call, request: requestFor(call) }
}
