import { countJobGaps } from '../findings/findGaps.ts'
import type { Job } from '../job/job.ts'
import { NO_COUNTS } from '../load/counts.ts'
import { createRegister } from '../plan/requestRegister.ts'
import { NOT_REACHED, unreachedText } from '../state/lastRuns.ts'
import { NoReplyError, StoppedError, type SyncError } from '../util/errors.ts'
import { toInstant } from '../util/time/instant.ts'
import type { RunSpec, SyncContext } from './context.ts'
import { endRun, openRun } from './record.ts'
import { sortJobs } from './sortJobs.ts'
import { NO_JOB_NOTES, type Summary, storeDefinition, sync } from './sync.ts'

/** How jobs are run. */
interface RunJobsOptions {
  /** Runs one job. Default: `sync`. */
  readonly syncOne?: (context: SyncContext, spec: RunSpec) => Promise<Summary>
  /** Updates the lake of a job. Returns the error if that fails. */
  readonly publish?: (job: Job) => Promise<SyncError | null>
  /** Called after each job, also after one that was not reached. */
  readonly onEnded?: (job: Job, summary: Summary) => Promise<void>
}

/**
 * Runs jobs one after the other. A job that ends early ends the others, unless it got no reply at all. With a budget, a job that it did
 * not reach comes first in the next command.
 */
export async function runJobs(
  context: SyncContext,
  specs: readonly RunSpec[],
  { syncOne = sync, publish, onEnded }: RunJobsOptions = {},
): Promise<Summary[]> {
  const requested = createRegister()
  const summaries: Summary[] = []
  let stoppedBy: Job | null = null
  const inTurn = await sortJobs(context, specs)
  for (const [i, spec] of inTurn.entries()) {
    const { job } = spec
    // Jobs with the same lake publish to it once, after the last of them.
    const isLast = inTurn.slice(i + 1).every((later) => later.job.lake !== job.lake)
    const summary: Summary = stoppedBy
      ? await recordUnreached(context, spec, stoppedBy)
      : await syncOne(context, { ...spec, requested, publish: publish && isLast ? () => publish(job) : undefined })
    if (summary.earlyEnd && !(summary.earlyEnd instanceof NoReplyError)) stoppedBy ??= job
    summaries.push(summary)
    await onEnded?.(job, summary)
  }
  return summaries
}

/** The error of a job that was not reached because another one ended the command. */
export const createUnreachedError = (stoppedBy: string): StoppedError =>
  new StoppedError(unreachedText(stoppedBy), {
    hint: 'Run the same command again, or this job alone.',
    code: NOT_REACHED,
  })

/** Records a job that was not reached because an earlier one ended the command: `check` reports it as unfinished. */
async function recordUnreached(context: SyncContext, spec: RunSpec, stoppedBy: Job): Promise<Summary> {
  const { job, command } = spec
  const earlyEnd = createUnreachedError(stoppedBy.name)
  const jobId = await storeDefinition(context, spec)
  const run = await openRun(context, spec, { jobId })
  await endRun(run, 'stopped', earlyEnd)
  return {
    runId: run.id,
    job: job.name,
    command,
    isPart: spec.part !== undefined,
    outcome: 'stopped',
    counts: NO_COUNTS,
    gaps: await countJobGaps(context.store, jobId, job, toInstant(context.nowMs())),
    failures: [],
    seconds: 0,
    earlyEnd,
    ...NO_JOB_NOTES,
  }
}
