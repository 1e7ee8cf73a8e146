import { isLocked } from '../db/lock.ts'
import { queueStates } from '../db/queries/queues.ts'
import { WORKER } from '../db/queries/workers.ts'
import type { Reader } from '../db/store.ts'

/** A job whose last run failed, with the reason. */
export interface FailedRun {
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
 * The jobs whose last run failed or ended with its process. Runs that were stopped before any request succeeded show nothing: the
 * failure before them remains.
 */
export async function failedRuns(db: Reader): Promise<FailedRun[]> {
  const last = await db.kysely
    .selectFrom('_run')
    .select(['id', 'job', 'command', 'started_at', 'outcome', 'message'])
    .where('id', 'in', (of) =>
      of
        .selectFrom('_run')
        .select(({ fn }) => fn.max('id').as('id'))
        .where('command', '<>', WORKER)
        .where((eb) => eb.or([eb('outcome', '<>', 'stopped'), eb('requests', '>', eb.ref('failed'))]))
        .groupBy('job'),
    )
    .orderBy('job')
    .execute()
  const failed = last.filter(({ outcome }) => !ORDERLY.includes(outcome))
  const isAlive = failed.some(({ outcome }) => outcome === 'running') && (await mayBeRunning(db))
  return failed
    .filter(({ outcome }) => outcome !== 'running' || !isAlive)
    .map(({ id, job, command, started_at, outcome, message }) => {
      const reason = outcome === 'running' ? 'its process ended before the run did' : (message ?? outcome)
      return { run: id, job, command, what: `last run of ${job} failed: ${reason} (${command}, started ${started_at})` }
    })
}
