import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { Counts } from '../load/counts.ts'
import type { Reply } from '../service/request.ts'
import type { EventFields, EventRows } from '../util/eventFields.ts'
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
  entryPath,
  route,
  series,
  params,
  window,
  http,
  service,
}: PlannedRequest): Pick<EventFields, 'entry' | 'route' | 'target' | 'indicator' | 'window'> => ({
  entry: entryPath,
  route,
  target: http.target,
  indicator:
    series?.indicatorId ??
    (service.routes[route]?.shape === 'series' && typeof params.id === 'number' ? params.id : null),
  window: window && { from: formatUtc(window.from), to: formatUtc(window.to) },
})

/** The fields that describe the last response; the status is null if there was none. */
export const eventResponse = (reply: Reply): Pick<EventFields, 'attempt' | 'status' | 'ms'> => ({
  attempt: reply.attempts,
  status: reply.status || null,
  ms: Math.round(reply.ms),
})

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
