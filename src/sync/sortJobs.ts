import type { Job } from '../job/job.ts'
import { hasBudget } from '../job/pace.ts'
import { findOldestAttempt } from '../plan/planJob.ts'
import type { UserOptions } from '../plan/planning.ts'
import { createRegister } from '../plan/requestRegister.ts'
import type { SyncContext } from './context.ts'
import { readStateAndCatalogue } from './readPlannerState.ts'

/** Reads the last run of each job that sent a request, by its id. */
async function readLastRuns({ kysely }: SyncContext['store']): Promise<ReadonlyMap<string, number>> {
  const rows = await kysely
    .selectFrom('_run')
    .select(['job', ({ fn }) => fn.max('id').as('last')])
    .where('requests', '>', 0)
    .groupBy('job')
    .execute()
  return new Map(rows.map(({ job, last }) => [job, last]))
}

/**
 * Sorts the jobs of a command if a budget may end it before the last one: the job whose oldest attempt is the oldest comes first, then
 * the one that waits longest for a run. Jobs with nothing due come last.
 */
export async function sortJobs(
  { store, service, nowMs }: Pick<SyncContext, 'store' | 'service' | 'nowMs'>,
  jobs: readonly Job[],
  optionsFor: (job: Job) => UserOptions,
): Promise<readonly Job[]> {
  if (jobs.length < 2 || !jobs.some(({ pace }) => hasBudget(pace))) return jobs
  const now = Math.floor(nowMs() / 1000)
  const { plannerState, catalogue } = await readStateAndCatalogue(store, now, jobs)
  const lastRuns = await readLastRuns(store)
  const common = { service, now, plannerState, requested: createRegister() }
  const waiting = jobs.map((job) => ({
    job,
    oldest: findOldestAttempt({ ...common, job, options: optionsFor(job) }, catalogue) ?? Number.POSITIVE_INFINITY,
    lastRun: lastRuns.get(job.name) ?? 0,
  }))
  // Infinities have no difference.
  const compare = (a: number, b: number): number => (a === b ? 0 : a - b)
  waiting.sort((a, b) => compare(a.oldest, b.oldest) || a.lastRun - b.lastRun)
  return waiting.map(({ job }) => job)
}
