import type { Args } from '../command.ts'
import { DISTRIBUTED_FLAG, JOBS, JSON_FLAG, ONLY_FLAG, RANGE_FLAGS, RUN_FLAGS } from '../flags.ts'

export const positionals = JOBS
export const flags = { ...RUN_FLAGS, ...RANGE_FLAGS, ...ONLY_FLAG, ...DISTRIBUTED_FLAG, ...JSON_FLAG } as const
export const examples = ['sync jobs/nightly.yaml', 'sync jobs/nightly.yaml --only 600 --from -7d']

export async function handler(args: Args<typeof flags, typeof positionals>): Promise<number> {
  const { runAndPrint } = await import('../jobs/runAndPrint.ts')
  return runAndPrint(args, 'sync', {
    optionsFor: (interval) => (interval ? { range: { interval, how: 'narrow' } } : {}),
  })
}
