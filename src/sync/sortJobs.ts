import { hasBudget } from '../job/pace.ts'
import { findOldestAttempt } from '../plan/planJob.ts'
import { createRegister } from '../plan/requestRegister.ts'
import { toInstant } from '../util/time/instant.ts'
import type { RunSpec, SyncContext } from './context.ts'
import { findStoredJob } from './jobIdentity.ts'
import { readStateAndCatalogue } from './readPlannerState.ts'
import { previewDuties } from './storedDuties.ts'

/** Reads the last run of each stored job that sent a request. */
async function readLastRuns({ kysely }: SyncContext['store']): Promise<ReadonlyMap<number, number>> {
  const rows = await kysely
    .selectFrom('_run')
    .select(['job_id', ({ fn }) => fn.max('id').as('last')])
    .where('requests', '>', 0)
    .where('job_id', 'is not', null)
    .groupBy('job_id')
    .execute()
  return new Map(rows.map(({ job_id, last }) => [job_id!, last]))
}

/**
 * Sorts the jobs of a command if a budget may end it before the last one: the job whose oldest attempt is the oldest comes first, then
 * the one that waits longest for a run. Jobs with nothing due come last.
 */
export async function sortJobs(
  { store, service, nowMs }: Pick<SyncContext, 'store' | 'service' | 'nowMs'>,
  specs: readonly RunSpec[],
): Promise<readonly RunSpec[]> {
  const jobs = specs.map(({ job }) => job)
  if (jobs.length < 2 || !jobs.some(({ pace }) => hasBudget(pace))) return specs
  const now = toInstant(nowMs())
  const { plannerState, catalogue } = await readStateAndCatalogue(store, jobs)
  const lastRuns = await readLastRuns(store)
  const common = { service, now, plannerState, requested: createRegister() }
  const waiting: { readonly spec: RunSpec; readonly oldest: number; readonly lastRun: number }[] = []
  for (const spec of specs) {
    const { job, source, options = {} } = spec
    const stored = await findStoredJob(store, job.name, source)
    const planning = { ...common, job, jobId: stored?.id ?? null, options }
    const duties = await previewDuties(store, stored?.id, planning, catalogue)
    const oldest = findOldestAttempt({ ...planning, duties }, catalogue)
    const lastRun = (stored && lastRuns.get(stored.id)) ?? 0
    waiting.push({ spec, oldest: oldest ?? Number.POSITIVE_INFINITY, lastRun })
  }
  // Infinities have no difference.
  const compare = (a: number, b: number): number => (a === b ? 0 : a - b)
  waiting.sort((a, b) => compare(a.oldest, b.oldest) || a.lastRun - b.lastRun)
  return waiting.map(({ spec }) => spec)
}
