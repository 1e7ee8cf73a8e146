import type { RunOutcome } from '../base/runOutcome.ts'
import { prepared } from '../db/prepared.ts'
import type { Store } from '../db/store.ts'
import { COUNTS, type Counts, NO_COUNTS } from '../load/counts.ts'

/** The counters of a run so far, from its record: also right when the run was interrupted by an error. */
export const countsOf = async ({ kysely }: Pick<Store, 'kysely'>, runId: number): Promise<Counts> =>
  (await countsOfRun.first(kysely, { runId }))!

const countsOfRun = prepared((db, of: { runId: number }) =>
  db.selectFrom('_run').select(COUNTS).where('id', '=', of.runId),
)

/** Inserts the record of a run and returns its id. Runs that a crash left open are closed first: one process at a time has runs. */
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
    await tx
      .updateTable('_run')
      .set({ outcome: 'failed', message: 'its process ended before the run did' })
      .where('outcome', '=', 'running')
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
