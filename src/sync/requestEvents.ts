import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { Counts } from '../load/counts.ts'
import type { LastResponse, Reply } from '../service/request.ts'
import type { SyncError } from '../util/errors.ts'
import { type EventFields, type EventRows, errorFields } from '../util/eventFields.ts'
import type { EmitEvent } from '../util/events.ts'
import { formatUtc } from '../util/time/instant.ts'

/** Row counters in the form of an event field. */
export const eventRows = (counts: Omit<Counts, 'requests' | 'failed' | 'bytes'>): EventRows => ({
  new: counts.rows_new,
  unchanged: counts.rows_unchanged,
  revised: counts.rows_revised,
  withdrawn: counts.rows_withdrawn,
  rejected: counts.rows_rejected,
})

/** The fields that describe a request. */
export const eventRequest = ({
  entry,
  route,
  series,
  params,
  window,
  http,
  service,
}: PlannedRequest): Pick<EventFields, 'entry' | 'route' | 'target' | 'indicator' | 'window'> => ({
  entry,
  route,
  target: http.target,
  indicator:
    series?.indicatorId ??
    (service.routes[route]?.shape === 'series' && typeof params.id === 'number' ? params.id : null),
  window: window && { from: formatUtc(window.from), to: formatUtc(window.to) },
})

/** The fields that describe the last response; the status is null if there was none. */
const eventResponse = (last: LastResponse): Pick<EventFields, 'attempt' | 'status' | 'ms'> => ({
  attempt: last.attempts,
  status: last.status || null,
  ms: Math.round(last.ms),
})

/** Emits that an attempt failed and will be repeated. */
export const emitRetried = (
  emit: EmitEvent,
  planned: PlannedRequest,
  error: SyncError,
  status: number | null,
  attempt: number,
): void =>
  emit('request.retried', { ...eventRequest(planned), attempt, status, code: error.code, reason: error.message })

/** Emits that a reply is stored; `loaded`: whether its rows are, too. */
export const emitDone = (
  emit: EmitEvent,
  planned: PlannedRequest,
  reply: Reply,
  counts: Counts,
  loaded: boolean,
): void => {
  const { bytes } = reply
  emit('request.done', { ...eventRequest(planned), ...eventResponse(reply), bytes, rows: eventRows(counts), loaded })
}

/** Emits that a window is too large; `parts`: the number of smaller windows that replace it. */
export const emitSplit = (
  emit: EmitEvent,
  planned: PlannedRequest,
  { code, message: reason }: SyncError,
  last: LastResponse,
  parts: number,
): void => emit('request.split', { ...eventRequest(planned), ...eventResponse(last), parts, code, reason })

/** Emits that a request failed for good. */
export const emitFailed = (
  emit: EmitEvent,
  planned: PlannedRequest,
  error: SyncError,
  last: LastResponse,
  counts: Counts,
): void => {
  const rows = eventRows(counts)
  emit('request.failed', { ...eventRequest(planned), ...eventResponse(last), rows, ...errorFields(error) })
}
