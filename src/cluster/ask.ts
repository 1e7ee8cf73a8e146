import { createHash } from 'node:crypto'
import type { Instant } from '../base/time/instant.ts'
import type { Job } from '../job/job.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { buildRequest } from '../services/request.ts'
import type { Params, RouteName } from '../services/routes.ts'
import type { Service } from '../services/service.ts'
import type { Queued } from './queue.ts'

/** A planned request on its way to whoever fetches it: all that its job and its plan know of it, but for the service, which a worker has. */
export interface Ask extends Omit<PlannedRequest, 'request' | 'service'> {
  /** The name of the job that wants it. */
  readonly job: string
  readonly pace: Job['pace']
  readonly keep: Job['keep']
  /** The profile of the service that it was planned for. */
  readonly profile: string
  /** The last answer that the plan knew of (_fetch.id): what later ones brought is not asked again. */
  readonly after: number
}

/** What makes two requests to a host the same. */
export const keyOf = ({ request }: PlannedRequest): string => createHash('sha256').update(request.target).digest('hex')

/** A planned request as it is queued: the latest window first, and what has no window before all, for others may wait for it. */
export function askOf(job: Job, planned: PlannedRequest, after: number, now: Instant): Queued<Ask> {
  const { request: _request, service, ...rest } = planned
  return {
    data: { ...rest, ...{ job: job.name, pace: job.pace, keep: job.keep, profile: service.name, after } },
    key: keyOf(planned),
    group: job.name,
    priority: Math.floor((planned.window?.to ?? now + 366 * 86_400) / 3600),
  }
}

/** The same planned request again, with the service that the worker calls. */
export function plannedOf(ask: Ask, service: Service): PlannedRequest {
  const { job: _job, pace: _pace, keep: _keep, profile: _profile, after: _after, ...rest } = ask
  const request = buildRequest(service, ask.route, ask.params as Params<RouteName>)
  return { ...rest, request, service }
}
