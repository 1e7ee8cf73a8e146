import { ensureMagnitudes, ensureZone } from '../db/queries/referenceTables.ts'
import { findLackingGeos } from '../findings/readers/lackingGeos.ts'
import type { LackingGeos } from '../findings/trouble.ts'
import type { Job } from '../job/job.ts'
import { namesAnything } from '../job/select.ts'
import { emptyWindowHints, outsideHints } from '../job/windowHints.ts'
import { ensureJudged } from '../load/spans/recordSpans.ts'
import { deriveStoredTimelines } from '../load/timelines/deriveTimelines.ts'
import type { SkippedItem } from '../plan/plannerState.ts'
import type { UserOptions } from '../plan/planning.ts'
import { createRegister } from '../plan/requestRegister.ts'
import { refuseExposed } from '../service/key.ts'
import { readCatalogue } from '../state/catalogue.ts'
import { formatUtc, type Instant, toInstant } from '../util/time/instant.ts'
import type { RunSpec, SyncContext } from './context.ts'
import { registerJob } from './jobIdentity.ts'
import { planRun } from './planRun.ts'
import { executeRun, type RunResult } from './run.ts'
import { storeDuties } from './storedDuties.ts'

/** The result of syncing a job. */
export interface Summary extends RunResult {
  /** Items that were not requested because the service does not know them. */
  readonly skipped: readonly SkippedItem[]
  /** Geos of the job for which the service has no values. */
  readonly lackingGeos: readonly LackingGeos[]
  /** Whether anything of the job was selected: `--only` may leave nothing. */
  readonly hasSelection: boolean
  /** Warnings of windows that are empty or begin in the future. */
  readonly windowHints: readonly string[]
  /** The job file whose history the job continues from this run on, because it no longer exists; usually null. */
  readonly takenOver: string | null
  /** The name that the job of this file had before, if it changed; usually null. */
  readonly formerName: string | null
  /** The number of stored ranges that no job requires any more, because the definition of the job changed. */
  readonly unselected: number
}

/** The notes of a summary about its job, for a run without a job. */
export const NO_JOB_NOTES: Omit<Summary, keyof RunResult> = {
  skipped: [],
  lackingGeos: [],
  hasSelection: true,
  windowHints: [],
  takenOver: null,
  formerName: null,
  unselected: 0,
}

/**
 * Plans a job into requests, fetches them into replies, transforms replies into rows, and loads the rows. Throws InputError if the
 * key would go unencrypted to another machine, or if the job is not valid for this database.
 */
export async function sync(context: SyncContext, spec: RunSpec): Promise<Summary> {
  refuseExposed(context)
  const { store } = context
  const { job, options = {}, requested = createRegister(), part = describeSelection(spec) } = spec
  await prepareStore(context)
  const registered = await registerJob(store, job, spec.source, context.nowMs())
  const plan = planRun(context, { job, jobId: registered?.id ?? null, options, requested })
  const executed = await executeRun(context, { ...spec, part }, plan)
  const { skipped, resolvedJob, unselected } = plan.notes
  const now = toInstant(context.nowMs())
  return {
    ...executed,
    skipped: [...skipped.values()],
    lackingGeos: registered ? await findLackingGeos(store, now, registered.id) : [],
    hasSelection: resolvedJob === null || namesAnything(resolvedJob),
    windowHints: findWindowHints(job, options, now),
    takenOver: registered?.takenOver ?? null,
    formerName: registered?.formerName ?? null,
    unselected,
  }
}

/** Brings the database up to date: the zone and the magnitudes of the service, and what follows from series of earlier versions. */
async function prepareStore({ store, service, signal, nowMs }: SyncContext): Promise<void> {
  await ensureZone(store, service.timeZone)
  await ensureMagnitudes(store, service.magnitudes)
  await deriveStoredTimelines(store, service, { signal, nowMs })
  await ensureJudged(store, nowMs())
}

/**
 * Stores the definition and the duties of a job without running it, so that reports list the data that it requires and lacks. Returns
 * its id; null for the jobs of the program itself.
 */
export async function storeDefinition(
  { store, service, nowMs }: Pick<SyncContext, 'store' | 'service' | 'nowMs'>,
  { job, source }: Pick<RunSpec, 'job' | 'source'>,
): Promise<number | null> {
  await ensureZone(store, service.timeZone)
  const registered = await registerJob(store, job, source, nowMs())
  if (!registered) return null
  const planning = { job, service, options: {}, now: toInstant(nowMs()) }
  await storeDuties(store, registered.id, planning, await readCatalogue(store), nowMs())
  return registered.id
}

function findWindowHints(job: Job, { range }: UserOptions, now: Instant): string[] {
  if (!range) return emptyWindowHints(job, now)
  return range.how === 'narrow' ? outsideHints(job, range.interval, now) : []
}

/** The selected part of a job; undefined if it is the whole job. */
function describeSelection({ job, command, options }: RunSpec): string | undefined {
  const range = options?.range
  if (range) return `${command} ${formatUtc(range.interval.from)} to ${formatUtc(range.interval.to)}`
  return job.fullJob && `${command} of ${job.series.flatMap(({ indicators }) => indicators).join(', ')}`
}
