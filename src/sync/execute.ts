import { findSeries } from '../db/queries/seriesLookup.ts'
import type { Rows } from '../db/tables/rows.ts'
import { type Client, type FailedFetch, isTooLarge } from '../fetch/client.ts'
import { identityRow, type PlannedRequest, seriesKey } from '../job/plannedRequest.ts'
import { type Counts, NO_COUNTS } from '../load/counts.ts'
import type { Sizes } from '../load/learnedSizes.ts'
import { type Loading, load, loadAbandoned, loadCoarse, loadFailure, type ParsedReply } from '../load/load.ts'
import { undismissed } from '../load/quarantine/dismissed.ts'
import { absentPiece, halfLength, splitWindow, withWindow } from '../plan/pieces.ts'
import { absentShare } from '../plan/series/absences.ts'
import type { LastResponse, Reply } from '../service/request.ts'
import { release } from '../util/bytes.ts'
import { KeyError, NotFoundError, SchemaError, type SyncError, UnavailableError } from '../util/errors.ts'
import type { EmitEvent } from '../util/events.ts'
import type { Interval } from '../util/time/interval.ts'
import { readAbsences, readDayIds, readNeighbours } from './neighbours.ts'
import { readReply } from './readReply.ts'
import { emitDivided, emitDone, emitFailed, emitRetried } from './requestEvents.ts'
import { findSplit, hasSumId, needsDayIds } from './resolution.ts'

/** The fate of replies with rows that cannot be understood. `fail`: such a reply is kept but not loaded, and the run ends. */
export type OnReject = 'quarantine' | 'fail'

/** A run: everything that its requests need. */
export interface Run extends Loading {
  readonly client: Client
  readonly emit: EmitEvent
  readonly signal: AbortSignal
  /** Requests under way at once. */
  readonly concurrency: number
  readonly onReject: OnReject
  /** The largest windows that the service answers, by series. */
  readonly sizes: Sizes
  /** Series and resolution ids for which a day was requested to learn what the id means. */
  readonly probed: Set<string>
}

/** Planned requests in the order in which they are sent. */
export type RequestSource = Iterable<PlannedRequest> | AsyncIterable<PlannedRequest>

/** What became of a request. The requests of a `split` replace it; they go to the head of the queue, in order. */
export type Outcome =
  | { readonly kind: 'loaded'; readonly request: PlannedRequest; readonly counts: Counts }
  | {
      readonly kind: 'failed'
      readonly request: PlannedRequest
      readonly error: SyncError
      readonly last: LastResponse
    }
  | {
      readonly kind: 'split'
      readonly request: PlannedRequest
      readonly into: readonly PlannedRequest[]
      readonly why: 'too-large' | 'coarse' | 'probe'
    }

/** A request with its parts, which are requested one after the other. */
interface Task {
  readonly queue: PlannedRequest[]
  /** The series of which no other request is sent meanwhile; null if it has been answered in this run. */
  readonly series: string | null
}

/**
 * Executes requests, some at once, and yields what became of each. The first request of a series runs before its others: its answer
 * shows the resolution and the window size. Stops taking requests when the signal comes or one throws what ends the run; throws
 * that when all under way have ended.
 */
export async function* execute(run: Run, source: RequestSource): AsyncGenerator<Outcome, void> {
  const requests = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
  const filter = createFilter()
  const answered = new Set<string>()
  /** Requests of series whose first one is under way. */
  const waiting = new Map<string, PlannedRequest[]>()
  const released: PlannedRequest[] = []
  const underWay = new Map<
    Task,
    Promise<{ readonly task: Task; readonly outcome?: Outcome; readonly error?: unknown }>
  >()
  const errors: unknown[] = []

  const begin = (task: Task): void => {
    const processed = processRequest(run, task.queue.shift()!)
    const ended = processed.then(
      (outcome) => ({ task, outcome }),
      (error: unknown) => ({ task, error }),
    )
    underWay.set(task, ended)
  }
  const nextTask = async (): Promise<Task | null> => {
    for (;;) {
      const next = released.shift() ?? (await requests.next()).value
      if (!next) return null
      const series = next.series && next.window ? seriesKey(next.series) : null
      const others = series === null ? undefined : waiting.get(series)
      if (others) others.push(next)
      else if (filter.isWanted(next)) {
        const isFirst = series !== null && !answered.has(series)
        if (isFirst) waiting.set(series, [])
        return { queue: [next], series: isFirst ? series : null }
      }
    }
  }
  const end = ({ series }: Task): void => {
    if (series === null) return
    answered.add(series)
    released.unshift(...waiting.get(series)!)
    waiting.delete(series)
  }

  try {
    for (;;) {
      while (errors.length === 0 && !run.signal.aborted && underWay.size < run.concurrency) {
        const task = await nextTask()
        if (!task) break
        begin(task)
      }
      if (underWay.size === 0) break
      const { task, outcome, error } = await Promise.race(underWay.values())
      underWay.delete(task)
      if (error !== undefined) errors.push(error)
      if (outcome?.kind === 'split') task.queue.unshift(...outcome.into)
      if (outcome) filter.note(outcome)
      if (task.queue.length > 0 && errors.length === 0 && !run.signal.aborted) begin(task)
      else end(task)
      if (outcome) yield outcome
    }
  } finally {
    await Promise.all(underWay.values())
    await requests.return?.()
  }
  // What came after the first error follows from it.
  if (errors.length > 0) throw errors[0]
}

/** Decides which planned requests are sent after all. */
function createFilter() {
  // Items that the service has just answered with 404, by path: their other windows are not requested.
  const unknown = new Set<string>()
  let [absent, others] = [0, 0]
  const path = ({ request }: PlannedRequest): string => request.target.split('?')[0]!
  return {
    isWanted(request: PlannedRequest): boolean {
      if (unknown.has(path(request))) return false
      if (request.reason !== 'absent') return ++others > 0
      // The plan counted requests that may not have been sent since.
      return ++absent <= Math.max(1, absentShare(others))
    },
    note(outcome: Outcome): void {
      const { kind, request } = outcome
      if (kind === 'failed' && request.params.id !== undefined && outcome.error instanceof NotFoundError)
        unknown.add(path(request))
    },
  }
}

/**
 * Fetches, transforms and loads one request, each reply in one transaction. A window that is too large, or whose values may be sums
 * over several resolutions, is split. Throws what ends the run.
 */
export async function processRequest(run: Run, planned: PlannedRequest): Promise<Outcome> {
  const { client, emit, sizes, keep } = run
  const size = await sizes.get(planned)
  const pieces = splitWindow(planned, size)
  if (pieces.length > 1 && planned.reason !== 'absent') return split(planned, pieces, 'too-large')
  const request = pieces.length > 1 ? await firstAbsentPiece(run, planned, size) : planned
  if (!request) return { kind: 'loaded', request: planned, counts: NO_COUNTS }
  const halves = splitWindow(request, halfLength(request))
  const reply = await client.get(request.request, {
    isDivisible: halves.length > 1,
    onRetry: ({ error, response }, attempt) => emitRetried(emit, request, error, response?.status ?? null, attempt),
  })
  if ('error' in reply) {
    if (reply.endsRun) return endRun(run, request, reply)
    return failOrHalve(run, request, halves, reply.error, reply.last)
  }
  try {
    const parsed = await readReply(reply.body, request, keep !== 'none').catch(schemaErrorAsValue)
    if (parsed instanceof SchemaError) return await failOrHalve(run, request, halves, parsed, reply)
    const refusal = await findRefusal(run, request, parsed.rows)
    if (refusal) return await fail(run, request, refusal, reply, parsed.rows)
    return await loadOrSplit(run, request, reply, parsed)
  } finally {
    release(reply.body)
  }
}

const split = (
  request: PlannedRequest,
  windows: readonly Interval[],
  why: Extract<Outcome, { kind: 'split' }>['why'],
): Outcome => ({ kind: 'split', request, into: windows.map((window) => withWindow(request, window)), why })

/** Loads a reply, unless its values may be sums over several resolutions: then it is recorded, and smaller windows are requested. */
async function loadOrSplit(run: Run, request: PlannedRequest, reply: Reply, parsed: ParsedReply): Promise<Outcome> {
  const { store, emit, sizes, probed } = run
  const { rows } = parsed
  const around = await readNeighbours(store, request)
  const dayIds = needsDayIds(request, rows) ? await readDayIds(store, request) : []
  const probe = request.series && `${seriesKey(request.series)} ${rows.resolutionId}`
  const found = findSplit(request, rows, { around, dayIds, isProbed: probe === null || probed.has(probe) })
  if (found) {
    const counts = await loadCoarse(run, request, reply, parsed)
    emitDone(emit, request, reply, counts, false)
    if (found.isByDay) await sizes.learnDay(request)
    // The share of requests for absences counts one request each: a later run requests the parts.
    if (request.reason === 'absent') return split(request, [], found.why)
    if (found.why === 'probe') probed.add(probe!)
    return split(request, found.into, found.why)
  }
  // While this reply waits for those before it, only the compressed body need be in memory.
  if (parsed.stored) release(reply.body)
  const counts = await load(run, request, reply, parsed)
  emitDone(emit, request, reply, counts, true)
  if (!hasSumId(request, rows)) await sizes.grow(request)
  return { kind: 'loaded', request, counts }
}

/** Replaces a request whose window is too large by its halves; records any other as failed. */
async function failOrHalve(
  run: Run,
  request: PlannedRequest,
  halves: readonly Interval[],
  error: SyncError,
  last: LastResponse,
): Promise<Outcome> {
  if (!isTooLarge(error) || halves.length < 2) return fail(run, request, error, last)
  await loadAbandoned(run, request, 'too-large', error, last)
  await run.sizes.shrink(request)
  // The share of calls for absent values counts one call a request: a later run requests the halves.
  const windows = request.reason === 'absent' ? [] : halves
  emitDivided(run.emit, request, error, last, windows.length)
  return split(request, windows, 'too-large')
}

/** Records a request as failed, with its last answer and what was rejected in it. */
async function fail(
  run: Run,
  request: PlannedRequest,
  error: SyncError,
  last: LastResponse,
  rejected?: Pick<Rows, 'rejects' | 'rejected'>,
): Promise<Outcome> {
  const counts = await loadFailure(run, request, error, last, rejected)
  emitFailed(run.emit, request, error, last, counts)
  return { kind: 'failed', request, error, last }
}

/** Records a request that was under way when the run ended, and throws the error that ends it. */
async function endRun(run: Run, request: PlannedRequest, { error, last }: FailedFetch): Promise<never> {
  if (last.attempts > 0) {
    const failure = error instanceof UnavailableError ? error.cause : error instanceof KeyError ? error : null
    const recorded = failure ? fail(run, request, failure, last) : loadAbandoned(run, request, 'stopped', error, last)
    // The error that ends the run is reported, not that its record could not be written.
    await recorded.catch(() => undefined)
  }
  throw error
}

/** If a reject ends the run, the first of these rows' rejects that was not dismissed; otherwise null. */
async function findRefusal(
  { store: { kysely }, onReject }: Run,
  request: PlannedRequest,
  rows: Rows,
): Promise<SchemaError | null> {
  if (onReject !== 'fail') return null
  const seriesId = (request.series && (await findSeries(kysely, identityRow(request.series)))?.id) ?? null
  const open = await undismissed(kysely, { seriesId, target: request.request.target }, rows)
  const [reject] = open.rejects
  return reject ? new SchemaError(reject.reason, { path: reject.path }) : null
}

/** The first piece of a request for absent values; null if none is absent any more. The other pieces stay due. */
async function firstAbsentPiece(
  { store }: Run,
  request: PlannedRequest,
  size: number | undefined,
): Promise<PlannedRequest | null> {
  const piece = absentPiece(request, size, await readAbsences(store, request))
  return piece && withWindow(request, piece)
}

/** Parsers throw out of the depth of a body; from here on, an unreadable body is a value. */
function schemaErrorAsValue(error: unknown): SchemaError {
  if (error instanceof SchemaError) return error
  throw error
}
