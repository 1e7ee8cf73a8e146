import type { RunOutcome } from '../base/runOutcome.ts'
import { prepared } from '../db/prepared.ts'
import { NO_FAILURE } from '../db/queries/outcomes.ts'
import { WORKER } from '../db/queries/workers.ts'
import type { Store } from '../db/store.ts'
import { COUNTS, type Counts, NO_COUNTS } from '../load/counts.ts'

/** Those that each row of `_fetch` has, too. */
const SUMMED = COUNTS.filter((name) => name !== 'requests' && name !== 'failed')

/** The counters of a run so far, from its record: also right when the run was interrupted by an error. */
export const countsOf = async ({ kysely }: Pick<Store, 'kysely'>, runId: number): Promise<Counts> =>
  (await countsOfRun.first(kysely, { runId }))!

const countsOfRun = prepared((db, of: { runId: number }) =>
  db.selectFrom('_run').select(COUNTS).where('id', '=', of.runId),
)

/** The counters of what workers did for a job since an answer, in whichever of their runs. */
export async function countsOfWorkers({ kysely }: Pick<Store, 'kysely'>, job: string, after: number): Promise<Counts> {
  const sums = await kysely
    .selectFrom('_fetch as f')
    .innerJoin('_run as r', 'r.id', 'f.run_id')
    .where('f.id', '>', after)
    .where('r.command', '=', WORKER)
    .where('r.job', '=', job)
    .select(({ fn }) => [
      fn.countAll().as('requests'),
      fn.count('f.id').filterWhere('f.outcome', 'not in', NO_FAILURE).as('failed'),
      ...SUMMED.map((name) => fn.sum(`f.${name}`).as(name)),
    ])
    .executeTakeFirstOrThrow()
  return Object.fromEntries(COUNTS.map((name) => [name, Number(sums[name] ?? 0)])) as unknown as Counts
}

/**
 * Inserts the record of a run and returns its id. Runs that a crash left open are closed first, except those of workers; on a server,
 * where runs of other jobs may be alive, only those of the same job.
 */
export async function beginRun(
  store: Store,
  run: {
    command: string
    job: string
    jobFile?: string | null
    isPart?: boolean
    version: string
    now: string
    schedule?: string | null
    timeZone?: string
  },
): Promise<number> {
  return store.write(async (tx) => {
    if (run.command !== WORKER)
      await tx
        .updateTable('_run')
        .set({ outcome: 'failed', message: 'its process ended before the run did' })
        .where('outcome', '=', 'running')
        .where('command', '<>', WORKER)
        .$if(store.coordination !== null, (of) => of.where('job', '=', run.job))
        .execute()
    const { id } = await tx
      .insertInto('_run')
      .values({
        command: run.command,
        job: run.job,
        job_file: run.jobFile ?? null,
        narrowed: run.isPart ? 1 : null,
        version: run.version,
        started_at: run.now,
        outcome: 'running',
        schedule: run.schedule ?? null,
        time_zone: run.schedule ? (run.timeZone ?? null) : null,
        ...NO_COUNTS,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    return id
  })
}

/** Records again that a run continues: one that began meanwhile took it for a run that a crash left open. */
export async function keepRunning(store: Store, runId: number): Promise<void> {
  await store.write(async (tx) => {
    const update = tx.updateTable('_run').set({ outcome: 'running', message: null })
    await update.where('id', '=', runId).where('outcome', '<>', 'running').execute()
  })
}

/** Closes the record of a run. */
export async function endRun(
  store: Store,
  runId: number,
  outcome: RunOutcome,
  message: string | null,
  now: string,
): Promise<void> {
  await store.write(async (tx) => {
    await tx.updateTable('_run').set({ outcome, message, finished_at: now }).where('id', '=', runId).execute()
  })
}
