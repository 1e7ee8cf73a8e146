import { placeOf } from '../../db/address.ts'
import type { Job } from '../../job/job.ts'
import { normalizeJob } from '../../job/normalize.ts'
import { planRetry } from '../../plan/retry.ts'
import { failedRequests } from '../../reports/failedRequests.ts'
import { secretsOf } from '../../service/key.ts'
import { executeRun } from '../../sync/run.ts'
import { InputError } from '../../util/errors.ts'
import type { Args } from '../command.ts'
import type { DISTRIBUTED_FLAG, JSON_FLAG, ON_REJECT_FLAG, RANGE_FLAGS, RUN_FLAGS } from '../flags.ts'
import { readSettings, requireService, type Settings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { logFor } from '../terminal/logging.ts'
import { print } from '../terminal/output.ts'
import { summaryJson, summaryText } from '../text/summary.ts'
import { readJobs, readJobsOf } from './jobs.ts'
import { notifyTargets } from './notify.ts'
import { type RunOptions, runJobs } from './runJobs.ts'

/** Flags of commands that run jobs once. */
type FetchArgs = Args<typeof RUN_FLAGS & typeof JSON_FLAG> & Partial<Args<typeof RANGE_FLAGS & typeof DISTRIBUTED_FLAG>>

/** Reads job files, runs them and prints their summaries. */
export const fetchJobs = async (
  args: FetchArgs & Parameters<typeof readJobsOf>[0],
  command: string,
  optionsFor: NonNullable<RunOptions['optionsFor']>,
): Promise<number> => runAndPrint(args, command, await readJobsOf(args), { optionsFor })

/** Runs jobs and prints their summaries. */
async function runAndPrint(
  args: FetchArgs,
  command: string,
  jobs: readonly Job[],
  how: Pick<RunOptions, 'optionsFor' | 'runOne'>,
): Promise<number> {
  const settings = readSettings(args)
  const service = requireService(settings)
  const { code, summaries } = await runJobs(jobs, {
    ...service,
    command,
    ...how,
    from: args.from,
    to: args.to,
    quiet: args.quiet,
    durability: args.durability,
    distributed: isDistributed(args, settings),
    onReject: args.onReject,
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

/** Fetches failed requests unchanged, also those of unknown ids (404), which a sync leaves alone for a while. */
export async function retryFailed(args: FetchArgs & { readonly job?: string | undefined }): Promise<number> {
  const service = readSettings(args).service.value
  const [like] = args.job === undefined ? [] : readJobs([args.job], service)
  const retried = normalizeJob({ name: 'retry', series: [] }, service)
  const job = like ? { ...retried, pace: like.pace, keep: like.keep, lake: like.lake, notify: like.notify } : retried
  return runAndPrint(args, 'retry', [job], {
    runOne: async (context) => {
      const planner = { service: context.service, now: Math.floor(context.now() / 1000) }
      const requests = planRetry(planner, await failedRequests(context.store))
      return {
        ...(await executeRun({ ...context, isPart: true }, job, 'retry', [{ requests, total: null }])),
        skipped: [],
        lackingGeos: [],
        selected: true,
      }
    },
  })
}
