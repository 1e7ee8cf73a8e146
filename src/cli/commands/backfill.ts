import type { Args } from '../command.ts'
import { JOBS, JSON_FLAG, ONLY_FLAG, REQUIRED_RANGE, RUN_FLAGS } from '../flags.ts'
import { readJobsOf } from '../jobs/jobs.ts'
import { fetchJobs } from './sync.ts'

export const positionals = JOBS
export const flags = { ...RUN_FLAGS, ...REQUIRED_RANGE, ...ONLY_FLAG, ...JSON_FLAG } as const
export const examples = ['backfill jobs/nightly.yaml --from 2015-01-01 --to 2020-01-01']

/** Fetches a range in place of the windows of the job. */
export const handler = async (args: Args<typeof flags, typeof positionals>): Promise<number> =>
  fetchJobs(args, 'backfill', await readJobsOf(args), (range) => ({
    range: { interval: range!, how: 'replace' },
  }))
