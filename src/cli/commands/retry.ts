import type { Job } from '../../job/job.ts'
import { normalizeJob } from '../../job/normalize.ts'
import { planRetry } from '../../plan/planRetry.ts'
import { readRetryRequests } from '../../reports/failedRequests.ts'
import type { SyncContext } from '../../sync/context.ts'
import { createFixedPlan } from '../../sync/planRun.ts'
import { executeRun } from '../../sync/run.ts'
import type { Summary } from '../../sync/sync.ts'
import type { Args } from '../command.ts'
import { JSON_FLAG, RUN_FLAGS } from '../flags.ts'
import { readJobs } from '../jobs/readJobs.ts'
import { runAndPrint } from '../jobs/runAndPrint.ts'
import { readSettings } from '../settings/config.ts'
import { withReader } from '../settings/databases.ts'

export const positionals = {
  job: { type: 'string', describe: 'Job file (YAML) whose rate limit and call budget apply' },
} as const
export const flags = { ...RUN_FLAGS, ...JSON_FLAG } as const
export const examples = ['retry', 'retry jobs/nightly.yaml']

type RetryArgs = Args<typeof flags, typeof positionals>

/** The job that retries failed requests, with the pace, lake and notifications of a job file if one is named. */
function retryJob(args: RetryArgs): Job {
  const service = readSettings(args).service.value
  const retrying = normalizeJob({ name: 'retry', series: [] }, service)
  if (args.job === undefined) return retrying
  const [{ pace, keep, lake, notify }] = readJobs([args.job], service) as [Job]
  return { ...retrying, pace, keep, lake, notify }
}

/** Fetches failed requests unchanged, including those for unknown ids (404), which `sync` skips for a while. */
async function retryFailed(context: SyncContext, job: Job): Promise<Summary> {
  const { store, service, nowMs } = context
  const requests = planRetry({ service, now: Math.floor(nowMs() / 1000) }, await readRetryRequests(store))
  const run = await executeRun({ ...context, partCommand: 'retry' }, job, 'retry', createFixedPlan(requests))
  return { ...run, skipped: [], lackingGeos: [], hasSelection: true, windowHints: [], takenOver: null, unwanted: 0 }
}

export async function handler(args: RetryArgs): Promise<number> {
  // Nothing can have failed in a database that does not exist: its name is a mistake.
  await withReader(readSettings(args).database.value, () => undefined)
  return runAndPrint(args, 'retry', { jobs: [retryJob(args)], runOne: retryFailed })
}
