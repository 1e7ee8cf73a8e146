import { InputError } from '../../base/errors.ts'
import { placeOf } from '../../db/address.ts'
import type { Durability } from '../../db/store.ts'
import { ingestAll } from '../../ingestAll.ts'
import type { RejectPolicy } from '../../ingestContext.ts'
import type { Job } from '../../job/job.ts'
import { normalizeJob } from '../../job/normalize.ts'
import { planRetry } from '../../plan/retry.ts'
import { secretsOf } from '../../services/key.ts'
import { failedRequests } from '../../state/failures.ts'
import type { CommonArgs, OnlyArgs, RangeArgs, ServiceArgs } from '../flags.ts'
import { readJobs, readJobsOf } from '../jobs/jobs.ts'
import { type NotifyArgs, notifyTargets } from '../jobs/notify.ts'
import { type RunOptions, runJobs } from '../jobs/runJobs.ts'
import { readSettings, requireService, type Settings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { logFor } from '../terminal/logging.ts'
import { print } from '../terminal/output.ts'
import { summaryJson, summaryText } from '../text/summary.ts'

/** The values of `--on-reject` and `--max-rejects`. */
export interface RejectArgs {
  readonly onReject: RejectPolicy['onReject']
  readonly maxRejects?: number
}

interface SyncArgs extends CommonArgs, ServiceArgs, RangeArgs, OnlyArgs, RejectArgs, NotifyArgs, DistributedArgs {
  readonly jobs: string[]
  readonly durability: Durability
  readonly json: boolean
}

/** Whether the planned requests are handed to workers. */
export interface DistributedArgs {
  readonly distributed?: boolean
}

/** The latest windows of all series first. */
interface NewestFirst {
  readonly newestFirst: boolean
}

/** `sync`: what is wanted and not held. */
export async function run(args: SyncArgs & NewestFirst & { readonly dryRun: boolean }): Promise<number> {
  if (args.dryRun) return (await import('./plan.ts')).run({ ...args, urls: false })
  return go(args, 'sync', await readJobsOf(args), (range) => ({
    ...(range ? { range: { interval: range, how: 'narrow' } } : {}),
    newestFirst: args.newestFirst,
    part: args.only !== undefined,
  }))
}

/** `backfill`: the same for an explicit range. */
export const backfill = async (args: SyncArgs & NewestFirst): Promise<number> =>
  go(args, 'backfill', await readJobsOf(args), (range) => ({
    range: { interval: range!, how: 'replace' },
    newestFirst: args.newestFirst,
  }))

/** `restate`: a held range once more. */
export const restate = async (args: SyncArgs): Promise<number> =>
  go(args, 'restate', await readJobsOf(args), (range) => ({
    range: { interval: range!, how: 'narrow' },
    restate: true,
  }))

/** `retry`: the requests that failed, at the pace and within the budget of a job, or at the default pace. */
export async function retry(args: Omit<SyncArgs, 'jobs'> & { readonly job?: string }): Promise<number> {
  const service = readSettings(args).service.value
  const [like] = args.job === undefined ? [] : readJobs([args.job], service)
  const retried = normalizeJob({ name: 'retry', series: [] }, service)
  return go(
    args,
    'retry',
    [like ? { ...retried, pace: like.pace, keep: like.keep, lake: like.lake, notify: like.notify } : retried],
    () => ({}),
    async (context, job) => {
      const planner = { service: context.service, now: Math.floor(context.now() / 1000) }
      const again = planRetry(planner, await failedRequests(context.store))
      return {
        ...(await ingestAll({ ...context, isPart: true }, job, 'retry', again)),
        skipped: [],
        lackingGeos: [],
        selected: true,
      }
    },
  )
}

/**
 * Whether the planned requests are handed to workers. Only a database on a server can have workers, and only whoever executes a
 * request can refuse its rows.
 */
export function isDistributed(args: DistributedArgs & RejectArgs, { database }: Settings): boolean {
  const { distributed = false, onReject, maxRejects } = args
  if (!distributed) return false
  if (maxRejects !== undefined || onReject === 'fail')
    throw new InputError(
      `${maxRejects === undefined ? '--on-reject fail' : '--max-rejects'} cannot be combined with --distributed: workers load the replies.`,
      {
        hint: 'Start the workers with --on-reject fail, which loads nothing of such a reply; `check` finds what is in quarantine.',
        code: 'usage',
      },
    )
  if (!placeOf(database.value).isShared)
    throw new InputError(`${database.value} is a file of one machine, and workers share a database on a server.`, {
      hint: 'Name one: --database postgres://user@host/name, or leave --distributed out.',
      code: 'no-server',
    })
  return true
}

/** Puts the settings together, runs the jobs and prints what they did. */
async function go(
  args: Omit<SyncArgs, 'jobs'>,
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

/** What `--on-reject` and `--max-rejects` mean. */
export function rejectPolicy({ onReject, maxRejects = Number.POSITIVE_INFINITY }: RejectArgs): RejectPolicy {
  if (!(maxRejects >= 0))
    throw new InputError('--max-rejects takes a number of rows, from 0 on.', { code: 'bad-max-rejects' })
  return { onReject, maxRejects }
}
