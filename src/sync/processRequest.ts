import { findSeries } from '../db/queries/seriesLookup.ts'
import type { Rows } from '../db/tables/rows.ts'
import { type Client, type FailedFetch, isTooLarge } from '../fetch/client.ts'
import { identityRow, type PlannedRequest, seriesKey } from '../job/plannedRequest.ts'
import type { Sizes } from '../load/learnedSizes.ts'
import { type Loading, load, type ParsedReply, recordAbandoned, recordCoarse, recordFailure } from '../load/load.ts'
import { undismissed } from '../load/quarantine/dismissed.ts'
import { absentPiece, halveWindow, splitWindow, withWindow } from '../plan/windows.ts'
import type { LastResponse, Reply } from '../service/request.ts'
import { release } from '../util/bytes.ts'
import { KeyError, SchemaError, type SyncError, UnavailableError } from '../util/errors.ts'
import type { EmitEvent } from '../util/events.ts'
import type { Interval } from '../util/time/interval.ts'
import type { OnReject } from './context.ts'
import { readAbsences, readDayIds, readNeighbours } from './neighbours.ts'
import { readReply } from './readReply.ts'
import { emitDivided, emitDone, emitFailed, emitRetried } from './requestEvents.ts'
import { findSplit, hasSumId, needsDayIds } from './resolution.ts'

/** An open run: the database, the client, and what the run has learned. */
export interface RequestContext extends Loading {
  readonly client: Client
  readonly emit: EmitEvent
  readonly signal: AbortSignal
  /** The maximum number of concurrent requests. */
  readonly concurrency: number
  readonly onReject: OnReject
  /** The largest window that the service accepts for each series. */
  readonly sizes: Sizes
  /** Series and resolution ids for which a day was requested to learn what the id means. */
  readonly probed: Set<string>
}

/** The outcome of a request. The requests of a `split` replace it: they go to the head of the queue, in order. */
export type Outcome =
  | { readonly kind: 'loaded'; readonly request: PlannedRequest }
  /** A later run requests it, or there is nothing to request. */
  | { readonly kind: 'postponed'; readonly request: PlannedRequest }
  | { readonly kind: 'failed'; readonly request: PlannedRequest; readonly error: SyncError }
  | { readonly kind: 'split'; readonly request: PlannedRequest; readonly into: readonly PlannedRequest[] }

/**
 * Fetches and transforms one request, and loads its reply in one transaction. Splits its window if that is too large, or if the values
 * may be sums over several resolutions. Throws errors that end the run.
 */
export async function processRequest(context: RequestContext, planned: PlannedRequest): Promise<Outcome> {
  const { client, emit, sizes, keep } = context
  const size = await sizes.get(planned)
  const pieces = splitWindow(planned, size)
  if (pieces.length > 1 && planned.reason !== 'absent') return split(planned, pieces)
  const request = pieces.length > 1 ? await firstAbsentPiece(context, planned, size) : planned
  if (!request) return { kind: 'postponed', request: planned }
  const halves = halveWindow(request)
  const reply = await client.get(request.request, {
    // Smaller windows replace one that is too large.
    mayRetry: ({ error }) => halves.length < 2 || !isTooLarge(error),
    onRetry: ({ error, response }, attempt) => emitRetried(emit, request, error, response?.status ?? null, attempt),
  })
  if ('error' in reply) {
    if (reply.endsRun) return recordAndThrow(context, request, reply)
    return failOrHalve(context, request, halves, reply.error, reply.last)
  }
  try {
    const parsed = await readReply(reply.body, request, keep !== 'none').catch(schemaErrorAsValue)
    if (parsed instanceof SchemaError) return await failOrHalve(context, request, halves, parsed, reply)
    const refusal = await findRefusal(context, request, parsed.rows)
    if (refusal) return await fail(context, request, refusal, reply, parsed.rows)
    return await loadOrSplit(context, request, reply, parsed)
  } finally {
    release(reply.body)
  }
}

const split = (request: PlannedRequest, windows: readonly Interval[]): Outcome => ({
  kind: 'split',
  request,
  into: windows.map((window) => withWindow(request, window)),
})

/** Loads a reply. If its values may be sums over several resolutions, records it and splits the request instead. */
async function loadOrSplit(
  context: RequestContext,
  request: PlannedRequest,
  reply: Reply,
  parsed: ParsedReply,
): Promise<Outcome> {
  const { store, emit, sizes, probed } = context
  const { rows } = parsed
  const around = await readNeighbours(store, request)
  const dayIds = needsDayIds(request, rows) ? await readDayIds(store, request) : []
  const probe = request.series && `${seriesKey(request.series)} ${rows.resolutionId}`
  const smaller = findSplit(request, rows, { around, dayIds, isProbed: probe === null || probed.has(probe) })
  if (smaller) {
    const counts = await recordCoarse(context, request, reply, parsed)
    emitDone(emit, request, reply, counts, false)
    if (smaller.isByDay) await sizes.learnDay(request)
    // A run requests each absence at most once: a later run requests the parts.
    if (request.reason === 'absent') return { kind: 'postponed', request }
    if (smaller.isProbe) probed.add(probe!)
    return split(request, smaller.into)
  }
  // Saves memory while this reply waits for the transactions of earlier ones.
  if (parsed.stored) release(reply.body)
  const counts = await load(context, request, reply, parsed)
  emitDone(emit, request, reply, counts, true)
  if (!hasSumId(request, rows)) await sizes.grow(request)
  return { kind: 'loaded', request }
}

/** Replaces a request whose window is too large with its halves. Records any other request as failed. */
async function failOrHalve(
  context: RequestContext,
  request: PlannedRequest,
  halves: readonly Interval[],
  error: SyncError,
  last: LastResponse,
): Promise<Outcome> {
  if (!isTooLarge(error) || halves.length < 2) return fail(context, request, error, last)
  await recordAbandoned(context, request, 'too-large', error, last)
  await context.sizes.shrink(request)
  // A run requests each absence at most once: a later run requests the halves.
  const isPostponed = request.reason === 'absent'
  emitDivided(context.emit, request, error, last, isPostponed ? 0 : halves.length)
  return isPostponed ? { kind: 'postponed', request } : split(request, halves)
}

/** Records a request as failed, with its last response and the rejected rows. */
async function fail(
  context: RequestContext,
  request: PlannedRequest,
  error: SyncError,
  last: LastResponse,
  rejected?: Pick<Rows, 'rejects' | 'rejected'>,
): Promise<Outcome> {
  const counts = await recordFailure(context, request, error, last, rejected)
  emitFailed(context.emit, request, error, last, counts)
  return { kind: 'failed', request, error }
}

/** Records a request that was in progress when the run ended, and throws the error that ends the run. */
async function recordAndThrow(
  context: RequestContext,
  request: PlannedRequest,
  { error, last }: FailedFetch,
): Promise<never> {
  if (last.attempts > 0) {
    const failure = error instanceof UnavailableError ? error.cause : error instanceof KeyError ? error : null
    const recorded = failure
      ? fail(context, request, failure, last)
      : recordAbandoned(context, request, 'stopped', error, last)
    // If this fails too, the first error is the one to report.
    await recorded.catch(() => undefined)
  }
  throw error
}

/** The first invalid row that was not dismissed, if such a row ends the run; otherwise null. */
async function findRefusal(
  { store: { kysely }, onReject }: RequestContext,
  request: PlannedRequest,
  rows: Rows,
): Promise<SchemaError | null> {
  if (onReject !== 'fail') return null
  const seriesId = (request.series && (await findSeries(kysely, identityRow(request.series)))?.id) ?? null
  const { rejects } = await undismissed(kysely, { seriesId, target: request.request.target }, rows)
  const [reject] = rejects
  return reject ? new SchemaError(reject.reason, { path: reject.path }) : null
}

/** The first piece of a request for absent values; null if none is absent any more. A later run requests the other pieces. */
async function firstAbsentPiece(
  { store }: RequestContext,
  request: PlannedRequest,
  size: number | undefined,
): Promise<PlannedRequest | null> {
  const piece = absentPiece(request, size, await readAbsences(store, request))
  return piece && withWindow(request, piece)
}

/** Turns the error of an unreadable body, which a parser throws, into a value. */
function schemaErrorAsValue(error: unknown): SchemaError {
  if (error instanceof SchemaError) return error
  throw error
}
