import type { Job } from '../../job/job.ts'
import { normalizeJob } from '../../job/normalize.ts'
import { planRetry } from '../../plan/planRetry.ts'
import { failedRequests } from '../../reports/failedRequests.ts'
import type { SyncContext } from '../../sync/context.ts'
import { executeRun } from '../../sync/run.ts'
import type { Summary } from '../../sync/sync.ts'
import { readSettings, type SettingFlags } from '../settings/config.ts'
import { readJobs } from './jobs.ts'

/** The job under which failed requests are retried, at the pace of a job file if one is given. */
export function retryJob(args: SettingFlags & { readonly job?: string | undefined }): Job {
  const service = readSettings(args).service.value
  const retried = normalizeJob({ name: 'retry', series: [] }, service)
  if (args.job === undefined) return retried
  const [like] = readJobs([args.job], service)
  return { ...retried, pace: like!.pace, keep: like!.keep, lake: like!.lake, notify: like!.notify }
}

/** Fetches failed requests unchanged, also those of unknown ids (404), which a sync leaves alone for a while. */
export async function retryFailed(context: SyncContext, job: Job): Promise<Summary> {
  const { store, service, now } = context
  const requests = planRetry({ service, now: Math.floor(now() / 1000) }, await failedRequests(store))
  const run = await executeRun({ ...context, part: 'retry' }, job, 'retry', [{ requests, total: null }])
  return { ...run, skipped: [], lackingGeos: [], selected: true }
}
