import { createHash } from 'node:crypto'
import { InputError } from '../base/errors.ts'
import type { Instant } from '../base/time/instant.ts'
import type { Job } from '../job/job.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { createRequested, noteAll } from '../plan/requested.ts'
import { ownParams, requestFor, sentParams } from '../services/request.ts'
import type { Service } from '../services/service.ts'
import type { Kept, Queued } from './queue.ts'

/**
 * A planned request as it is queued: with what its worker must know of the job and the plan, and without the service, which the
 * worker has. Its parameters are those that are sent, the range included.
 */
export interface QueuedRequest extends Omit<PlannedRequest, 'request' | 'service' | 'entry'> {
  /** `entry` of the planned request: queues have it by this name. */
  readonly where: string
  /** The name of the job that wants it. */
  readonly job: string
  readonly pace: Job['pace']
  readonly keep: Job['keep']
  /** The profile of the service that it was planned for. */
  readonly profile: string
  /** The last answer that the plan knew of (_fetch.id): what later ones brought is not requested again. */
  readonly after: number
}

/** The key that is equal for equal requests to a host. */
const keyOf = ({ request }: PlannedRequest): string => createHash('sha256').update(request.target).digest('hex')

/**
 * What is queued for a planned request. The latest windows come first; requests without a window come before all, because others
 * may wait for them.
 */
export function queuedOf(job: Job, planned: PlannedRequest, after: number, now: Instant): Queued<QueuedRequest> {
  const { request: _request, service, entry, ...rest } = planned
  return {
    data: {
      ...rest,
      where: entry,
      params: sentParams(planned),
      job: job.name,
      pace: job.pace,
      keep: job.keep,
      profile: service.name,
      after,
    },
    key: keyOf(planned),
    group: job.name,
    priority: Math.floor((planned.window?.to ?? now + 366 * 86_400) / 3600),
  }
}

/** A request was planned for another service than that of this process: its days, steps and parameters may mean something else. */
export class OtherServiceError extends InputError {
  constructor(planned: string, own: string) {
    super(`What is queued was planned for the service ${planned}, and this process is for ${own}.`, {
      hint: 'Start plans and workers with the same --service.',
      code: 'other-service',
    })
  }
}

/** The planned request of what was queued, with the service that the worker calls. Throws OtherServiceError where it was planned for another one. */
export function plannedOf(queued: QueuedRequest, service: Service): PlannedRequest {
  const { profile } = queued
  // Somebody may have edited it away.
  if (typeof profile === 'string' && profile !== service.name) throw new OtherServiceError(profile, service.name)
  const { job: _job, pace: _pace, keep: _keep, profile: _profile, after: _after, where, ...rest } = queued
  const call = { ...rest, entry: where, params: ownParams(queued.params, queued.window), service }
  return { ...call, request: requestFor(call) }
}

/** A queued request, and what was planned. */
export interface UnderstoodRequest extends Kept<QueuedRequest> {
  readonly planned: PlannedRequest
}

/** The planned requests of what is kept in a queue; `onUnreadable` gets what was edited by hand or is of a newer version. */
export function readQueued(
  kept: readonly Kept<QueuedRequest>[],
  service: Service,
  onUnreadable: (one: Kept<QueuedRequest>, error: Error) => void = () => undefined,
): UnderstoodRequest[] {
  return kept.flatMap((one) => {
    try {
      const planned = plannedOf(one.data, service)
      // Whatever is asked of it later must not throw.
      noteAll(createRequested(), [planned])
      return [{ ...one, planned }]
    } catch (error) {
      onUnreadable(one, error as Error)
      return []
    }
  })
}
