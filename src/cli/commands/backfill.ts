import type { Args } from '../command.ts'
import { JOBS, JSON_FLAG, ONLY_FLAG, REQUIRED_RANGE, RUN_FLAGS } from '../flags.ts'

export const positionals = JOBS
export const flags = { ...RUN_FLAGS, ...REQUIRED_RANGE, ...ONLY_FLAG, ...JSON_FLAG } as const
export const examples = ['backfill jobs/nightly.yaml --from 2015-01-01 --to 2020-01-01']

/** Fetches a range in place of the windows of the job. */
export async function handler(args: Args<typeof flags, typeof positionals>): Promise<number> {
  const { runAndPrint } = await import('../jobs/runAndPrint.ts')
  return runAndPrint(args, 'backfill', { optionsFor: (range) => ({ range: { interval: range!, how: 'replace' } }) })
}
