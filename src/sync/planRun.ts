import type { Job, UserRange } from '../job/job.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { type CatalogueIndicator, needsCatalogue, resolveSelectors } from '../job/select.ts'
import { applyExpectations } from '../load/timelines/expectations.ts'
import { type Duties, groupDuties } from '../plan/duties.ts'
import { createRecall } from '../plan/entries.ts'
import { planJob, selectsInTurn } from '../plan/planJob.ts'
import { planSelection } from '../plan/planListings.ts'
import type { SkippedItem } from '../plan/plannerState.ts'
import type { PlanContext, UserOptions } from '../plan/planning.ts'
import { createRegister, type RequestRegister } from '../plan/requestRegister.ts'
import { readCatalogue } from '../state/catalogue.ts'
import { toInstant } from '../util/time/instant.ts'
import type { SyncContext } from './context.ts'
import { readPlannerState } from './readPlannerState.ts'
import { readDuties, storeDuties } from './storedDuties.ts'

/** Requests that are executed before the next batch is planned. */
export interface Batch {
  readonly requests: Iterable<PlannedRequest>
  /** The number of requests; null if it is not known. */
  readonly total: number | null
  /** Whether later batches depend on it, so that this process executes it even if workers execute the others. */
  readonly isLocal?: boolean
}

/** What planning shows beside the requests. Complete after the last batch. */
export interface PlanNotes {
  /** The items that are skipped because the service does not know them, by route and id. */
  readonly skipped: Map<string, SkippedItem>
  /** The job with the indicators that its selectors match; null until the catalogue is loaded. */
  resolvedJob: Job | null
  /** The number of stored ranges that are no longer required, because the definition of the job changed. */
  unselected: number
}

const createNotes = (): PlanNotes => ({ skipped: new Map(), resolvedJob: null, unselected: 0 })

/** The requests of a run. */
export interface RunPlan {
  /** The stored job; null for the commands that have none. */
  readonly jobId: number | null
  /** The range of the user, if any. */
  readonly range?: UserRange | undefined
  /** Plans each batch when the one before is loaded. */
  readonly batches: AsyncIterable<Batch>
  readonly notes: PlanNotes
}

/** A plan of requests that are known already. */
export const createFixedPlan = (requests: Iterable<PlannedRequest>): RunPlan => ({
  jobId: null,
  batches: (async function* () {
    yield { requests, total: null }
  })(),
  notes: createNotes(),
})

/** A job to plan, with the options of the user. */
interface PlanRequest {
  readonly job: Job
  readonly jobId: number | null
  readonly options: UserOptions
  readonly requested: RequestRegister
}

/** Plans the requests of a job in at most two batches: the catalogue, if the job selects by it and it is missing, then everything else. */
export function planRun(context: SyncContext, request: PlanRequest): RunPlan {
  const notes = createNotes()
  const { jobId, options } = request
  return { jobId, range: options.range, batches: planBatches(context, request, notes), notes }
}

async function* planBatches(context: SyncContext, request: PlanRequest, notes: PlanNotes): AsyncGenerator<Batch, void> {
  const { store, service, nowMs } = context
  const { job, jobId, requested } = request
  const onSkipped = (item: SkippedItem): void => void notes.skipped.set(`${item.route} ${item.id}`, item)
  /** Reads the current state of the database. */
  const read = async () => {
    const catalogue = needsCatalogue(job) ? await readCatalogue(store) : []
    const now = toInstant(nowMs())
    const plannerState = await readPlannerState(store, [job])
    return { catalogue, planning: { ...request, service, now, plannerState, onSkipped } }
  }
  /** Stores what the whole job requires, even if only a part of it is requested. */
  const rememberDuties = async (planning: PlanContext, catalogue: readonly CatalogueIndicator[]): Promise<Duties> => {
    if (jobId === null) return groupDuties([])
    const { duties, unselected } = await storeDuties(store, jobId, planning, catalogue, nowMs())
    notes.unselected += unselected
    await applyExpectations(store, service, planning.now)
    return duties
  }
  let state = await read()
  if (!selectsInTurn(job, state.catalogue)) {
    const { planning, catalogue } = state
    // Without a catalogue, request it again even if an earlier job of the same command did so in vain.
    const planned = catalogue.length > 0 ? planning : { ...planning, requested: createRegister() }
    const missing = [...planSelection(planned)]
    if (missing.length > 0) {
      await rememberDuties(planning, [])
      yield { requests: missing, total: missing.length, isLocal: true }
      state = await read()
      // Failed requests are still due, and reported. An empty catalogue is a valid reply that selects nothing.
      if (needsCatalogue(job) && state.catalogue.length === 0) {
        const stillDue = [...planSelection({ ...state.planning, requested: createRegister() })]
        if (stillDue.length > 0) return
      }
    }
  }
  const { planning, catalogue } = state
  const stored = jobId === null ? [] : await readDuties(store, jobId)
  notes.resolvedJob = resolveSelectors(job, catalogue, createRecall(groupDuties(stored)))
  const selecting = selectsInTurn(job, catalogue) ? job : undefined
  const duties = await rememberDuties(planning, catalogue)
  const plan = planJob({ ...planning, job: notes.resolvedJob, duties, selecting, requested })
  yield { requests: plan, total: plan.total }
}
