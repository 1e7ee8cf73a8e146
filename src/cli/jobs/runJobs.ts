import type { SharedRun } from '../../cluster/sharedRun.ts'
import { parseDatabase } from '../../db/address.ts'
import { openWriter } from '../../db/lock.ts'
import type { Durability, Store } from '../../db/store.ts'
import type { Job } from '../../job/job.ts'
import type { Notify } from '../../job/notification.ts'
import { NO_COUNTS } from '../../load/counts.ts'
import type { JobWithOptions, PlanOptions } from '../../plan/planning.ts'
import { createRequested, type Requested } from '../../plan/requested.ts'
import { refuseExposed } from '../../service/key.ts'
import type { SyncContext } from '../../sync/context.ts'
import { indicatorName } from '../../sync/readCatalogue.ts'
import { endRun, openRun } from '../../sync/record.ts'
import { type Summary, sync } from '../../sync/sync.ts'
import { NoReplyError, StoppedError } from '../../util/errors.ts'
import { createEmitter, type OnEvent } from '../../util/events.ts'
import { createClosers } from '../../util/lifetime.ts'
import { eventsTo, type Logger } from '../../util/log.ts'
import { version } from '../../util/package.ts'
import { createRedactor } from '../../util/redact.ts'
import { formatMillis } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { EXIT, exitCodeFor } from '../terminal/fail.ts'
import { createProgress } from '../terminal/progress.ts'
import { watchSignals } from '../terminal/signals.ts'
import { type RangeArgs, rangeOfFlags } from '../times.ts'
import { createNotifier, type Notifier } from './notify.ts'

/** What running jobs needs in addition to the jobs. */
export interface RunOptions
  extends RangeArgs,
    Pick<SyncContext, 'service' | 'baseUrl' | 'key' | 'allowHttp' | 'onReject'> {
  readonly file: string
  readonly command: string
  /** The value of `--only`. */
  readonly only?: string | undefined
  readonly log: Logger
  readonly quiet: boolean
  readonly durability?: Durability
  /** Who is notified of the runs, in addition to the targets of the jobs. */
  readonly notify?: readonly Notify[]
  /** The options of the planner, given the range of `--from` and `--to`. */
  readonly optionsFor?: (range: Interval | undefined) => PlanOptions
  /** Whether what is planned is handed to workers. */
  readonly distributed?: boolean | undefined
  /** Ends the run early; the signals of the process when left out. */
  readonly signal?: AbortSignal
  /** Called for every event. */
  readonly onActivity?: () => void
  /** What is done with a job, where it is not to be synced. */
  readonly runOne?: (context: SyncContext, job: Job) => Promise<Summary>
}

/** What the jobs of one command have in common. */
interface Running {
  readonly options: RunOptions
  readonly store: Store
  readonly signal: AbortSignal
  /** What is done together with other machines; undefined for a file of this one. */
  readonly sharedRun: SharedRun | undefined
  readonly requested: Requested
  readonly emitLog: OnEvent
  /** Called when the run of a job has begun. */
  readonly started: Notifier['started']
}

/** Runs jobs one after the other as the only writer of the file; stops at the first that ends early. */
export async function runJobs(
  jobs: readonly Job[],
  options: RunOptions,
): Promise<{ code: number; summaries: Summary[] }> {
  const notifier = createNotifier(jobs, options.notify ?? [], options)
  const unfinished = new Set(jobs)
  const stopping = new AbortController()
  const signal = options.signal ?? stopping.signal
  const closers = createClosers()
  try {
    for (const job of jobs) rangeOfJob(job, options)
    refuseExposed(options)
    const store = await openFor(jobs, options, signal)
    closers.add(() => store.close())
    const emitLog = eventsTo(options.log)
    // Not before the database is open: until then there is nothing to finish, and a signal ends the process at once.
    const signals = watchSignals((fields) => createEmitter(emitLog)('signal.received', fields), stopping)
    closers.add(signals.release)
    signal.addEventListener('abort', notifier.abort, { once: true })
    closers.add(() => signal.removeEventListener('abort', notifier.abort))
    const sharedRun = await joinMachines(store, options)
    if (sharedRun) closers.add(sharedRun.close)
    const requested = createRequested()
    const running: Running = { options, store, signal, sharedRun, requested, emitLog, started: notifier.started }
    const summaries: Summary[] = []
    let stoppedBy: Job | undefined
    for (const [i, job] of jobs.entries()) {
      const later = jobs.slice(i + 1)
      const ran = stoppedBy ? await recordUnreached(running, job, stoppedBy) : await runJob(running, job, later)
      if (ran.stop && !(ran.stop instanceof NoReplyError)) stoppedBy ??= job
      const summary = later.some(({ lake }) => lake === job.lake) ? ran : await withLakeSynced(running, job, ran)
      summaries.push(summary)
      unfinished.delete(job)
      notifier.ended(job, summary)
    }
    return { code: signals.code() ?? worstCode(summaries), summaries }
  } catch (error) {
    for (const job of unfinished) notifier.broke(job, error)
    throw error
  } finally {
    await closers.close().finally(notifier.finish)
  }
}

/** Brings the lake of a job up to date after a run. If that fails, the run has failed. */
async function withLakeSynced({ options, store, signal }: Running, job: Job, ran: Summary): Promise<Summary> {
  if (job.lake === null || signal.aborted) return ran
  const { syncJobLake } = await import('./lakes.ts')
  const stop = await syncJobLake(job.name, job.lake, options)
  if (stop === null || ran.outcome === 'failed') return ran
  const message = createRedactor(options.key ?? '').text(`lake: ${stop.message}`)
  await endRun(store, ran.runId, 'failed', message, formatMillis(Date.now()))
  return { ...ran, outcome: 'failed', stop }
}

/** Records a job that was not reached because an earlier one ended the command: `check` reports it as unfinished. */
async function recordUnreached({ options, store, emitLog }: Running, job: Job, stoppedBy: Job): Promise<Summary> {
  const stop = new StoppedError(`Not started, because job ${stoppedBy.name} ended the command.`, {
    hint: 'Run the same command again, or this job alone.',
    code: 'not-reached',
  })
  const part = partText(options)
  const context = { store, version: version(), now: Date.now, onEvent: emitLog, part }
  const run = await openRun(context, options.command, job)
  await run.end('stopped', stop)
  return {
    runId: run.runId,
    job: job.name,
    command: options.command,
    isPart: part !== undefined,
    outcome: 'stopped',
    counts: NO_COUNTS,
    failures: [],
    seconds: 0,
    stop,
    skipped: [],
    lackingGeos: [],
    selected: true,
  }
}

/** Opens the database as its only writer. Requests that were queued must not be lost in a crash of the server: nobody would miss them. */
function openFor(jobs: readonly Job[], options: RunOptions, signal: AbortSignal): Promise<Store> {
  const { file, command, distributed = false } = options
  const durability = distributed ? 'full' : (options.durability ?? 'normal')
  return openWriter(file, `${command} ${jobs.map(({ name }) => name).join(' ')}`, { durability, signal })
}

/** Joins the other machines of a shared database; undefined for a file of this one. */
async function joinMachines(store: Store, options: RunOptions): Promise<SharedRun | undefined> {
  const { file, distributed = false } = options
  if (!parseDatabase(file).isShared) return undefined
  const { openSharedRun } = await import('../../cluster/sharedRun.ts')
  return openSharedRun(store, options, distributed)
}

/** Runs one job and shows how far it is. */
async function runJob(running: Running, job: Job, later: readonly Job[]): Promise<Summary> {
  const { options, store, emitLog } = running
  const { command, quiet, runOne } = options
  const progress = createProgress({
    quiet,
    report: (fields) => createEmitter(emitLog, { job: job.name, command })('run.progress', fields),
    nameOf: async ({ series }) => (series ? indicatorName(store, series.kind, series.indicatorId) : undefined),
  })
  const context: SyncContext = {
    ...createContext(running, job, later),
    onProgress: (shown) => {
      options.onActivity?.()
      return progress.show(shown)
    },
  }
  const summary = runOne ? runOne(context, job) : sync(context, job, command, withOptions(job, options).options)
  return summary.finally(progress.end)
}

/** What a job runs with, apart from what depends on its progress. */
function createContext(running: Running, job: Job, later: readonly Job[]): SyncContext {
  const { options, store, signal, sharedRun, requested, emitLog } = running
  let begun = false
  return {
    ...options,
    store,
    requested,
    version: version(),
    now: Date.now,
    part: partText(options),
    later: later.map((one) => withOptions(one, options)),
    ...sharedRun?.context,
    signal,
    onEvent: (event) => {
      options.onActivity?.()
      if (event.event === 'run.started' && !begun) {
        begun = true
        running.started(job)
      }
      emitLog(event)
    },
    onFailure: options.onActivity,
  }
}

/** The command with the flags that select a part of its jobs; undefined if it runs them whole. */
function partText({ command, from, to, only }: RunOptions): string | undefined {
  const flags = Object.entries({ from, to, only }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${value}`],
  )
  return flags.length === 0 ? undefined : [command, ...flags].join(' ')
}

/** The range of `--from` and `--to` in the zone of a job. */
const rangeOfJob = (job: Job, options: RunOptions): Interval | undefined =>
  rangeOfFlags(options, job.timeZone, Math.floor(Date.now() / 1000))

const withOptions = (job: Job, options: RunOptions): JobWithOptions => ({
  job,
  options: options.optionsFor?.(rangeOfJob(job, options)) ?? {},
})

/** A command is as good as its worst job: an outage is worse than a planned stop, and any other error is worse than an outage. */
function worstCode(summaries: readonly Summary[]): number {
  const codes = summaries.flatMap(({ stop }) => (stop ? [exitCodeFor(stop)] : []))
  const lesser: readonly number[] = [EXIT.unavailable, EXIT.stopped]
  const worst = codes.find((code) => !lesser.includes(code)) ?? lesser.find((code) => codes.includes(code))
  if (worst !== undefined) return worst
  return summaries.every(({ outcome }) => outcome === 'done') ? EXIT.done : EXIT.partial
}
