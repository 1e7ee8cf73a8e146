import { ensureMagnitudes, ensureZone } from '../db/queries/referenceTables.ts'
import type { Job } from '../job/job.ts'
import type { SkippedItem } from '../job/plannerState.ts'
import { namesAnything } from '../job/select.ts'
import { emptyWindowHints, outsideHints } from '../job/windowHints.ts'
import { ensureJudged } from '../load/spans/recordSpans.ts'
import type { UserOptions } from '../plan/planning.ts'
import { createRegister } from '../plan/requestRegister.ts'
import { findLackingGeos, type LackingGeos, listNamedGeos } from '../reports/lackingGeos.ts'
import { refuseExposed } from '../service/key.ts'
import { formatUtc, type Instant } from '../util/time/instant.ts'
import type { SyncContext } from './context.ts'
import { planRun } from './planRun.ts'
import { executeRun, type RunResult } from './run.ts'

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
}

/**
 * Plans a job into requests, fetches them into replies, transforms replies into rows, and loads the rows. Throws InputError if the
 * key would go unencrypted to another machine, or if the job is not valid for this database.
 */
export async function sync(
  context: SyncContext,
  job: Job,
  command = 'sync',
  options: UserOptions = {},
): Promise<Summary> {
  refuseExposed(context)
  const {
    store,
    service,
    requested = createRegister(),
    partCommand = describeSelection(job, command, options),
  } = context
  await ensureZone(store, service.timeZone)
  await ensureMagnitudes(store, service.magnitudes)
  await ensureJudged(store, context.nowMs())
  const plan = planRun(context, { job, options, requested })
  const executed = await executeRun({ ...context, partCommand }, job, command, plan)
  const { resolvedJob } = plan
  return {
    ...executed,
    skipped: [...plan.skipped.values()],
    lackingGeos: resolvedJob ? await findLackingGeos(store, listNamedGeos(resolvedJob)) : [],
    hasSelection: resolvedJob === null || namesAnything(resolvedJob),
    windowHints: findWindowHints(job, options, Math.floor(context.nowMs() / 1000)),
  }
}

function findWindowHints(job: Job, { range }: UserOptions, now: Instant): string[] {
  if (!range) return emptyWindowHints(job, now)
  return range.how === 'narrow' ? outsideHints(job, range.interval, now) : []
}

/** The selected part of a job; undefined if it is the whole job. */
function describeSelection(job: Job, command: string, { range }: UserOptions): string | undefined {
  if (range) return `${command} ${formatUtc(range.interval.from)} to ${formatUtc(range.interval.to)}`
  return job.fullJob && `${command} of ${job.series.flatMap(({ indicators }) => indicators).join(', ')}`
}
