import type { ExpressionBuilder, Selectable } from 'kysely'
import { isLocked } from '../db/lock.ts'
import { FORGET } from '../db/queries/jobRuns.ts'
import type { Reader } from '../db/store.ts'
import type { Database } from '../db/tables/schema.ts'
import type { RecordedOutcome } from '../util/eventFields.ts'
import { parseNumbers } from '../util/json.ts'
import { subtract } from '../util/time/interval.ts'

/** A job whose last run failed or did not finish. */
export interface IncompleteRun {
  /** Its number (_run.id). */
  readonly run: number
  readonly job: string
  /** The id of the job; null for commands without one. */
  readonly jobId: number | null
  readonly command: string
  /** The command and flags that selected part of the job; null if it was run whole. */
  readonly part: string | null
  /** A sentence with the reason. */
  readonly what: string
  /** The reason alone, and its error code. */
  readonly message: string | null
  readonly code: string | null
  readonly startedAt: string
  /** The start of the first of several runs in a row that ended like this one. */
  readonly sinceAt: string
  /** True if its process died before the run ended. */
  readonly isDead: boolean
}

/** The error code of a run that was not reached because another job ended the command. */
export const NOT_REACHED = 'not-reached'

/** Why a run was not reached. */
export const unreachedText = (endedBy: string): string => `Not started, because job ${endedBy} ended the command.`

const LAST_RUN_COLUMNS = [
  'id',
  'job',
  'job_id',
  'command',
  'part',
  'from_at',
  'to_at',
  'started_at',
  'finished_at',
  'outcome',
  'message',
  'code',
] as const

type LastRun = Pick<Selectable<Database['_run']>, (typeof LAST_RUN_COLUMNS)[number]>

const describeRun = (
  { id, job, job_id, command, part, started_at, finished_at, message, code }: LastRun,
  sinceAt: string,
  state: string,
): IncompleteRun => ({
  run: id,
  message,
  code,
  job,
  jobId: job_id,
  command,
  part,
  what: `last run of ${job} (${part ?? command}, started ${started_at}) ${state}`,
  startedAt: started_at,
  sinceAt,
  isDead: finished_at === null,
})

/** Commands that may request more than their job selects, so that a later run of the job does not replace them. */
const BEYOND_JOB = ['backfill', 'restate']

/** Whether two runs are of one job. A job may have had another name. */
const isSameJob = (a: LastRun, b: LastRun): boolean => a.job_id === b.job_id && (a.job_id !== null || a.job === b.job)

/** Whether a later run replaces a run of a part of a job, or the job was forgotten. */
function replaces(later: LastRun, run: LastRun): boolean {
  if (later.id < run.id || later.part !== null) return false
  // Requests that failed again are listed separately, so the failed retry need not be.
  if (run.command === 'retry') return later.outcome === 'done' || later.outcome === 'partial'
  return isSameJob(later, run) && (later.command === FORGET || !BEYOND_JOB.includes(run.command))
}

/** Whether a run was not stopped before any request succeeded. */
const isNotEmptyStop = (eb: ExpressionBuilder<Database, '_run'>) =>
  eb.or([eb('outcome', '<>', 'stopped'), eb('requests', '>', eb.ref('failed'))])

/** Reads the start of the first of several runs of a job or part in a row that ended like its last one. */
async function readSince(
  { kysely }: Reader,
  { id, job, job_id, part, outcome, code, started_at }: LastRun,
  includesEmptyStops: boolean,
): Promise<string> {
  const earlier = kysely
    .selectFrom('_run')
    .where('job_id', 'is not distinct from', job_id)
    .$if(job_id === null, (runs) => runs.where('job', '=', job))
    .where('part', 'is not distinct from', part)
    .where('id', '<', id)
  const others = earlier
    .select(({ fn }) => fn.max<number | null>('id').as('id'))
    .where((eb) => eb.or([eb('outcome', '<>', outcome), eb('code', 'is distinct from', code)]))
    .$if(!includesEmptyStops, (query) => query.where(isNotEmptyStop))
  const lastOther = (await others.executeTakeFirst())?.id ?? 0
  const first = earlier.select('started_at').where('id', '>', lastOther).where('outcome', '=', outcome)
  return (await first.orderBy('id').limit(1).executeTakeFirst())?.started_at ?? started_at
}

/** The name of a run without a job id; an id identifies a job whatever its name was. */
const nameWithoutId = (eb: ExpressionBuilder<Database, '_run'>) =>
  eb.case().when('job_id', 'is', null).then(eb.ref('job')).else('').end()

/**
 * Reads the last run of each whole job, and of each part that no later run replaces: a part neither clears the failure of the whole
 * nor completes it. `withEmptyStops`: also runs that were stopped before any request succeeded.
 */
async function readLastRuns({ kysely }: Reader, includesEmptyStops: boolean): Promise<LastRun[]> {
  const ids = kysely
    .selectFrom('_run')
    .select(({ fn }) => fn.max('id').as('id'))
    .groupBy((run) => [nameWithoutId(run), 'job_id', 'part'])
    .$if(!includesEmptyStops, (query) => query.where(isNotEmptyStop))
  const runs = await kysely
    .selectFrom('_run')
    .select(LAST_RUN_COLUMNS)
    .where('id', 'in', ids)
    .orderBy('job')
    .orderBy('id')
    .execute()
  return runs.filter((run) => run.part === null || !runs.some((later) => replaces(later, run)))
}

/**
 * Finds the jobs whose last run failed, or whose process died. A run that was stopped before any request succeeded does not clear
 * the failure before it.
 */
export async function findFailedRuns(db: Reader): Promise<IncompleteRun[]> {
  const failed: IncompleteRun[] = []
  for (const run of await withDeadRuns(db, await readLastRuns(db, false)))
    if (run.outcome === 'failed')
      failed.push(describeRun(run, await readSince(db, run, false), `failed: ${run.message ?? 'failed'}`))
  return failed
}

/** The end of a run whose process died. */
export const DIED = { message: 'its process died before the run finished', code: 'died' } as const

/** Marks runs as failed that are recorded as running and whose process has died. */
export async function withDeadRuns<
  Run extends { readonly outcome: RecordedOutcome; readonly message: string | null; readonly code: string | null },
>(db: Reader, runs: readonly Run[]): Promise<Run[]> {
  const isOpen = runs.some(({ outcome }) => outcome === 'running')
  // Undefined: the lock cannot be checked, so the run may be alive.
  if (!isOpen || (await isLocked(db.file)) !== false) return [...runs]
  return runs.map((run) => (run.outcome === 'running' ? { ...run, outcome: 'failed', ...DIED } : run))
}

/** Reads the newest run; null without one. */
export async function readLastRun(db: Reader) {
  const last = db.kysely
    .selectFrom('_run')
    .select([
      'id',
      'job',
      'job_id',
      'command',
      'outcome',
      'message',
      'code',
      'planned',
      'requests',
      'started_at',
      'finished_at',
    ])
    .orderBy('id', 'desc')
    .limit(1)
  const [run = null] = await withDeadRuns(db, await last.execute())
  return run
}

/** Finds the run that is in progress; undefined without one. */
export async function findRunningRun(db: Reader) {
  const run = await readLastRun(db)
  return run?.outcome === 'running' ? run : undefined
}

/**
 * Whether everything in the range of a backfill was fetched, by this run or others, as the spans of its series say. Unknown for jobs with
 * dated listings such as archives, which have none.
 */
async function isFetched(
  { kysely }: Reader,
  { job_id, command, from_at, to_at, started_at }: LastRun,
): Promise<boolean> {
  if (command !== 'backfill' || from_at === null || to_at === null || job_id === null) return false
  const range = { from: from_at, to: Math.min(to_at, Math.floor(Date.parse(started_at) / 1000)) }
  const dated = await kysely
    .selectFrom('_fetch as f')
    .innerJoin('_run as r', 'r.id', 'f.run_id')
    .where('r.job_id', '=', job_id)
    .where('f.series_id', 'is', null)
    .where('f.from_at', 'is not', null)
    .select('f.id')
    .limit(1)
    .executeTakeFirst()
  if (dated) return false
  const duties = await kysely
    .selectFrom('_duty')
    .where('job_id', '=', job_id)
    .select(['series_id', 'geo_ids'])
    .execute()
  for (const { series_id, geo_ids } of duties) {
    const spans = await kysely
      .selectFrom('_span')
      .where('series_id', '=', series_id)
      .select(['geo_id', 'from_at as from', 'to_at as to', 'response'])
      .execute()
    const fetched = spans.flatMap(({ to, response, ...span }) =>
      to === null || response === null ? [] : { ...span, to },
    )
    const geoIds = parseNumbers(geo_ids || null) ?? [...new Set(spans.map(({ geo_id }) => geo_id))]
    const isWhole = (geo: number): boolean =>
      subtract(
        [range],
        fetched.filter(({ geo_id }) => geo_id === geo),
      ).length === 0
    if (geoIds.length === 0 || !geoIds.every(isWhole)) return false
  }
  return duties.length > 0
}

/** Finds the jobs whose last run was stopped by its budget or by a signal, without backfills whose whole range was fetched since. */
export async function findUnfinishedRuns(db: Reader): Promise<IncompleteRun[]> {
  const unfinished: IncompleteRun[] = []
  for (const run of await readLastRuns(db, true))
    if (run.outcome === 'stopped' && !(await isFetched(db, run)))
      unfinished.push(
        describeRun(run, await readSince(db, run, true), `did not finish: ${run.message ?? 'it was stopped.'}`),
      )
  return unfinished
}
