import type { Args } from '../command.ts'
import { JSON_FLAG, RUN_FLAGS } from '../flags.ts'

export const positionals = {
  job: { type: 'string', describe: 'Job file (YAML) whose rate limit and call budget apply' },
} as const
export const flags = { ...RUN_FLAGS, ...JSON_FLAG } as const
export const examples = ['retry', 'retry jobs/nightly.yaml']

export async function handler(args: Args<typeof flags, typeof positionals>): Promise<number> {
  const { runAndPrint } = await import('../jobs/runAndPrint.ts')
  const { retryFailed, retryJob } = await import('../jobs/retryFailed.ts')
  return runAndPrint(args, 'retry', { jobs: [retryJob(args)], runOne: retryFailed })
}
