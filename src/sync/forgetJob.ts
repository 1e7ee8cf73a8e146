import { FORGET } from '../db/queries/jobRuns.ts'
import type { Reader, Store } from '../db/store.ts'
import { NO_COUNTS } from '../load/counts.ts'
import { recordSpans } from '../load/spans/recordSpans.ts'
import { readStoredJobs, type StoredJob, sourceName } from '../state/storedJobs.ts'
import { InputError } from '../util/errors.ts'
import { version } from '../util/package.ts'
import { shellWord } from '../util/text.ts'
import { formatMillis, toInstant } from '../util/time/instant.ts'

/** A job to forget; without an id, the runs of a command that records them under a name of its own. */
type ForgettableJob = Pick<StoredJob, 'name'> & { readonly id: number | null }

/**
 * Finds the job to forget by its name, and by its file if there are several. Throws InputError with the candidates if there is none,
 * or more than one.
 */
export async function findForgettable(db: Reader, name: string, file: string | undefined): Promise<ForgettableJob> {
  const jobs = (await readStoredJobs(db)).filter((job) => job.name === name)
  const isNamed = (job: StoredJob): boolean => [sourceName(job), job.file, job.path].includes(file!)
  const named = file === undefined ? jobs : jobs.filter(isNamed)
  // A path alone means this host.
  const [job, ...others] =
    named.filter((one) => sourceName(one) === file).length === 1
      ? named.filter((one) => sourceName(one) === file)
      : named
  if (job && others.length === 0) return job
  const candidates = jobs.map((one) => `--file ${shellWord(sourceName(one))}`).join(' or ')
  if (jobs.length > 0)
    throw new InputError(
      job
        ? `${named.length} jobs have the name ${JSON.stringify(name)}.`
        : `No job ${JSON.stringify(name)} has the file ${JSON.stringify(file)}.`,
      { hint: `Add ${candidates}.`, code: job ? 'ambiguous-job' : 'no-job' },
    )
  const last = await db.kysely
    .selectFrom('_run')
    .select('command')
    .where('job', '=', name)
    .where('job_id', 'is', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (last && last.command !== FORGET && file === undefined) return { id: null, name }
  throw new InputError(`Unknown job ${JSON.stringify(name)} in ${db.file}.`, {
    hint: '`indicator-sync status` lists the last runs with their jobs.',
    code: 'no-job',
  })
}

/**
 * Forgets a job that no longer exists: nothing of it is required any more, and its last run is no longer a finding. Values and history
 * stay.
 */
export function forgetJob(
  store: Store,
  { job, nowMs }: { readonly job: ForgettableJob; readonly nowMs: number },
): Promise<void> {
  return store.write(async (tx) => {
    const at = formatMillis(nowMs)
    if (job.id !== null) {
      const duties = await tx.deleteFrom('_duty').where('job_id', '=', job.id).returning('series_id').execute()
      for (const id of new Set(duties.map(({ series_id }) => series_id))) await recordSpans(tx, id, toInstant(nowMs))
      await tx.updateTable('_job').set({ forgotten_at: at }).where('id', '=', job.id).execute()
    }
    const run = { command: FORGET, job: job.name, job_id: job.id, version: version(), started_at: at, finished_at: at }
    await tx
      .insertInto('_run')
      .values({ ...run, outcome: 'done', ...NO_COUNTS })
      .execute()
  })
}
