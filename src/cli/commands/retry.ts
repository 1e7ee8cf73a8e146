import { normalizeJob } from '../../job/normalize.ts'
import { planRetry } from '../../plan/retry.ts'
import { failedRequests } from '../../reports/failedRequests.ts'
import { executeRun } from '../../sync/run.ts'
import type { Args } from '../command.ts'
import { JSON_FLAG, RUN_FLAGS } from '../flags.ts'
import { readJobs } from '../jobs/jobs.ts'
import { readSettings } from '../settings/config.ts'
import { fetchJobs } from './sync.ts'

export const positionals = {
  job: { type: 'string', describe: 'Job file (YAML) whose pace and budget apply' },
} as const
export const flags = { ...RUN_FLAGS, ...JSON_FLAG } as const
export const examples = ['retry', 'retry jobs/nightly.yaml']

/** Fetches the requests that failed, unchanged, also those of unknown ids (404), which a sync leaves alone for a while. */
export async function handler(args: Args<typeof flags, typeof positionals>): Promise<number> {
  const service = readSettings(args).service.value
  const [like] = args.job === undefined ? [] : readJobs([args.job], service)
  const retried = normalizeJob({ name: 'retry', series: [] }, service)
  return fetchJobs(
    args,
    'retry',
    [like ? { ...retried, pace: like.pace, keep: like.keep, lake: like.lake, notify: like.notify } : retried],
    () => ({}),
    async (context, job) => {
      const planner = { service: context.service, now: Math.floor(context.now() / 1000) }
      const requests = planRetry(planner, await failedRequests(context.store))
      return {
        ...(await executeRun({ ...context, isPart: true }, job, 'retry', [{ requests, total: null }])),
        skipped: [],
        lackingGeos: [],
        selected: true,
      }
    },
  )
}
