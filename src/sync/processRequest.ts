import { findSeries } from '../db/queries/seriesLookup.ts'
import type { Rows } from '../db/tables/rows.ts'
import { type Client, type FailedFetch, isTooLarge } from '../fetch/client.ts'
import { type PlannedRequest, seriesKey, toIdentityRow } from '../job/plannedRequest.ts'
import { load, type ParsedReply, recordAbandoned, recordCoarse, recordFailure } from '../load/load.ts'
import { findSplit, hasSumId, needsDayIds } from '../load/nativeValues.ts'
import { readAbsences, readDayIds, readNeighbours } from '../load/neighbours.ts'
import { withoutDismissed } from '../load/quarantine/dismissed.ts'
import type { Run } from '../load/run.ts'
import { findAbsentPart, halveWindow, splitWindow, withWindow } from '../plan/windows.ts'
import type { Reply } from '../service/request.ts'
import { release } from '../util/bytes.ts'
import { KeyError, SchemaError, type SyncError, UnavailableError } from '../util/errors.ts'
import { errorFields } from '../util/eventFields.ts'
import type { Interval } from '../util/time/interval.ts'
import { readReply } from './readReply.ts'
import { emitDone, eventRequest, eventResponse, eventRows } from './requestEvents.ts'

/** The outcome of a request. The parts of a `split` replace it; see `processNext`. */
export type RequestOutcome =
  | { readonly kind: 'loaded'; readonly planned: PlannedRequest }
  /** A later run requests it, or there is nothing to request. */
  | { readonly kind: 'postponed'; readonly planned: PlannedRequest }
  | { readonly kind: 'failed'; readonly planned: PlannedRequest; readonly error: SyncError }
  | { readonly kind: 'split'; readonly planned: PlannedRequest; readonly parts: readonly PlannedRequest[] }
  | {
      readonly kind: 'stopped'
      readonly planned: PlannedRequest
      /** The error that ends the run. */
      readonly error: SyncError
      /** The failure with which the request was recorded; null if a later run requests it. */
      readonly failure: SyncError | null
    }

/**
 * Processes the first of some pending requests, and removes it. Puts its parts in its place if it was split, so that they are next, in
 * order. A request that ends the run stays, so that it can be processed again.
 */
export async function processNext(run: Run, client: Client, pending: PlannedRequest[]): Promise<RequestOutcome> {
  const outcome = await processRequest(run, client, pending[0]!)
  if (outcome.kind !== 'stopped') pending.splice(0, 1, ...(outcome.kind === 'split' ? outcome.parts : []))
  return outcome
}

/**
 * Fetches and transforms one request, and loads its reply in one transaction. Splits its window if that is too large, or if the values
 * may be sums over several resolutions. Throws only errors of the database and of the program.
 */
async function processRequest(run: Run, client: Client, planned: PlannedRequest): Promise<RequestOutcome> {
  const size = await run.sizes.get(planned)
  const windows = splitWindow(planned, size)
  if (windows.length < 2) return fetchAndLoad(run, client, planned)
  if (planned.reason !== 'absent') return splitOrPostpone(planned, windows)
  const part = findAbsentPart(planned, size, await readAbsences(run.store, planned))
  // A later run requests the other parts, if any period is still absent.
  return part ? fetchAndLoad(run, client, withWindow(planned, part)) : { kind: 'postponed', planned }
}

/** Processes a request whose window is not larger than the service accepts, as far as that is known. */
async function fetchAndLoad(run: Run, client: Client, planned: PlannedRequest): Promise<RequestOutcome> {
  const halves = halveWindow(planned)
  const reply = await client.get(planned.http, {
    // A window that is too large is split instead.
    mayRetry: ({ error }) => halves.length < 2 || !isTooLarge(error),
    onRetry({ error: { code, message: reason }, response }, attempt) {
      run.emit('request.retried', { ...eventRequest(planned), attempt, status: response?.status ?? null, code, reason })
    },
  })
  if ('error' in reply) {
    if (reply.endsRun) return recordLast(run, planned, reply)
    return failOrHalve(run, planned, halves, reply.error, reply.last)
  }
  try {
    const parsed = await readReply(reply, planned, run.keep !== 'none').catch(catchSchemaError)
    if (parsed instanceof SchemaError) return await failOrHalve(run, planned, halves, parsed, reply)
    const refusal = await findRefusal(run, planned, parsed.rows)
    if (refusal) return await fail(run, planned, refusal, reply, parsed.rows)
    return await loadOrSplit(run, planned, parsed)
  } finally {
    release(reply.body)
  }
}

/** Replaces a request with its parts. A run sends each repeat at most once, so a later run requests the parts of one. */
const splitOrPostpone = (planned: PlannedRequest, windows: readonly Interval[]): RequestOutcome =>
  planned.reason === 'absent'
    ? { kind: 'postponed', planned }
    : { kind: 'split', planned, parts: windows.map((window) => withWindow(planned, window)) }

/** Loads a reply. If its values may be sums over several resolutions, records it and splits the request instead. */
async function loadOrSplit(run: Run, planned: PlannedRequest, reply: ParsedReply): Promise<RequestOutcome> {
  const { store, emit, sizes } = run
  const { rows } = reply
  const around = await readNeighbours(store, planned)
  const dayIds = needsDayIds(planned, rows) ? await readDayIds(store, planned) : []
  const probe = planned.series && `${seriesKey(planned.series)} ${rows.resolutionId}`
  const found = findSplit(planned, rows, { around, dayIds, isProbed: probe === null || sizes.probed.has(probe) })
  if (found) {
    const counts = await recordCoarse(run, planned, reply)
    emitDone(emit, planned, reply, counts, false)
    if (found.isByDay) await sizes.learnDay(planned)
    if (found.isProbe && planned.reason !== 'absent') sizes.probed.add(probe!)
    return splitOrPostpone(planned, found.parts)
  }
  // Saves memory while this reply waits for the transactions of earlier ones.
  if (reply.storedBody) release(reply.body)
  const counts = await load(run, planned, reply)
  emitDone(emit, planned, reply, counts, true)
  if (!hasSumId(planned, rows)) await sizes.grow(planned)
  return { kind: 'loaded', planned }
}

/** Replaces a request whose window is too large with its halves. Records any other request as failed. */
async function failOrHalve(
  run: Run,
  planned: PlannedRequest,
  halves: readonly Interval[],
  error: SyncError,
  reply: Reply,
): Promise<RequestOutcome> {
  if (!isTooLarge(error) || halves.length < 2) return fail(run, planned, error, reply)
  await recordAbandoned(run, planned, 'too-large', error, reply)
  await run.sizes.shrink(planned)
  const outcome = splitOrPostpone(planned, halves)
  const parts = outcome.kind === 'split' ? halves.length : 0
  const { code, message: reason } = error
  run.emit('request.split', { ...eventRequest(planned), ...eventResponse(reply), parts, code, reason })
  return outcome
}

/** Records a request as failed, with its last response and the rejected rows. */
async function fail(
  run: Run,
  planned: PlannedRequest,
  error: SyncError,
  reply: Reply,
  rejected?: Pick<Rows, 'rejects' | 'rejected'>,
): Promise<RequestOutcome> {
  const counts = await recordFailure(run, planned, error, reply, rejected)
  const rows = eventRows(counts)
  run.emit('request.failed', { ...eventRequest(planned), ...eventResponse(reply), rows, ...errorFields(error) })
  return { kind: 'failed', planned, error }
}

/** Records a request that was in progress when the run ended. */
async function recordLast(
  run: Run,
  planned: PlannedRequest,
  { error, last, attempted }: FailedFetch,
): Promise<RequestOutcome> {
  const lastError = error instanceof KeyError ? error : attempted
  const failure = error instanceof UnavailableError ? error.cause : lastError
  const stopped = { kind: 'stopped', planned, error, failure: null } as const
  if (last.attempts === 0) return stopped
  // If recording fails too, the first error is the one to report.
  try {
    if (!failure) await recordAbandoned(run, planned, 'stopped', error, last)
    else await fail(run, planned, failure, last)
    return { ...stopped, failure: failure ?? null }
  } catch {
    return stopped
  }
}

/** The first invalid row that was not dismissed, if such a row ends the run; otherwise null. */
async function findRefusal(
  { store: { kysely }, onReject }: Run,
  { series, http }: PlannedRequest,
  rows: Rows,
): Promise<SchemaError | null> {
  if (onReject !== 'fail') return null
  const seriesId = (series && (await findSeries(kysely, toIdentityRow(series)))?.id) ?? null
  const { rejects } = await withoutDismissed(kysely, { seriesId, target: http.target }, rows)
  const [reject] = rejects
  return reject ? new SchemaError(reject.reason, { path: reject.path }) : null
}

/** Turns the error of an unreadable body, which a parser throws, into a value. */
function catchSchemaError(error: unknown): SchemaError {
  if (error instanceof SchemaError) return error
  throw error
}
