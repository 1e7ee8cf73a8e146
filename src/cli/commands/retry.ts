import type { Args } from '../command.ts'
import { JSON_FLAG, RUN_FLAGS } from '../flags.ts'

export const positionals = {
  job: { type: 'string', describe: 'Job file (YAML) whose pace and budget apply' },
} as const
export const flags = { ...RUN_FLAGS, ...JSON_FLAG } as const
export const examples = ['retry', 'retry jobs/nightly.yaml']

export const handler = async (args: Args<typeof flags, typeof positionals>): Promise<number> =>
  (await import('../jobs/fetchJobs.ts')).retryFailed(args)
