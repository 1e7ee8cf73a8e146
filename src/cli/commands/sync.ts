import { placeOf } from '../../db/address.ts'
import type { Job } from '../../job/job.ts'
import { secretsOf } from '../../service/key.ts'
import { InputError } from '../../util/errors.ts'
import type { Args } from '../command.ts'
import { DISTRIBUTED_FLAG, JOBS, JSON_FLAG, type ON_REJECT_FLAG, ONLY_FLAG, RANGE_FLAGS, RUN_FLAGS } from '../flags.ts'
import { readJobsOf } from '../jobs/jobs.ts'
import { notifyTargets } from '../jobs/notify.ts'
import { type RunOptions, runJobs } from '../jobs/runJobs.ts'
import { readSettings, requireService, type Settings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { logFor } from '../terminal/logging.ts'
import { print } from '../terminal/output.ts'
import { summaryJson, summaryText } from '../text/summary.ts'

export const positionals = JOBS
export const flags = {
  ...RUN_FLAGS,
  ...RANGE_FLAGS,
  ...ONLY_FLAG,
  ...DISTRIBUTED_FLAG,
  ...JSON_FLAG,
} as const
export const examples = ['sync jobs/nightly.yaml', 'sync jobs/nightly.yaml --only 600 --from -7d']

export async function handler(args: Args<typeof flags, typeof positionals>): Promise<number> {
  return fetchJobs(args, 'sync', await readJobsOf(args), (range) => ({
    ...(range ? { range: { interval: range, how: 'narrow' } } : {}),
  }))
}

/** Flags of commands that run jobs once. */
type FetchArgs = Args<typeof RUN_FLAGS & typeof JSON_FLAG> & Partial<Args<typeof RANGE_FLAGS & typeof DISTRIBUTED_FLAG>>

/** Runs jobs and prints their summaries. */
export async function fetchJobs(
  args: FetchArgs,
  command: string,
  jobs: readonly Job[],
  optionsFor: NonNullable<RunOptions['optionsFor']>,
  runOne?: RunOptions['runOne'],
): Promise<number> {
  const settings = readSettings(args)
  const service = requireService(settings)
  const { code, summaries } = await runJobs(jobs, {
    ...service,
    command,
    optionsFor,
    ...(runOne ? { runOne } : {}),
    from: args.from,
    to: args.to,
    quiet: args.quiet,
    durability: args.durability,
    distributed: isDistributed(args, settings),
    rejects: rejectPolicy(args),
    notify: notifyTargets(args),
    file: settings.database.value,
    log: logFor(args, secretsOf(service.key)),
  })
  if (args.json) print(JSON.stringify(summaries.map(summaryJson), null, 2))
  // A quiet run that did everything prints nothing: cron mails what is printed.
  else if (!args.quiet || code !== EXIT.done) print(summaries.map(summaryText).join('\n\n'))
  return code
}

/** Whether workers fetch the planned requests. They need a shared database, and `--on-reject fail` of their own. */
export function isDistributed(
  { distributed = false, onReject }: Partial<Args<typeof DISTRIBUTED_FLAG & typeof ON_REJECT_FLAG>>,
  { database }: Settings,
): boolean {
  if (!distributed) return false
  if (onReject === 'fail')
    throw new InputError('--on-reject fail does not work with --distributed: workers load the replies.', {
      hint: 'Start the workers with --on-reject fail.',
      code: 'usage',
    })
  if (!placeOf(database.value).isShared)
    throw new InputError(`Cannot distribute ${database.value}: workers need a shared database on PostgreSQL.`, {
      hint: 'Use --database postgres://USER@HOST/DATABASE, or leave out --distributed.',
      code: 'no-server',
    })
  return true
}

export const rejectPolicy = ({ onReject }: Args<typeof ON_REJECT_FLAG>) => ({
  onReject,
  maxRejects: Number.POSITIVE_INFINITY,
})
