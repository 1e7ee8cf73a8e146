import { setImmediate } from 'node:timers/promises'
import type { Job, UserRange } from '../job/job.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { SkippedItem } from '../job/plannerState.ts'
import { type CatalogueIndicator, needsCatalogue, resolveSelectors } from '../job/select.ts'
import { applyExpectations } from '../load/timelines/expectations.ts'
import { groupDuties } from '../plan/duties.ts'
import { createRecall } from '../plan/entries.ts'
import { planJob, selectsInTurn } from '../plan/planJob.ts'
import { planSelection } from '../plan/planListings.ts'
import type { PlanContext } from '../plan/planning.ts'
import { createRegister } from '../plan/requestRegister.ts'
import type { SyncContext } from './context.ts'
import { readCatalogue } from './readCatalogue.ts'
import { readPlannerState } from './readPlannerState.ts'
import { readDuties, storeDuties } from './storedDuties.ts'

/** Requests that are executed before the next batch is planned. */
export interface Batch {
  readonly requests: Iterable<PlannedRequest>
  /** The number of requests; null if there are too many to count. */
  readonly total: number | null
  /** Whether later batches depend on it, so that this process executes it even if workers execute the others. */
  readonly isLocal?: boolean
}

/** The plan of a run. */
export interface RunPlan {
  /** Plans the batches while the run executes them, and notes below what that shows. */
  readonly batches: () => AsyncGenerator<Batch, void>
  /** The range of the user, if any. */
  readonly range?: UserRange
  /** The items that are skipped because the service does not know them, by route and id. */
  readonly skipped: Map<string, SkippedItem>
  /** The stored job; null for the commands that have none. */
  readonly jobId: number | null
  /** The job with the indicators that its selectors match; null until the catalogue is loaded. */
  resolvedJob: Job | null
  /** The number of stored ranges that are no longer required, because the definition of the job changed. */
  unselected: number
}

/** A plan of requests that are known already. */
export const createFixedPlan = (requests: Iterable<PlannedRequest>): RunPlan => ({
  async *batches() {
    yield { requests, total: null }
  },
  skipped: new Map(),
  jobId: null,
  resolvedJob: null,
  unselected: 0,
})

/** A job to plan, with the options of the user. */
type PlanRequest = Pick<PlanContext, 'job' | 'jobId' | 'options' | 'requested' | 'onSkipped'>

/**
 * Plans the requests of a job in at most two batches: the catalogue, if the job selects indicators by it and it is missing, then
 * everything else.
 */
export function planRun(
  context: SyncContext,
  request: Omit<PlanRequest, 'jobId' | 'onSkipped'>,
  jobId: number | null,
): RunPlan {
  const { range } = request.options
  const plan: RunPlan = {
    batches: () => planBatches(context, { ...request, jobId, onSkipped }, plan),
    skipped: new Map(),
    jobId,
    resolvedJob: null,
    unselected: 0,
    ...(range && { range }),
  }
  const onSkipped = (item: SkippedItem): void => void plan.skipped.set(`${item.route} ${item.id}`, item)
  return plan
}

/** Reads the current state of the database for the planner. */
async function readPlanning({ store, service, nowMs }: SyncContext, request: PlanRequest): Promise<PlanContext> {
  const now = Math.floor(nowMs() / 1000)
  return { ...request, service, now, plannerState: await readPlannerState(store, [request.job]) }
}

async function* planBatches(context: SyncContext, request: PlanRequest, plan: RunPlan): AsyncGenerator<Batch, void> {
  const { store, signal } = context
  const { job, requested } = request
  const readSelectable = async () => (needsCatalogue(job) ? await readCatalogue(store) : [])
  /** Stores what the whole job requires, even if only a part of it is requested. */
  const rememberDuties = async (planning: PlanContext, catalogue: readonly CatalogueIndicator[]) => {
    if (plan.jobId === null) return groupDuties([])
    const { duties, unselected } = await storeDuties(store, plan.jobId, planning, catalogue, context.nowMs())
    plan.unselected += unselected
    await applyExpectations(store, context.service, planning.now)
    return duties
  }
  let planning = await readPlanning(context, request)
  let catalogue = await readSelectable()
  // Without a catalogue, request it again even if an earlier job of the same command did so in vain.
  const planned = catalogue.length > 0 ? planning : { ...planning, requested: createRegister() }
  const missing = selectsInTurn(job, catalogue) ? [] : [...planSelection(planned)]
  if (missing.length > 0) {
    await rememberDuties(planning, [])
    yield { requests: missing, total: missing.length, isLocal: true }
    planning = await readPlanning(context, request)
    catalogue = await readSelectable()
    if (needsCatalogue(job) && catalogue.length === 0) {
      // Failed requests are still due, and reported. An empty catalogue is a valid reply that selects nothing.
      const stillDue = [...planSelection({ ...planning, requested: createRegister() })]
      if (stillDue.length > 0) return
    }
  }
  const stored = plan.jobId === null ? [] : await readDuties(store, plan.jobId)
  const resolvedJob = resolveSelectors(job, catalogue, createRecall(groupDuties(stored)))
  plan.resolvedJob = resolvedJob
  const selecting = selectsInTurn(job, catalogue) ? job : undefined
  const duties = await rememberDuties(planning, catalogue)
  planning = { ...planning, job: resolvedJob, duties }
  // Planned twice, the first time to count: planning is quick, and the whole plan is never in memory.
  const total = await countRequests(planJob({ ...planning, selecting, requested: requested.copy() }), signal)
  yield { requests: planJob({ ...planning, selecting }), total }
}

/** Counting stops here. */
const MAX_COUNT = 1_000_000

/** Counts planned requests; null if there are too many or the signal is aborted. */
export async function countRequests(requests: Iterable<PlannedRequest>, signal: AbortSignal): Promise<number | null> {
  let count = 0
  for (const _ of requests) {
    if (++count > MAX_COUNT) return null
    if (count % 4096 === 0) await setImmediate()
    if (signal.aborted) return null
  }
  return count
}
