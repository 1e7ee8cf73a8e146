import { lockForRun } from '../db/lock.ts'
import { ensureMagnitudes, ensureZone } from '../db/queries/referenceTables.ts'
import type { Store } from '../db/store.ts'
import type { Job } from '../job/job.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { SkippedItem } from '../job/plannerState.ts'
import { applySelectors, type Listed, namesAnything, needsCatalogue, resolveSelectors } from '../job/select.ts'
import { namesGeos, wantedSeries } from '../plan/entries.ts'
import { planSelection } from '../plan/listings.ts'
import { planJob } from '../plan/planJob.ts'
import type { Planning, PlanOptions } from '../plan/planning.ts'
import { createRequested } from '../plan/requested.ts'
import { findLackingGeos, type LackingGeos, namedGeos } from '../reports/lackingGeos.ts'
import { refuseExposed } from '../service/key.ts'
import { countItems } from '../util/count.ts'
import { formatUtc } from '../util/time/instant.ts'
import type { SyncContext } from './context.ts'
import { readCatalogue } from './readCatalogue.ts'
import { readPlannerState } from './readPlannerState.ts'
import { type Executed, executeRun, type Step } from './run.ts'
import { rememberWanted } from './wanted.ts'

/** The result of syncing a job. */
export interface Summary extends Executed {
  /** Items that were not requested because the service does not know them. */
  readonly skipped: readonly SkippedItem[]
  /** Geos of the job for which the service has no values. */
  readonly lackingGeos: readonly LackingGeos[]
  /** Whether anything of the job was selected: `--only` may leave nothing. */
  readonly selected: boolean
}

/**
 * A job is planned into requests, requests are fetched into replies, replies are transformed into rows, rows are loaded. Throws
 * InputError if the key would go unencrypted to another machine, and BusyError if another writer has the database.
 */
export async function sync(
  given: SyncContext,
  job: Job,
  command = 'sync',
  options: PlanOptions = {},
): Promise<Summary> {
  const part = given.part ?? describePart(job, command, options)
  const context = { ...given, part, requested: given.requested ?? createRequested() }
  refuseExposed(context)
  const { store, now } = context
  const unlock = await lockForRun(store, `${command} ${job.name}`, now)
  try {
    await ensureZone(store, context.service.timeZone)
    await ensureMagnitudes(store, context.service.magnitudes)
    const skipped = new Map<string, SkippedItem>()
    const planning = await openPlanning(context, job, options, (one) => skipped.set(`${one.route} ${one.id}`, one))
    const selection: Selection = { job: null }
    const executed = await executeRun(
      context,
      job,
      command,
      planSteps(context, planning, selection),
      () => skipped.size,
    )
    return {
      ...executed,
      skipped: [...skipped.values()],
      lackingGeos: selection.job ? await findLackingGeos(store, namedGeos(selection.job)) : [],
      selected: selection.job === null || namesAnything(selection.job),
    }
  } finally {
    await unlock()
  }
}

/** The part of a job that is requested; undefined if it is all of it. */
function describePart(job: Job, command: string, { range }: PlanOptions): string | undefined {
  if (range) return `${command} ${formatUtc(range.interval.from)} to ${formatUtc(range.interval.to)}`
  return job.whole && `${command} of ${job.series.flatMap(({ indicators }) => indicators).join(', ')}`
}

/** The job with the indicators that it selects; null until the catalogue is there. */
interface Selection {
  job: Job | null
}

/** What planning a job needs, as of now. */
async function openPlanning(
  { store, service, now, requested = createRequested() }: SyncContext,
  job: Job,
  options: PlanOptions,
  onSkipped: Planning['onSkipped'],
): Promise<Planning> {
  const at = Math.floor(now() / 1000)
  const plannerState = await readPlannerState(store, at)
  return { job, service, plannerState, now: at, options, requested, ...(onSkipped ? { onSkipped } : {}) }
}

/**
 * Plans the requests of a job: first those for the catalogue, if indicators are selected by their catalogue entries and it is missing,
 * then all others.
 */
async function* planSteps(context: SyncContext, first: Planning, selection: Selection): AsyncGenerator<Step, void> {
  const { store, signal, later = [] } = context
  const { job, options, requested } = first
  const jobs = namesGeos(job) ? [job, ...later.map((one) => one.job)] : [job]
  const readListed = async () => (jobs.some(needsCatalogue) ? await readCatalogue(store) : [])
  // While there is no catalogue, request it again even if an earlier job of the same command did so without success.
  const anew = (await readListed()).length > 0 ? {} : { requested: createRequested() }
  const missing: PlannedRequest[] = jobs.flatMap((one) => [...planSelection({ ...first, ...anew, job: one })])
  let planning = first
  if (missing.length > 0) {
    await rememberSelected(store, first, [])
    yield { requests: missing, total: missing.length, isLocal: true }
    planning = await openPlanning(context, job, options, first.onSkipped)
  }
  const catalogue = await readListed()
  // Still due: its requests failed, and are reported. An empty catalogue is an answer, and selects nothing.
  const isDue = () => [...planSelection({ ...planning, requested: createRequested() })].length > 0
  if (missing.length > 0 && needsCatalogue(job) && catalogue.length === 0 && isDue()) return
  selection.job = resolveSelectors(job, catalogue)
  planning = {
    ...planning,
    job: selection.job,
    later: later.map((one) => ({ ...one, job: applySelectors(one.job, catalogue) })),
  }
  await rememberSelected(store, planning, catalogue)
  // Counted first for the estimate of the time left. Planning is quick, and the plan is never in memory as a whole.
  const total = await countItems(planJob({ ...planning, requested: requested.copy() }), signal)
  yield { requests: planJob(planning), total }
}

/**
 * Stores the ranges that the whole job selects, also if a part of it is requested: the view `gaps` lists those that were never
 * requested. While the catalogue is missing, ranges of selected indicators stay as they were.
 */
async function rememberSelected(store: Store, planning: Planning, catalogue: readonly Listed[]): Promise<void> {
  const { whole = planning.job } = planning.job
  const isUnknown = needsCatalogue(whole) && catalogue.length === 0
  const job = applySelectors(whole, catalogue)
  await rememberWanted(store, planning, wantedSeries({ ...planning, job }), isUnknown)
}
