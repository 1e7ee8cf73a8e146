import { setTimeout as sleep } from 'node:timers/promises'
import { secretsOf } from '../api/key.ts'
import { failedRequests } from '../audit/failed.ts'
import { InputError } from '../base/errors.ts'
import type { Interval } from '../base/interval.ts'
import type { Logger } from '../base/log.ts'
import type { RejectPolicy } from '../carry.ts'
import { lockWriter } from '../db/lock.ts'
import { type Durability, openStore, type Store } from '../db/open.ts'
import type { Job } from '../job/job.ts'
import { meanJob } from '../job/mean.ts'
import type { PlanOptions } from '../plan/planning.ts'
import { planRetry } from '../plan/retry.ts'
import { carryAll, type Summary, type SyncContext, sync } from '../sync.ts'
import { readSettings, requireService } from './config.ts'
import { EXIT, exitCodeOf } from './fail.ts'
import type { CommonArgs, RangeArgs, ServiceArgs } from './flags.ts'
import { rangeOf, readJobs } from './jobs.ts'
import { logFor } from './logging.ts'
import { print } from './output.ts'
import { createProgress } from './progress.ts'
import { watchSignals } from './signals.ts'
import { summaryJson, summaryText } from './summary.ts'
import { version } from './version.ts'

/** The values of `--on-reject` and `--max-rejects`. */
export interface RejectArgs {
  readonly onReject: RejectPolicy['onReject']
  readonly maxRejects?: number
}

interface SyncArgs extends CommonArgs, ServiceArgs, RangeArgs, RejectArgs {
  readonly jobs: string[]
  readonly durability: Durability
  readonly json: boolean
}

/** `sync`: what is wanted and not held. */
export async function run(args: SyncArgs & { readonly dryRun: boolean }): Promise<number> {
  if (args.dryRun) return (await import('./plan.ts')).run(args)
  return go(args, 'sync', readJobs(args.jobs), (range) => (range ? { range: { interval: range, how: 'narrow' } } : {}))
}

/** `backfill`: the same for an explicit range. */
export const backfill = (args: SyncArgs & { readonly newestFirst: boolean }): Promise<number> =>
  go(args, 'backfill', readJobs(args.jobs), (range) => ({
    range: { interval: range!, how: 'replace' },
    newestFirst: args.newestFirst,
  }))

/** `restate`: a held range once more. */
export const restate = (args: SyncArgs): Promise<number> =>
  go(args, 'restate', readJobs(args.jobs), (range) => ({ range: { interval: range!, how: 'narrow' }, restate: true }))

/** `retry`: the requests that failed, at the pace and within the budget of a job, or at the default pace. */
export function retry(args: Omit<SyncArgs, 'jobs'> & { readonly job?: string }): Promise<number> {
  const [like] = args.job === undefined ? [] : readJobs([args.job])
  const retried = meanJob({ name: 'retry', series: [] })
  return go(
    args,
    'retry',
    [like ? { ...retried, pace: like.pace, keep: like.keep } : retried],
    () => ({}),
    (context, job) =>
      carryAll(
        context,
        job,
        'retry',
        planRetry({ service: context.service, now: context.now() }, failedRequests(context.store)),
      ),
  )
}

/** Puts the settings together, runs the jobs and prints what they did. */
async function go(
  args: Omit<SyncArgs, 'jobs'>,
  command: string,
  jobs: readonly Job[],
  optionsFor: NonNullable<RunOptions['optionsFor']>,
  carry?: RunOptions['carry'],
): Promise<number> {
  const settings = readSettings(args)
  const service = requireService(settings)
  const { code, summaries } = await runJobs(jobs, {
    ...service,
    command,
    optionsFor,
    ...(carry ? { carry } : {}),
    from: args.from,
    to: args.to,
    quiet: args.quiet,
    durability: args.durability,
    rejects: rejectPolicy(args),
    file: settings.database.value,
    log: logFor(args, secretsOf(service.key)),
  })
  print(args.json ? JSON.stringify(summaries.map(summaryJson), null, 2) : summaries.map(summaryText).join('\n\n'))
  return code
}

/** What `--on-reject` and `--max-rejects` mean. */
export function rejectPolicy({ onReject, maxRejects = Number.POSITIVE_INFINITY }: RejectArgs): RejectPolicy {
  if (!(maxRejects >= 0))
    throw new InputError('--max-rejects takes a number of rows, from 0 on.', { code: 'bad-max-rejects' })
  return { onReject, maxRejects }
}

/** What running jobs needs beside the jobs. */
export interface RunOptions extends RangeArgs, Pick<SyncContext, 'service' | 'baseUrl' | 'key' | 'rejects'> {
  readonly file: string
  readonly command: string
  readonly log: Logger
  readonly quiet: boolean
  readonly durability?: Durability
  /** What the planner is told, given the range of `--from` and `--to`. */
  readonly optionsFor?: (range: Interval | undefined) => PlanOptions
  /** Ends the run early; the signals of the process when left out. */
  readonly signal?: AbortSignal
  /** What is done with a job, where it is not to be synced. */
  readonly carry?: (context: SyncContext, job: Job) => Promise<Summary>
}

/** Runs jobs one after the other as the only writer of the file; stops at the first that ends early. */
export async function runJobs(
  jobs: readonly Job[],
  options: RunOptions,
): Promise<{ code: number; summaries: Summary[] }> {
  const { log, file, command } = options
  const store = await openStore(file, { durability: options.durability ?? 'normal' })
  const signals = watchSignals((message) => log.warn(message))
  const progress = createProgress(log, options.quiet)
  const summaries: Summary[] = []
  try {
    const unlock = await lockWriter(store, `${command} ${jobs.map(({ name }) => name).join(' ')}`, Date.now)
    try {
      await afterLastCall(store)
      for (const job of jobs) {
        const range = rangeOf(options, job.timeZone, Math.floor(Date.now() / 1000))
        const context: SyncContext = {
          ...options,
          store,
          version: version(),
          now: Date.now,
          signal: options.signal ?? signals.signal,
          onProgress: (done) => {
            progress.show(done)
            log.debug(`${done.ask.route} ${done.ask.request.target}`)
          },
          onHold: (ms, reason) => log.warn(`Waiting ${(ms / 1000).toFixed(0)} s: ${reason}`),
          onFailure: ({ error }, attempt) => log.debug(`attempt ${attempt} failed: ${error.message}`),
        }
        const summary = options.carry
          ? await options.carry(context, job)
          : await sync(context, job, command, options.optionsFor?.(range) ?? {})
        summaries.push(summary)
        if (summary.stop) break
      }
    } finally {
      await unlock()
    }
  } finally {
    progress.end()
    signals.release()
    await store.close()
  }
  return { code: signals.code() ?? worstCode(summaries), summaries }
}

/** Waits until the last call of an earlier process is a second old: the pace of a job holds across processes. */
async function afterLastCall(store: Store): Promise<void> {
  const last = store.get('select finished_at from _fetch order by id desc limit 1')
  if (typeof last !== 'string') return
  const left = Date.parse(last) + 1000 - Date.now()
  if (left > 0) await sleep(Math.min(left, 1000))
}

/** A run is as good as its worst job. */
function worstCode(summaries: readonly Summary[]): number {
  const stop = summaries.find((summary) => summary.stop)?.stop
  if (stop) return exitCodeOf(stop)
  return summaries.every(({ outcome }) => outcome === 'done') ? EXIT.done : EXIT.partial
}
