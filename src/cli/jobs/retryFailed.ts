import type { Job } from '../../job/job.ts'
import { normalizeJob } from '../../job/normalize.ts'
import { planRetry } from '../../plan/planRetry.ts'
import { failedRequests } from '../../reports/failedRequests.ts'
import type { SyncContext } from '../../sync/context.ts'
import { fixedPlan } from '../../sync/planRun.ts'
import { executeRun } from '../../sync/run.ts'
import type { Summary } from '../../sync/sync.ts'
import { readSettings, type SettingFlags } from '../settings/config.ts'
import { readJobs } from './readJobs.ts'

/** The job that retries failed requests, with the pace, lake and notifications of a job file if one is named. */
export function retryJob(args: SettingFlags & { readonly job?: string | undefined }): Job {
  const service = readSettings(args).service.value
  const retrying = normalizeJob({ name: 'retry', series: [] }, service)
  if (args.job === undefined) return retrying
  const [{ pace, keep, lake, notify }] = readJobs([args.job], service) as [Job]
  return { ...retrying, pace, keep, lake, notify }
}

/** Fetches failed requests unchanged, including those for unknown ids (404), which `sync` skips for a while. */
export async function retryFailed(context: SyncContext, job: Job): Promise<Summary> {
  const { store, service, nowMs } = context
  const requests = planRetry({ service, now: Math.floor(nowMs() / 1000) }, await failedRequests(store))
  const run = await executeRun({ ...context, part: 'retry' }, job, 'retry', fixedPlan(requests))
  return { ...run, skipped: [], lackingGeos: [], selected: true, windowHints: [] }
}
