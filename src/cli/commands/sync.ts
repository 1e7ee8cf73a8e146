import { setTimeout as sleep } from 'node:timers/promises'
import { InputError } from '../../base/errors.ts'
import type { Interval } from '../../base/interval.ts'
import { eventsTo, type Logger } from '../../base/log.ts'
import { openWriter } from '../../db/lock.ts'
import type { Durability, Store } from '../../db/open.ts'
import type { RejectPolicy } from '../../ingestContext.ts'
import type { Job } from '../../job/job.ts'
import { normalizeJob } from '../../job/normalize.ts'
import type { Notify } from '../../job/notify.ts'
import { createAsked } from '../../plan/asked.ts'
import type { PlanOptions } from '../../plan/planning.ts'
import { planRetry } from '../../plan/retry.ts'
import { secretsOf } from '../../services/key.ts'
import { indicatorName } from '../../state/catalogue.ts'
import { failedRequests } from '../../state/failures.ts'
import { ingestAll, type Summary, type SyncContext, sync } from '../../sync.ts'
import { readSettings, refuseExposed, requireService } from '../config.ts'
import type { CommonArgs, OnlyArgs, RangeArgs, ServiceArgs } from '../flags.ts'
import { rangeOf, readJobs, readJobsOf } from '../jobs.ts'
import { createNotifier, type Notifier, type NotifyArgs, notifyTargets } from '../notify.ts'
import { EXIT, exitCodeOf } from '../terminal/fail.ts'
import { logFor } from '../terminal/logging.ts'
import { print } from '../terminal/output.ts'
import { createProgress } from '../terminal/progress.ts'
import { watchSignals } from '../terminal/signals.ts'
import { summaryJson, summaryText } from '../terminal/summary.ts'
import { version } from '../version.ts'

/** The values of `--on-reject` and `--max-rejects`. */
export interface RejectArgs {
  readonly onReject: RejectPolicy['onReject']
  readonly maxRejects?: number
}

interface SyncArgs extends CommonArgs, ServiceArgs, RangeArgs, OnlyArgs, RejectArgs, NotifyArgs {
  readonly jobs: string[]
  readonly durability: Durability
  readonly json: boolean
}

/** The latest windows of all series first. */
interface NewestFirst {
  readonly newestFirst: boolean
}

/** `sync`: what is wanted and not held. */
export async function run(args: SyncArgs & NewestFirst & { readonly dryRun: boolean }): Promise<number> {
  if (args.dryRun) return (await import('./plan.ts')).run({ ...args, urls: false })
  return go(args, 'sync', readJobsOf(args), (range) => ({
    ...(range ? { range: { interval: range, how: 'narrow' } } : {}),
    newestFirst: args.newestFirst,
  }))
}

/** `backfill`: the same for an explicit range. */
export const backfill = (args: SyncArgs & NewestFirst): Promise<number> =>
  go(args, 'backfill', readJobsOf(args), (range) => ({
    range: { interval: range!, how: 'replace' },
    newestFirst: args.newestFirst,
  }))

/** `restate`: a held range once more. */
export const restate = (args: SyncArgs): Promise<number> =>
  go(args, 'restate', readJobsOf(args), (range) => ({ range: { interval: range!, how: 'narrow' }, restate: true }))

/** `retry`: the requests that failed, at the pace and within the budget of a job, or at the default pace. */
export function retry(args: Omit<SyncArgs, 'jobs'> & { readonly job?: string }): Promise<number> {
  const [like] = args.job === undefined ? [] : readJobs([args.job], readSettings(args).service.value)
  const retried = normalizeJob({ name: 'retry', series: [] })
  return go(
    args,
    'retry',
    [like ? { ...retried, pace: like.pace, keep: like.keep, notify: like.notify } : retried],
    () => ({}),
    async (context, job) =>
      ingestAll(
        context,
        job,
        'retry',
        planRetry({ service: context.service, now: context.now() }, await failedRequests(context.store)),
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
    notify: notifyTargets(args),
    file: settings.database.value,
    log: logFor(args, secretsOf(service.key)),
  })
  if (args.json) print(JSON.stringify(summaries.map(summaryJson), null, 2))
  // A quiet run that did all is silent: cron mails what is printed.
  else if (!args.quiet || code !== EXIT.done) print(summaries.map(summaryText).join('\n\n'))
  return code
}

/** What `--on-reject` and `--max-rejects` mean. */
export function rejectPolicy({ onReject, maxRejects = Number.POSITIVE_INFINITY }: RejectArgs): RejectPolicy {
  if (!(maxRejects >= 0))
    throw new InputError('--max-rejects takes a number of rows, from 0 on.', { code: 'bad-max-rejects' })
  return { onReject, maxRejects }
}

/** What running jobs needs beside the jobs. */
export interface RunOptions extends RangeArgs, Pick<SyncContext, 'service' | 'baseUrl' | 'key' | 'rejects' | 'limits'> {
  readonly file: string
  /** Whether the key may be sent unencrypted to another machine. */
  readonly allowHttp?: boolean
  readonly command: string
  readonly log: Logger
  readonly quiet: boolean
  readonly durability?: Durability
  /** Who is told what became of the runs, beside those whom the jobs name. */
  readonly notify?: readonly Notify[]
  /** What the planner is told, given the range of `--from` and `--to`. */
  readonly optionsFor?: (range: Interval | undefined) => PlanOptions
  /** Ends the run early; the signals of the process when left out. */
  readonly signal?: AbortSignal
  /** Told whenever something happens. */
  readonly onLife?: () => void
  /** What is done with a job, where it is not to be synced. */
  readonly carry?: (context: SyncContext, job: Job) => Promise<Summary>
}

/** Runs jobs one after the other as the only writer of the file; stops at the first that ends early. */
export async function runJobs(
  jobs: readonly Job[],
  options: RunOptions,
): Promise<{ code: number; summaries: Summary[] }> {
  const notifier = createNotifier(jobs, options.notify ?? [], options)
  const open = new Set(jobs)
  try {
    return await runAll(jobs, options, {
      started: notifier.started,
      hurry: notifier.hurry,
      ended: (job, summary) => {
        open.delete(job)
        notifier.ended(job, summary)
      },
    })
  } catch (error) {
    for (const job of open) notifier.broke(job, error)
    throw error
  } finally {
    await notifier.finish()
  }
}

async function runAll(
  jobs: readonly Job[],
  options: RunOptions,
  emit: Pick<Notifier, 'started' | 'ended' | 'hurry'>,
): Promise<{ code: number; summaries: Summary[] }> {
  const { log, file, command } = options
  for (const job of jobs) rangeOf(options, job.timeZone, Math.floor(Date.now() / 1000))
  refuseExposed(options)
  const store = await openWriter(file, `${command} ${jobs.map(({ name }) => name).join(' ')}`, {
    durability: options.durability ?? 'normal',
  })
  const tellLog = eventsTo(log)
  const signals = watchSignals(tellLog)
  const signal = options.signal ?? signals.signal
  signal.addEventListener('abort', emit.hurry, { once: true })
  const summaries: Summary[] = []
  const asked = createAsked()
  try {
    await afterLastCall(store)
    const meant = (job: Job) => {
      const range = rangeOf(options, job.timeZone, Math.floor(Date.now() / 1000))
      return { job, options: options.optionsFor?.(range) ?? {} }
    }
    for (const [i, job] of jobs.entries()) {
      const progress = createProgress({
        quiet: options.quiet,
        tell: (fields) => tellLog({ event: 'run.progress', job: job.name, command, ...fields }),
        nameOf: async ({ series }) => (series ? indicatorName(store, series.kind, series.indicatorId) : undefined),
      })
      const context: SyncContext = {
        ...options,
        store,
        asked,
        later: jobs.slice(i + 1).map(meant),
        version: version(),
        now: Date.now,
        signal,
        onProgress: progress.show,
        onEvent: (event) => {
          options.onLife?.()
          tellLog(event)
        },
        onFailure: options.onLife,
      }
      emit.started(job)
      const running = options.carry ? options.carry(context, job) : sync(context, job, command, meant(job).options)
      const summary = await running.finally(progress.end)
      summaries.push(summary)
      emit.ended(job, summary)
      if (summary.stop) break
    }
  } finally {
    signals.release()
    signal.removeEventListener('abort', emit.hurry)
    await store.close()
  }
  return { code: signals.code() ?? worstCode(summaries), summaries }
}

/** Waits until the last call of an earlier process is a second old: the pace of a job holds across processes. */
async function afterLastCall(store: Store): Promise<void> {
  const last = await store.kysely
    .selectFrom('_fetch')
    .select('finished_at')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!last) return
  const left = Date.parse(last.finished_at) + 1000 - Date.now()
  if (left > 0) await sleep(Math.min(left, 1000))
}

/** A run is as good as its worst job. */
function worstCode(summaries: readonly Summary[]): number {
  const stop = summaries.find((summary) => summary.stop)?.stop
  if (stop) return exitCodeOf(stop)
  return summaries.every(({ outcome }) => outcome === 'done') ? EXIT.done : EXIT.partial
}
