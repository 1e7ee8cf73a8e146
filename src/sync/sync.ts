import { ensureMagnitudes, ensureZone } from '../db/queries/referenceTables.ts'
import type { Job } from '../job/job.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { SkippedItem } from '../job/plannerState.ts'
import { applySelectors, type Listed, namesAnything, needsCatalogue, resolveSelectors } from '../job/select.ts'
import { namesGeos, selectedRanges } from '../plan/entries.ts'
import { planJob } from '../plan/planJob.ts'
import { planSelection } from '../plan/planListings.ts'
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
import { storeSelectedRanges } from './selectedRanges.ts'

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
 * Plans a job into requests, fetches them into replies, transforms replies into rows, and loads the rows. Throws InputError if the
 * key would go unencrypted to another machine, or if the job is not valid for this database.
 */
export async function sync(
  context: SyncContext,
  job: Job,
  command = 'sync',
  options: PlanOptions = {},
): Promise<Summary> {
  refuseExposed(context)
  const { store, service, requested = createRequested(), part = describePart(job, command, options) } = context
  await ensureZone(store, service.timeZone)
  await ensureMagnitudes(store, service.magnitudes)
  const skipped = new Map<string, SkippedItem>()
  const onSkipped = (item: SkippedItem): void => void skipped.set(`${item.route} ${item.id}`, item)
  const request: PlanRequest = { job, options, requested, onSkipped }
  const resolved: ResolvedJob = { job: null }
  const steps = planSteps(context, request, resolved)
  const executed = await executeRun({ ...context, part }, job, command, steps, () => skipped.size)
  return {
    ...executed,
    skipped: [...skipped.values()],
    lackingGeos: resolved.job ? await findLackingGeos(store, namedGeos(resolved.job)) : [],
    selected: resolved.job === null || namesAnything(resolved.job),
  }
}

/** The selected part of a job; undefined if it is the whole job. */
function describePart(job: Job, command: string, { range }: PlanOptions): string | undefined {
  if (range) return `${command} ${formatUtc(range.interval.from)} to ${formatUtc(range.interval.to)}`
  return job.whole && `${command} of ${job.series.flatMap(({ indicators }) => indicators).join(', ')}`
}

/** A job to plan, with the options of the user. */
type PlanRequest = Pick<Planning, 'job' | 'options' | 'requested' | 'onSkipped'>

/** The job with the indicators that its selectors match; null until the catalogue is loaded. */
interface ResolvedJob {
  job: Job | null
}

/** Reads the current state of the database for the planner. */
async function readPlanning({ store, service, now: clock }: SyncContext, request: PlanRequest): Promise<Planning> {
  const now = Math.floor(clock() / 1000)
  return { ...request, service, now, plannerState: await readPlannerState(store, now) }
}

/**
 * Plans the requests of a job in at most two steps: the catalogue, if the job selects indicators by it and it is missing, then
 * everything else.
 */
async function* planSteps(
  context: SyncContext,
  request: PlanRequest,
  resolved: ResolvedJob,
): AsyncGenerator<Step, void> {
  const { store, signal, later = [] } = context
  const { job, requested } = request
  const jobs = namesGeos(job) ? [job, ...later.map((next) => next.job)] : [job]
  const readListed = async () => (jobs.some(needsCatalogue) ? await readCatalogue(store) : [])
  let planning = await readPlanning(context, request)
  const planCatalogue = (state: Planning): PlannedRequest[] =>
    jobs.flatMap((selecting) => [...planSelection({ ...state, job: selecting })])
  // Without a catalogue, request it again even if an earlier job of the same command did so in vain.
  const isListed = (await readListed()).length > 0
  const missing = planCatalogue(isListed ? planning : { ...planning, requested: createRequested() })
  if (missing.length > 0) {
    await rememberSelected(context, planning, [])
    yield { requests: missing, total: missing.length, isLocal: true }
    planning = await readPlanning(context, request)
  }
  const catalogue = await readListed()
  if (missing.length > 0 && needsCatalogue(job) && catalogue.length === 0) {
    // Failed requests are still due, and reported. An empty catalogue is a valid reply that selects nothing.
    const stillDue = [...planSelection({ ...planning, requested: createRequested() })]
    if (stillDue.length > 0) return
  }
  resolved.job = resolveSelectors(job, catalogue)
  planning = {
    ...planning,
    job: resolved.job,
    later: later.map((next) => ({ ...next, job: applySelectors(next.job, catalogue) })),
  }
  await rememberSelected(context, planning, catalogue)
  // Planned twice, the first time to count: planning is quick, and the whole plan is never in memory.
  const total = await countItems(planJob({ ...planning, requested: requested.copy() }), signal)
  yield { requests: planJob(planning), total }
}

/**
 * Stores the ranges that the whole job selects, even if only a part of it is requested: the view `gaps` lists ranges that were
 * never requested. While the catalogue is missing, the stored ranges of selectors stay.
 */
async function rememberSelected(
  { store, now }: SyncContext,
  planning: Planning,
  catalogue: readonly Listed[],
): Promise<void> {
  const { whole = planning.job } = planning.job
  const isCatalogueMissing = needsCatalogue(whole) && catalogue.length === 0
  const job = applySelectors(whole, catalogue)
  await storeSelectedRanges(store, planning, now(), selectedRanges({ ...planning, job }), isCatalogueMissing)
}
