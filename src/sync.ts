import type { Service } from './api/services.ts'
import { readMemory } from './audit/held.ts'
import { readTape, type Taped } from './audit/tape.ts'
import { KeyError, ShapeError, StoppedError, SyncError } from './base/errors.ts'
import { formatMillis } from './base/instant.ts'
import { carry, type RejectPolicy, type River } from './carry.ts'
import { type Reader, rememberZone, type Store } from './db/open.ts'
import { createFetcher, type FetchOptions } from './fetch/fetch.ts'
import { feed } from './fetch/pace.ts'
import type { Ask } from './job/ask.ts'
import type { Job } from './job/job.ts'
import { applyRows } from './load/apply.ts'
import { callsLeft, spendCall } from './load/budget.ts'
import type { Loading } from './load/load.ts'
import { unpackAside } from './load/packer.ts'
import { requarantine } from './load/quarantine.ts'
import { createMidwife, takeRecords, takeResolutions } from './load/rebuild.ts'
import { addCounts, beginRun, type Counts, endRun, NO_COUNTS } from './load/run.ts'
import { createSizes } from './load/sizes.ts'
import { plan } from './plan/plan.ts'
import type { PlanOptions } from './plan/planning.ts'
import type { Rows } from './tables/rows.ts'
import { transform } from './transform/transform.ts'

/** What a run needs from outside. */
export interface SyncContext {
  readonly store: Store
  readonly service: Service
  readonly baseUrl: string
  readonly key: string
  readonly version: string
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly signal: AbortSignal
  /** Told after every request. */
  readonly onProgress?: (progress: Progress) => void
  readonly onFailure?: FetchOptions['onFailure'] | undefined
  readonly onHold?: FetchOptions['onHold'] | undefined
  readonly breaker?: FetchOptions['breaker']
  /** Milliseconds before the first repetition. */
  readonly retryMs?: number | undefined
  readonly rejects?: RejectPolicy
}

/** A request that failed for good. */
export interface Failed {
  readonly ask: Ask
  readonly error: SyncError
}

/** How far a run is. */
export interface Progress {
  readonly ask: Ask
  readonly counts: Counts
  /** Asks that are done, and how many there are in all; null where nobody counted. */
  readonly done: number
  readonly planned: number | null
  /** Calls left within the job's budget; undefined where it has none. */
  readonly callsLeft: number | undefined
}

/** What a run did. */
export interface Summary {
  readonly runId: number
  readonly job: string
  readonly outcome: 'done' | 'partial' | 'stopped' | 'failed'
  readonly counts: Counts
  readonly failures: readonly Failed[]
  readonly seconds: number
  /** Why it ended early, when it did. */
  readonly stop: SyncError | null
}

const SET_ASIDE: RejectPolicy = { onReject: 'quarantine', maxRejects: Number.POSITIVE_INFINITY }

/** A job is planned into requests, requests are fetched into replies, replies are transformed into rows, rows are loaded. */
export async function sync(
  context: SyncContext,
  job: Job,
  command = 'sync',
  options: PlanOptions = {},
): Promise<Summary> {
  const { store, service, now } = context
  await rememberZone(store.kysely, job.timeZone)
  const planning = { job, service, memory: readMemory(store), now: Math.floor(now() / 1000), options }
  // Counted first, for the time to go: a plan is quick, and is never held as a whole.
  const planned = plan(planning).reduce((count) => count + 1, 0)
  return carryAll(context, job, command, plan(planning), planned)
}

/** Carries asks as they come, side by side; ends early when the key is refused, the budget is spent or a signal comes. */
export async function carryAll(
  context: SyncContext,
  job: Job,
  command: string,
  asks: Iterable<Ask>,
  planned: number | null = null,
): Promise<Summary> {
  const { store, baseUrl, now, signal } = context
  const began = now()
  const runId = await beginRun(store, { command, job: job.name, version: context.version, now: formatMillis(began) })
  const fetcher = createFetcher({
    ...context,
    userAgent: `indicator-sync/${context.version}`,
    pace: job.pace,
    beforeCall: () => spendCall(store, new URL(baseUrl).host, job.pace, now()),
  })
  const loading: Loading = { store, runId, keep: job.keep, now }
  const rejects = context.rejects ?? SET_ASIDE
  const river: River = { service: context.service, fetcher, loading, sizes: createSizes(loading), rejects }
  const failures: Failed[] = []
  let done = 0
  let counts = NO_COUNTS
  let stop: SyncError | null = null
  try {
    await feed(asks, job.pace.concurrency, signal, async (ask) => {
      const { counts: more, error } = await carry(river, ask)
      counts = addCounts(counts, more)
      if (error) failures.push({ ask, error })
      done++
      const left = callsLeft(store, new URL(baseUrl).host, job.pace, now())
      context.onProgress?.({ ask, counts, done, planned, callsLeft: left })
      if (error instanceof KeyError) throw error
      const limit = rejects.onReject === 'fail' ? 0 : rejects.maxRejects
      if (counts.rows_rejected > limit) throw tooManyRejects(counts.rows_rejected, limit)
    })
    if (signal.aborted) stop = new StoppedError('Stopped by a signal.', { code: 'signal' })
  } catch (error) {
    if (!(error instanceof KeyError || error instanceof StoppedError || error instanceof ShapeError)) {
      // The run's record says so too, where it can still be written: on a full disk it cannot.
      const message = error instanceof SyncError ? error.message : 'an unexpected error'
      await endRun(store, runId, 'failed', message, formatMillis(now())).catch(() => undefined)
      throw error
    }
    stop = error
  } finally {
    await fetcher.close()
  }
  const outcome = outcomeOf(stop, failures.length + counts.rows_rejected)
  await endRun(store, runId, outcome, stop?.message ?? null, formatMillis(now()))
  store.tidy()
  return { runId, job: job.name, outcome, counts, failures, seconds: (now() - began) / 1000, stop }
}

const tooManyRejects = (found: number, limit: number): ShapeError =>
  new ShapeError(`${found} rows could not be understood, and ${limit} are allowed.`, {
    path: '$',
    hint: 'See them with `indicator-sync quarantine list`; what came before them is loaded.',
    code: 'too-many-rejects',
  })

function outcomeOf(stop: SyncError | null, troubles: number): Summary['outcome'] {
  if (stop instanceof KeyError || stop instanceof ShapeError) return 'failed'
  if (stop) return 'stopped'
  return troubles === 0 ? 'done' : 'partial'
}

/** Bytes of answers a transaction: many answers, for a rebuilt database is used only when it is whole. */
const REPLAYED_AT_ONCE = 4 * 1024 * 1024

/** A reply of the tape whose body is being unpacked. */
interface Opened {
  readonly taped: Taped
  readonly body: Promise<Buffer>
}

/** The replies of a tape, so many at once as go into a transaction. */
function* batches(tape: Iterable<Taped>): Generator<readonly Opened[], void> {
  let batch: Opened[] = []
  let bytes = 0
  for (const taped of tape) {
    const body = unpackAside(taped.packed, taped.size)
    // A body that cannot be unpacked is told when its turn comes.
    body.catch(() => undefined)
    batch.push({ taped, body })
    bytes += taped.size
    if (bytes < REPLAYED_AT_ONCE) continue
    yield batch
    batch = []
    bytes = 0
  }
  yield batch
}

/** What a replay did. */
export interface Replayed {
  readonly replies: number
  readonly rows: number
  /** Replies that cannot be read, as before. */
  readonly unread: number
}

/**
 * The same sentence with the stored replies in place of the network: replies are transformed into rows, rows are loaded
 * into an empty database, in the order and with the records of the first time. With the same program it ends row for row
 * in the same database; with a newer one, in what that one understands.
 */
export async function replay(
  source: Reader,
  store: Store,
  { now, onProgress }: { now: () => number; onProgress?: (replies: number) => void },
): Promise<Replayed> {
  // The bodies of a batch are unpacked in another thread while what comes before is written here.
  const tape = batches(readTape(source))
  let batch = tape.next()
  await takeRecords(store, source.file)
  const midwife = createMidwife(source, store)
  let done: Replayed = { replies: 0, rows: 0, unread: 0 }
  const one = (taped: Taped, body: Buffer): void => {
    midwife.upTo(taped.fetchId)
    const rows = reread(taped, body)
    const { fetchId, runId, seriesId, ask } = taped
    const ms = Date.parse(taped.recordedAt)
    if (rows) {
      const { fresh, revised } = applyRows(store, { fetchId, seriesId, ask, rows, ms })
      done = { ...done, rows: done.rows + fresh + revised }
      requarantine(store, { fetchId, runId, ms }, rows.rejects, now())
    }
    done = { ...done, replies: done.replies + 1, unread: done.unread + (rows ? 0 : 1) }
  }
  const write = async (batch: readonly Opened[]): Promise<void> => {
    const bodies = await Promise.all(batch.map(({ body }) => body))
    await store.write(async () => {
      for (const [i, { taped }] of batch.entries()) one(taped, bodies[i]!)
    })
    onProgress?.(done.replies)
  }
  while (!batch.done) {
    const next = tape.next()
    await write(batch.value)
    batch = next
  }
  await store.write(async () => {
    midwife.upTo(Number.POSITIVE_INFINITY)
    takeResolutions(source, store)
  })
  return done
}

/** The rows of a stored reply; null where it still cannot be read. One that was refused whole is believed only when nothing is wrong in it now. */
export function reread({ ask, outcome }: Taped, body: Buffer): Rows | null {
  try {
    const rows = transform(body, ask)
    return outcome === 'shape' && rows.rejects.length > 0 ? null : rows
  } catch (error) {
    if (error instanceof ShapeError) return null
    throw error
  }
}
