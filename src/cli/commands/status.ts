import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG, SERVICE_FLAG } from '../flags.ts'

export const flags = {
  ...DATABASE_FLAG,
  ...SERVICE_FLAG,
  job: {
    type: 'string',
    array: true,
    nargs: 1,
    describe: "Add this job file's Parquet lake (prometheus: also calls left)",
  },
  format: { choices: ['text', 'json', 'prometheus'], default: 'text', describe: 'Set the output format' },
  ...JSON_FLAG,
} as const
export const examples = ['status --database data/demo.db', 'status --format prometheus --database data/demo.db']

export const handler = async (args: Args<typeof flags>): Promise<number> =>
  (await import('../jobs/printStatus.ts')).printStatus(args)
