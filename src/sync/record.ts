import type { Updateable } from 'kysely'
import { prepareQuery } from '../db/prepared.ts'
import type { Store } from '../db/store.ts'
import type { Database } from '../db/tables/schema.ts'
import type { Job } from '../job/job.ts'
import { COUNTS, type Counts, NO_COUNTS } from '../load/counts.ts'
import { DIED } from '../state/lastRuns.ts'
import { findOutageRun } from '../state/outage.ts'
import { isOutage, KeyError, NoReplyError, RejectLimitError, type SyncError, UnavailableError } from '../util/errors.ts'
import { errorFields, type RunOutcome } from '../util/eventFields.ts'
import { createEmitter, type EmitEvent, type OnEvent } from '../util/events.ts'
import { createRedactor } from '../util/redact.ts'
import { asSyncError } from '../util/systemErrors.ts'
import { formatMillis } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import { eventRows } from './requestEvents.ts'

/** The database in which a run is recorded, and the receiver of its events. */
interface RunContext {
  readonly store: Store
  readonly version: string
  /** Epoch milliseconds. */
  readonly nowMs: () => number
  readonly onEvent?: OnEvent | undefined
  /** The API key, which is removed from messages. */
  readonly key?: string
  /** The command and flags that select a part of the job. */
  readonly partCommand?: string | undefined
  /** The range of the command, if it has one. */
  readonly interval?: Interval | undefined
}

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
export interface RunRecord {
  readonly runId: number
  /** Emits an event of this run. */
  readonly emit: EmitEvent
  /** Records how many requests are planned; null if they are not counted. */
  plan(requests: number | null): Promise<void>
  /** Records the end of the run and emits `run.ended`. */
  end(outcome: RunOutcome, error: SyncError | null): Promise<void>
  /** Records that the run failed with an unexpected error, and emits `run.ended` even if the database cannot be written. */
  fail(error: unknown): Promise<void>
}

/**
 * Starts a run of a job: records it and emits `run.started`. `began`: when planning began (epoch milliseconds). `jobId`: the id of the
 * job in `_job`; null for commands without a job.
 */
export async function openRun(
  { store, version, nowMs, onEvent, key = '', partCommand, interval }: RunContext,
  command: string,
  job: Pick<Job, 'name'> & Partial<Pick<Job, 'file' | 'schedule' | 'timeZone'>>,
  { began = nowMs(), jobId = null }: { readonly began?: number; readonly jobId?: number | null } = {},
): Promise<RunRecord> {
  const { file = null, schedule = null, timeZone = null } = job
  const runId = await store.write(async (tx) => {
    // Runs that a crash left open: there is only one writer.
    await tx
      .updateTable('_run')
      .set({ outcome: 'failed', ...DIED })
      .where('outcome', '=', 'running')
      .execute()
    const { id } = await tx
      .insertInto('_run')
      .values({
        command,
        job: job.name,
        job_id: jobId,
        job_file: file,
        part: partCommand ?? null,
        from_at: interval?.from ?? null,
        to_at: interval?.to ?? null,
        version,
        started_at: formatMillis(began),
        outcome: 'running',
        schedule,
        time_zone: schedule && timeZone,
        ...NO_COUNTS,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    const at = formatMillis(began)
    if (jobId !== null)
      await tx
        .updateTable('_job')
        .set(({ fn, val }) => ({ first_run_at: fn.coalesce('first_run_at', val(at)), last_run_at: at }))
        .where('id', '=', jobId)
        .execute()
    return id
  })
  const emit = createEmitter(onEvent, { run: runId, job: job.name, command })
  const redactor = createRedactor(key)
  const update = (changes: Updateable<Database['_run']>): Promise<unknown> =>
    store.write((tx) => tx.updateTable('_run').set(changes).where('id', '=', runId).execute())
  const record = (outcome: RunOutcome, error: SyncError | null): Promise<unknown> =>
    update({
      outcome,
      message: error && redactor.text(error.message),
      code: error?.code ?? null,
      finished_at: formatMillis(nowMs()),
    })
  const emitEnded = (outcome: RunOutcome, error: SyncError | null, counts: Counts): void => {
    const { requests, failed, bytes, ...rows } = counts
    const fields = errorFields(error)
    const reason = fields.reason && redactor.text(fields.reason)
    emit('run.ended', {
      outcome,
      ms: nowMs() - began,
      requests,
      failed,
      bytes,
      rows: eventRows(rows),
      ...fields,
      reason,
    })
  }
  emit('run.started', {})
  return {
    runId,
    emit,
    async plan(planned) {
      await update({ planned })
    },
    async end(outcome, error) {
      const counts = await readCounts(store, runId)
      await record(outcome, error)
      emitEnded(outcome, error, counts)
    },
    async fail(thrown) {
      const error = asSyncError(thrown)
      const counts = await readCounts(store, runId).catch(() => NO_COUNTS)
      await record('failed', error).catch(() => undefined)
      emitEnded('failed', error, counts)
    },
  }
}

/** Reads the counters of a run from its record, which are right even after an interruption. */
export const readCounts = async ({ kysely }: Pick<Store, 'kysely'>, runId: number): Promise<Counts> =>
  (await countsOfRun.first(kysely, { runId }))!

const countsOfRun = prepareQuery((db, { runId }: { runId: number }) =>
  db.selectFrom('_run').select(COUNTS).where('id', '=', runId),
)
