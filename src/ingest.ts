import { release } from './base/bytes/bytes.ts'
import { KeyError, SchemaError, type SyncError } from './base/errors.ts'
import { errorFields } from './base/eventFields.ts'
import type { Interval } from './base/time/interval.ts'
import { findSeries } from './db/queries/seriesIdentity.ts'
import type { OnRetry } from './fetch/client.ts'
import { isTooLarge } from './fetch/fetch.ts'
import {
  emitDone,
  eventAnswer,
  eventRequest,
  eventRows,
  type IngestContext,
  type IngestResult,
  mergeResults,
  NOTHING_INGESTED,
} from './ingestContext.ts'
import { identityRow, type PlannedRequest } from './job/plannedRequest.ts'
import { addCounts } from './load/counts.ts'
import { load, loadFailure, loadUnanswered, type ParsedReply } from './load/load.ts'
import { undismissed } from './load/quarantine/dismissed.ts'
import { type DoubtfulReply, ingestHalves, ingestUnsure, keepInDoubt } from './mixedResolutions.ts'
import { absentPiece, halfOf, piecesOf } from './plan/pieces.ts'
import { classifyValues, isUnknown, resolutionOf, withWindow } from './plan/resolution.ts'
import { readReply } from './readReply.ts'
import type { LastAnswer, Reply } from './services/reply.ts'
import { absencesOf, dayIdsOf, neighboursOf } from './state/neighbours.ts'
import type { Rows } from './tables/rows.ts'

/** Fetches, transforms and loads one planned request; a window that is too large for the service is requested in smaller ones. Throws what ends the run. */
export async function ingest(ingestContext: IngestContext, planned: PlannedRequest): Promise<IngestResult> {
  const { fetcher, loading, sizes, emit, checkLease } = ingestContext
  const size = await sizes.get(planned)
  const pieces = piecesOf(planned, size)
  if (pieces.length > 1)
    return planned.reason === 'absent'
      ? ingestAbsentPiece(ingestContext, planned, size)
      : ingestPieces(ingestContext, planned, pieces)
  const halves = piecesOf(planned, halfOf(planned))
  const onRetry: OnRetry = ({ error, answer }, attempt) =>
    emit('request.retried', {
      ...eventRequest(planned),
      attempt,
      status: answer?.status ?? null,
      code: error.code,
      reason: error.message,
    })
  const onCut = (error: SyncError, sent: LastAnswer): Promise<void> => recordCut(ingestContext, planned, error, sent)
  const unusable = (error: SyncError, last: LastAnswer): Promise<IngestResult> =>
    isTooLarge(error) && halves.length > 1
      ? divide(ingestContext, planned, halves, error, last)
      : recordFailure(ingestContext, planned, error, last)
  const reply = await fetcher.fetch(planned.request, halves.length > 1, onRetry, onCut, checkLease)
  if ('error' in reply) return unusable(reply.error, reply.last)
  try {
    const parsed = await readReply(reply.body, planned, loading.keep !== 'none').catch(asUnreadable)
    if (parsed instanceof SchemaError) return await unusable(parsed, reply)
    const refusal = await refusalOf(ingestContext, planned, parsed.rows)
    if (refusal) return await recordFailure(ingestContext, planned, refusal, reply, parsed.rows)
    return await ingestReply(ingestContext, planned, reply, parsed)
  } finally {
    release(reply.body)
  }
}

/** Records a request as failed, with its last answer and what was rejected in it. */
async function recordFailure(
  { loading, emit }: IngestContext,
  planned: PlannedRequest,
  error: SyncError,
  last: LastAnswer,
  rejected?: Pick<Rows, 'rejects' | 'rejected'>,
): Promise<IngestResult> {
  const counts = await loadFailure(loading, planned, error, last, rejected)
  const rows = eventRows(counts)
  emit('request.failed', { ...eventRequest(planned), ...eventAnswer(last), rows, ...errorFields(error) })
  return { ...NOTHING_INGESTED, counts, error }
}

/** Records a request that was under way when the run ended. */
async function recordCut(
  ingestContext: IngestContext,
  planned: PlannedRequest,
  error: SyncError,
  sent: LastAnswer,
): Promise<void> {
  const recorded =
    error instanceof KeyError
      ? recordFailure(ingestContext, planned, error, sent)
      : loadUnanswered(ingestContext.loading, planned, 'stopped', error, sent)
  // The error that ends the run is to be reported, not that its record could not be written.
  await recorded.catch(() => undefined)
}

/**
 * Records that a request is too large for the service, and ingests its halves in its place. Absent values are left for a later run,
 * because the share of calls for them counts one call a request.
 */
async function divide(
  ingestContext: IngestContext,
  planned: PlannedRequest,
  halves: readonly Interval[],
  error: SyncError,
  last: LastAnswer,
): Promise<IngestResult> {
  const { loading, sizes, emit } = ingestContext
  const counts = await loadUnanswered(loading, planned, 'too-large', error, last)
  await sizes.shrink(planned)
  const { code, message: reason } = error
  const pieces = planned.reason === 'absent' ? 0 : halves.length
  emit('request.divided', { ...eventRequest(planned), ...eventAnswer(last), pieces, code, reason })
  if (pieces === 0) return { ...NOTHING_INGESTED, counts }
  const all = await ingestPieces(ingestContext, planned, halves)
  return { ...all, counts: addCounts(counts, all.counts) }
}

/** Where a reject ends the run, the first of these rows' rejects that was not dismissed; otherwise null. */
async function refusalOf(
  { loading, onReject }: IngestContext,
  planned: PlannedRequest,
  rows: Rows,
): Promise<SchemaError | null> {
  if (onReject !== 'fail') return null
  const { kysely } = loading.store
  const seriesId = (planned.series && (await findSeries(kysely, identityRow(planned.series)))?.id) ?? null
  const open = await undismissed(kysely, { seriesId, target: planned.request.target }, rows)
  const [reject] = open.rejects
  return reject ? new SchemaError(reject.reason, { path: reject.path }) : null
}

/**
 * Loads a reply, unless its values may be sums over several resolutions: then smaller windows are requested first. A request for
 * absent values is one call, so a later run requests the smaller windows, as suspect.
 */
async function ingestReply(
  ingestContext: IngestContext,
  planned: PlannedRequest,
  reply: Reply,
  parsed: ParsedReply,
): Promise<IngestResult> {
  const { store } = ingestContext.loading
  const doubtful: DoubtfulReply = {
    planned,
    reply,
    parsed,
    accept: () => acceptReply(ingestContext, planned, reply, parsed),
  }
  const around = await neighboursOf(store, planned)
  const dayIds = isUnknown(planned, parsed.rows) ? await dayIdsOf(store, planned) : []
  const values = classifyValues(planned, parsed.rows, around, dayIds)
  if (values !== 'native' && planned.reason === 'absent') return keepInDoubt(ingestContext, doubtful, [])
  switch (values) {
    case 'native':
      return doubtful.accept()
    case 'unsure':
      return ingestUnsure(ingestContext, doubtful, ingest)
    case 'sums':
      return ingestHalves(ingestContext, doubtful, ingest)
  }
}

/** Loads a reply as it came. */
async function acceptReply(
  ingestContext: IngestContext,
  planned: PlannedRequest,
  reply: Reply,
  parsed: ParsedReply,
): Promise<IngestResult> {
  const { loading, sizes } = ingestContext
  // While this answer waits for those before it, only the compressed body need be in memory.
  if (parsed.stored) release(reply.body)
  const counts = await load(loading, planned, reply, parsed)
  emitDone(ingestContext, planned, reply, counts, true)
  await sizes.grow(planned, reply.ms)
  const resolution = parsed.rows.observations?.at.length ? resolutionOf(parsed.rows) : null
  return { counts, error: null, first: resolution, last: resolution }
}

/** Parsers throw out of the depth of a body; from here on, that it cannot be read is a result. */
function asUnreadable(error: unknown): SchemaError {
  if (error instanceof SchemaError) return error
  throw error
}

/** Ingests the pieces of a planned request one after the other. */
async function ingestPieces(
  ingestContext: IngestContext,
  planned: PlannedRequest,
  pieces: readonly Interval[],
): Promise<IngestResult> {
  let all: IngestResult | null = null
  for (const piece of pieces) {
    const result = await ingest(ingestContext, withWindow(planned, piece))
    all = all ? mergeResults(all, result) : result
  }
  return all ?? NOTHING_INGESTED
}

/** Ingests the first piece of a request for absent values. The other pieces stay due. */
async function ingestAbsentPiece(
  ingestContext: IngestContext,
  planned: PlannedRequest,
  size: number | undefined,
): Promise<IngestResult> {
  const piece = absentPiece(planned, size, await absencesOf(ingestContext.loading.store, planned))
  return piece ? ingest(ingestContext, withWindow(planned, piece)) : NOTHING_INGESTED
}
