import type { Selectable } from 'kysely'
import { isLocked } from '../db/lock.ts'
import { FORGET } from '../db/queries/jobRuns.ts'
import type { Reader } from '../db/store.ts'
import type { Database } from '../db/tables/schema.ts'
import type { RecordedOutcome } from '../util/eventFields.ts'

/** A job whose last run failed or did not finish, with the reason. */
export interface IncompleteRun {
  /** Its number (_run.id). */
  readonly run: number
  readonly job: string
  readonly command: string
  /** The command and flags that selected part of the job; null if it was run whole. */
  readonly part: string | null
  readonly what: string
  readonly startedAt: string
  /** True if its process died before the run ended. */
  readonly isDead: boolean
}

/** Why a run that is recorded as running is over. */
const DIED = 'its process died before the run finished'

/** Whether a process has the lock, so that a run recorded as running may be alive. */
const mayBeRunning = async ({ file }: Reader): Promise<boolean> => (await isLocked(file)) !== false

type RunRow = Pick<
  Selectable<Database['_run']>,
  'id' | 'job' | 'command' | 'part' | 'started_at' | 'finished_at' | 'message'
>

/** A run with a sentence about it. */
const described = ({ id, job, command, part, started_at, finished_at }: RunRow, state: string): IncompleteRun => ({
  run: id,
  job,
  command,
  part,
  what: `last run of ${job} (${part ?? command}, started ${started_at}) ${state}`,
  startedAt: started_at,
  isDead: finished_at === null,
})

/** Commands that request what their job need not: a later run of the job does not make up for them. */
const BEYOND_JOB = ['backfill', 'restate']

/** Whether a later run makes up for a run of a part of a job, or the job was forgotten. */
function makesUpFor(
  later: Pick<RunRow, 'id' | 'job' | 'command' | 'part'> & { outcome: string },
  run: RunRow,
): boolean {
  if (later.id < run.id || later.part !== null) return false
  if (run.command === 'retry') return later.outcome === 'done'
  return later.job === run.job && (later.command === FORGET || !BEYOND_JOB.includes(run.command))
}

/**
 * The last run of each whole job, and of each part of it that no later run makes up for: a part neither clears the failure of the whole
 * nor completes it.
 * `withEmptyStops`: also runs that were stopped before any request succeeded.
 */
async function readLastRuns({ kysely }: Reader, withEmptyStops: boolean) {
  const runs = await kysely
    .selectFrom('_run')
    .select(['id', 'job', 'command', 'part', 'started_at', 'finished_at', 'outcome', 'message'])
    .where('id', 'in', (of) => {
      const last = of
        .selectFrom('_run')
        .select(({ fn }) => fn.max('id').as('id'))
        .groupBy(['job', 'part'])
      return withEmptyStops
        ? last
        : last.where((eb) => eb.or([eb('outcome', '<>', 'stopped'), eb('requests', '>', eb.ref('failed'))]))
    })
    .orderBy('job')
    .orderBy('id')
    .execute()
  return runs.filter((run) => run.part === null || !runs.some((later) => makesUpFor(later, run)))
}

/**
 * The jobs whose last run failed or ended with its process. A run that was stopped before any request succeeded does not clear the
 * failure before it.
 */
export const failedRuns = async (db: Reader): Promise<IncompleteRun[]> =>
  (await withDeadRuns(db, await readLastRuns(db, false)))
    .filter(({ outcome }) => outcome === 'failed')
    .map((row) => described(row, `failed: ${row.message ?? 'failed'}`))

/** The same runs, with those as failed that are recorded as running and whose process has ended. */
export async function withDeadRuns<Run extends { readonly outcome: RecordedOutcome; readonly message: string | null }>(
  db: Reader,
  runs: readonly Run[],
): Promise<Run[]> {
  const isOpen = runs.some(({ outcome }) => outcome === 'running')
  if (!isOpen || (await mayBeRunning(db))) return [...runs]
  return runs.map((run) => (run.outcome === 'running' ? { ...run, outcome: 'failed', message: DIED } : run))
}

/** The jobs whose last run was stopped before its end, by its budget or by a signal. */
export const unfinishedRuns = async (db: Reader): Promise<IncompleteRun[]> =>
  (await readLastRuns(db, true))
    .filter(({ outcome }) => outcome === 'stopped')
    .map((row) => described(row, `did not finish: ${row.message ?? 'it was stopped.'}`))
