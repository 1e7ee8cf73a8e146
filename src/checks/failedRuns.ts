import { isLocked } from '../db/lock.ts'
import { queueStates } from '../db/queries/queues.ts'
import { WORKER } from '../db/queries/workers.ts'
import type { Reader } from '../db/store.ts'

/** A job whose last run failed or did not finish, with the reason. */
export interface OpenRun {
  /** Its number (_run.id). */
  readonly run: number
  readonly job: string
  readonly command: string
  readonly what: string
}

/** Outcomes of runs that went as planned: a stop is one by the budget or by a signal. */
const ORDERLY: readonly string[] = ['done', 'partial', 'stopped']

/** Whether a process may still be working on what is recorded as running: one with the lock, or workers with a queue. */
async function mayBeRunning({ file, kysely, coordination }: Reader): Promise<boolean> {
  if ((await isLocked(file)) !== false) return true
  return coordination !== null && (await queueStates(kysely)).some(({ queued, active }) => queued + active > 0)
}

/**
 * The last run of the whole of each job, and the last one of a part of it if that is later: a part neither clears the failure of the
 * whole nor completes it. `withEmptyStops`: also runs that were stopped before any request succeeded.
 */
async function lastRuns({ kysely }: Reader, withEmptyStops: boolean) {
  const runs = await kysely
    .selectFrom('_run')
    .select(['id', 'job', 'command', 'narrowed', 'started_at', 'outcome', 'message'])
    .where('id', 'in', (of) => {
      const last = of
        .selectFrom('_run')
        .select(({ fn }) => fn.max('id').as('id'))
        .where('command', '<>', WORKER)
        .groupBy(['job', 'narrowed'])
      return withEmptyStops
        ? last
        : last.where((eb) => eb.or([eb('outcome', '<>', 'stopped'), eb('requests', '>', eb.ref('failed'))]))
    })
    .orderBy('job')
    .orderBy('id')
    .execute()
  return runs.filter(({ id, job, narrowed }) => !narrowed || !runs.some((one) => one.job === job && one.id > id))
}

/**
 * The jobs whose last run failed or ended with its process. Runs that were stopped before any request succeeded show nothing: the
 * failure before them remains.
 */
export async function failedRuns(db: Reader): Promise<OpenRun[]> {
  const failed = (await lastRuns(db, false)).filter(({ outcome }) => !ORDERLY.includes(outcome))
  const isAlive = failed.some(({ outcome }) => outcome === 'running') && (await mayBeRunning(db))
  return failed
    .filter(({ outcome }) => outcome !== 'running' || !isAlive)
    .map(({ id, job, command, started_at, outcome, message }) => {
      const reason = outcome === 'running' ? 'its process ended before the run did' : (message ?? outcome)
      return { run: id, job, command, what: `last run of ${job} failed: ${reason} (${command}, started ${started_at})` }
    })
}

/** The jobs whose last run was stopped before its end, by its budget or by a signal. */
export const unfinishedRuns = async (db: Reader): Promise<OpenRun[]> =>
  (await lastRuns(db, true))
    .filter(({ outcome }) => outcome === 'stopped')
    .map(({ id, job, command, started_at, message }) => ({
      run: id,
      job,
      command,
      what: `last run of ${job} did not finish: ${message ?? 'it was stopped.'} (${command}, started ${started_at})`,
    }))
