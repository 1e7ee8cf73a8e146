import type { Updateable } from 'kysely'
import { prepareQuery } from '../db/prepared.ts'
import type { Store } from '../db/store.ts'
import type { Database } from '../db/tables/schema.ts'
import type { Job } from '../job/job.ts'
import { COUNTS, type Counts, NO_COUNTS } from '../load/counts.ts'
import { createSizes } from '../load/learnedSizes.ts'
import type { Run } from '../load/run.ts'
import { DIED } from '../state/lastRuns.ts'
import { findOutageRun } from '../state/outage.ts'
import { isOutage, KeyError, NoReplyError, RejectLimitError, type SyncError, UnavailableError } from '../util/errors.ts'
import { errorFields, type RunOutcome } from '../util/eventFields.ts'
import { createEmitter } from '../util/events.ts'
import { version } from '../util/package.ts'
import { createRedactor } from '../util/redact.ts'
import { asSyncError } from '../util/systemErrors.ts'
import { formatMillis } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import type { RunSpec, SyncContext } from './context.ts'
import { eventRows } from './requestEvents.ts'

/** The outcome of a run. `problems`: the number of failed requests, rejected rows and skipped items. */
export function runOutcome(earlyEnd: SyncError | null, problems: number): RunOutcome {
  if (earlyEnd instanceof KeyError || earlyEnd instanceof RejectLimitError || earlyEnd instanceof UnavailableError)
    return 'failed'
  if (earlyEnd) return 'stopped'
  return problems === 0 ? 'done' : 'partial'
}

/**
 * The error of a run without any reply, because the service was down or out of reach; null if anything else happened.
 * `counts`: those of the run.
 */
export async function findOutage(
  store: Store,
  failures: readonly { readonly error: SyncError }[],
  counts: Counts,
): Promise<NoReplyError | null> {
  const [first] = failures
  const nothingCame = first && counts.requests === counts.failed && failures.every(({ error }) => isOutage(error))
  return nothingCame && (await findOutageRun(store)) !== null ? new NoReplyError(first.error) : null
}

/** A run that has started and not ended. */
export interface OpenRun extends Run {
  /** When its planning began, in epoch milliseconds. */
  readonly beganMs: number
}

/** What is recorded of a run when it starts. */
interface RunDetails {
  /** When planning began, in epoch milliseconds. Default: now. */
  readonly beganMs?: number
  /** The id of the job in `_job`; null for commands without a job. */
  readonly jobId?: number | null
  /** The range of the command, if it has one. */
  readonly interval?: Interval | undefined
}

/** Starts a run of a job: records it and emits `run.started`. */
export async function openRun(
  {
    store,
    nowMs,
    onEvent,
    key = '',
    onReject = 'quarantine',
  }: Pick<SyncContext, 'store' | 'nowMs' | 'onEvent' | 'onReject'> & { readonly key?: string },
  { job, command, part }: Pick<RunSpec, 'command' | 'part'> & { readonly job: RecordedJob },
  { beganMs = nowMs(), jobId = null, interval }: RunDetails = {},
): Promise<OpenRun> {
  const { name, keep = 'latest', file = null, schedule = null, timeZone = null } = job
  const startedAt = formatMillis(beganMs)
  const id = await store.write(async (tx) => {
    // Runs that a crash left open: there is only one writer.
    await tx
      .updateTable('_run')
      .set({ outcome: 'failed', ...DIED })
      .where('outcome', '=', 'running')
      .execute()
    const inserted = await tx
      .insertInto('_run')
      .values({
        command,
        job: name,
        job_id: jobId,
        job_file: file,
        part: part ?? null,
        from_at: interval?.from ?? null,
        to_at: interval?.to ?? null,
        version: version(),
        started_at: startedAt,
        outcome: 'running',
        schedule,
        time_zone: schedule && timeZone,
        ...NO_COUNTS,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    if (jobId !== null)
      await tx
        .updateTable('_job')
        .set(({ fn, val }) => ({ first_run_at: fn.coalesce('first_run_at', val(startedAt)), last_run_at: startedAt }))
        .where('id', '=', jobId)
        .execute()
    return inserted.id
  })
  const emit = createEmitter(onEvent, { run: id, job: name, command })
  emit('run.started', {})
  const sizes = createSizes(store, nowMs)
  return { id, store, keep, onReject, nowMs, emit, redactor: createRedactor(key), sizes, beganMs }
}

/** The part of a job that is recorded with its run. */
type RecordedJob = Pick<Job, 'name'> & Partial<Pick<Job, 'keep' | 'file' | 'schedule' | 'timeZone'>>

/** Records how many requests are planned; null if they are not counted. */
export const recordPlanned = (run: OpenRun, planned: number | null): Promise<void> => updateRun(run, { planned })

/** Records the end of a run and emits `run.ended`. */
export async function endRun(run: OpenRun, outcome: RunOutcome, error: SyncError | null): Promise<void> {
  const counts = await readCounts(run.store, run.id)
  await recordEnd(run, outcome, error)
  emitEnded(run, outcome, error, counts)
}

/** Records that a run failed with an unexpected error, and emits `run.ended` even if the database cannot be written. */
export async function failRun(run: OpenRun, thrown: unknown): Promise<void> {
  const error = asSyncError(thrown)
  const counts = await readCounts(run.store, run.id).catch(() => NO_COUNTS)
  await recordEnd(run, 'failed', error).catch(() => undefined)
  emitEnded(run, 'failed', error, counts)
}

const updateRun = ({ store, id }: OpenRun, changes: Updateable<Database['_run']>): Promise<void> =>
  store.write(async (tx) => {
    await tx.updateTable('_run').set(changes).where('id', '=', id).execute()
  })

const recordEnd = (run: OpenRun, outcome: RunOutcome, error: SyncError | null): Promise<void> =>
  updateRun(run, {
    outcome,
    message: error && run.redactor.text(error.message),
    code: error?.code ?? null,
    finished_at: formatMillis(run.nowMs()),
  })

function emitEnded(
  { emit, nowMs, beganMs, redactor }: OpenRun,
  outcome: RunOutcome,
  error: SyncError | null,
  { requests, failed, bytes, ...rows }: Counts,
): void {
  const fields = errorFields(error)
  const reason = fields.reason && redactor.text(fields.reason)
  emit('run.ended', {
    outcome,
    ms: nowMs() - beganMs,
    requests,
    failed,
    bytes,
    rows: eventRows(rows),
    ...fields,
    reason,
  })
}

/** Reads the counters of a run from its record, which are right even after an interruption. */
export const readCounts = async ({ kysely }: Pick<Store, 'kysely'>, runId: number): Promise<Counts> =>
  (await countsOfRun.first(kysely, { runId }))!

const countsOfRun = prepareQuery((db, { runId }: { runId: number }) =>
  db.selectFrom('_run').select(COUNTS).where('id', '=', runId),
)
