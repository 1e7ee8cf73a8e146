import type { SyncError } from './base/errors.ts'
import type { EventFields, EventRows } from './base/eventFields.ts'
import type { EmitEvent } from './base/events.ts'
import { formatUtc } from './base/time/instant.ts'
import type { Fetcher } from './fetch/fetch.ts'
import type { CheckLease } from './fetch/turns.ts'
import type { PlannedRequest } from './job/plannedRequest.ts'
import { addCounts, type Counts, NO_COUNTS } from './load/counts.ts'
import type { Sizes } from './load/learnedSizes.ts'
import type { Loading } from './load/load.ts'
import type { Resolution } from './plan/resolution.ts'
import type { LastAnswer, Reply } from './services/reply.ts'

/** What happens to parts of a reply that cannot be understood: they are quarantined, or the run ends. */
export interface RejectPolicy {
  /** `fail`: a reply with a reject is kept but not loaded, and the run ends. */
  readonly onReject: 'quarantine' | 'fail'
  /** The run ends when more rejects than this have been quarantined. */
  readonly maxRejects: number
}

/** What ingesting a planned request works with. */
export interface IngestContext {
  readonly fetcher: Fetcher
  readonly loading: Loading
  readonly sizes: Sizes
  readonly onReject: RejectPolicy['onReject']
  /** Single days that were requested to learn whether a resolution number is that of the series itself. */
  readonly samples: Map<string, Promise<unknown>>
  /** Emits an event. */
  readonly emit: EmitEvent
  /** Called before every sending, where others may request the same. */
  readonly checkLease?: CheckLease | undefined
}

/** The result of ingesting a planned request. */
export interface IngestResult {
  readonly counts: Counts
  readonly error: SyncError | null
  /** The resolution of its first and of its last values; null where no values were loaded. */
  readonly first: Resolution | null
  readonly last: Resolution | null
}

export const NOTHING_INGESTED: IngestResult = { counts: NO_COUNTS, error: null, first: null, last: null }

/** Two results as one: the first error, the first resolution of the first and the last of the second. */
export const mergeResults = (a: IngestResult, b: IngestResult): IngestResult => ({
  counts: addCounts(a.counts, b.counts),
  error: a.error ?? b.error,
  first: a.first,
  last: b.last,
})

/** Row counters as the field of an event. */
export const eventRows = (counts: Omit<Counts, 'requests' | 'failed' | 'bytes'>): EventRows => ({
  new: counts.rows_new,
  unchanged: counts.rows_unchanged,
  revised: counts.rows_revised,
  withdrawn: counts.rows_withdrawn,
  rejected: counts.rows_rejected,
})

/** The fields of an event that describe a request. */
export const eventRequest = ({
  entry,
  route,
  series,
  params,
  window,
  request,
  service,
}: PlannedRequest): Pick<EventFields, 'where' | 'route' | 'target' | 'indicator' | 'window'> => ({
  where: entry,
  route,
  target: request.target,
  indicator:
    series?.indicatorId ??
    (service.routes[route]?.shape === 'series' && typeof params.id === 'number' ? params.id : null),
  window: window && { from: formatUtc(window.from), to: formatUtc(window.to) },
})

/** The fields of an event that describe an answer; the status is null where none came. */
export const eventAnswer = (last: LastAnswer): Pick<EventFields, 'attempt' | 'status' | 'ms'> => ({
  attempt: last.attempts,
  status: last.status || null,
  ms: Math.round(last.ms),
})

/** Emits that a reply is in the database, and whether its rows were loaded. */
export const emitDone = (
  { emit }: IngestContext,
  planned: PlannedRequest,
  reply: Reply,
  counts: Counts,
  loaded: boolean,
): void =>
  emit('request.done', {
    ...eventRequest(planned),
    ...eventAnswer(reply),
    bytes: reply.bytes,
    rows: eventRows(counts),
    loaded,
  })
