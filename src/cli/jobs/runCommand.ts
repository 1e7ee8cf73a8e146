import { isAddress } from '../../db/address.ts'
import { openWriter } from '../../db/lock.ts'
import type { Durability, Store } from '../../db/store.ts'
import type { Settings } from '../../fetch/settings.ts'
import type { Finding } from '../../findings/finding.ts'
import type { Job, OnReject } from '../../job/job.ts'
import type { UserOptions } from '../../plan/planning.ts'
import { readIndicatorName } from '../../state/catalogue.ts'
import type { RunSpec, SharedRun, SyncContext } from '../../sync/context.ts'
import { findStoredJob } from '../../sync/jobIdentity.ts'
import { runJobs } from '../../sync/runJobs.ts'
import { type Summary, sync } from '../../sync/sync.ts'
import { createEmitter } from '../../util/events.ts'
import { createClosers } from '../../util/lifetime.ts'
import { eventsTo, type Logger } from '../../util/log.ts'
import { toInstant } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { EXIT, exitCodeFor } from '../terminal/fail.ts'
import { createProgress } from '../terminal/progress.ts'
import { watchSignals } from '../terminal/signals.ts'
import { type RangeArgs, resolveRange } from '../times.ts'
import { findJobSource } from './jobSource.ts'
import { syncJobLake } from './lakes.ts'
import { createNotifier, type Notifier } from './notify.ts'
import { trackJobs } from './trackJobs.ts'

/** The flags of a command that decide how its jobs are run. */
interface RunFlags extends RangeArgs {
  readonly quiet: boolean
  readonly durability?: Durability | undefined
  readonly onReject?: OnReject | undefined
  /** Lets workers execute the plans. */
  readonly distributed?: boolean | undefined
}

/** How jobs are run. */
export interface RunOptions {
  readonly settings: Settings
  readonly flags: RunFlags
  /** The database: a path or an address. */
  readonly file: string
  readonly command: string
  /** The command with the flags that select a part of its jobs. Default: it runs them whole. */
  readonly part?: string | undefined
  readonly log: Logger
  /** Notifies of the runs. Default: notifies the targets of the jobs. */
  readonly notifier?: Notifier | undefined
  /** The clock, in epoch milliseconds. Default: the system clock. */
  readonly nowMs?: (() => number) | undefined
  /** The options of the planner for the range of `--from` and `--to`. */
  readonly optionsFor?: ((range: Interval | undefined) => UserOptions) | undefined
  /** Runs one job. Default: `sync`. */
  readonly syncOne?: ((context: SyncContext, spec: RunSpec) => Promise<Summary>) | undefined
}

/** Runs jobs as the only writer of the database, with progress, signals, notifications and an exit code. */
export async function runCommand(
  jobs: readonly Job[],
  options: RunOptions,
): Promise<{ code: number; summaries: Summary[] }> {
  const { settings, flags, file, command, part, log, nowMs = Date.now } = options
  const { notifier = createNotifier(jobs, [], { command, log }) } = options
  const tracker = trackJobs(jobs, notifier)
  const stopping = new AbortController()
  const { signal } = stopping
  const closers = createClosers()
  try {
    // Reports bad ranges before a database is created.
    const specs = jobs.map((job): RunSpec => {
      const range = resolveRange(flags, job.timeZone, toInstant(nowMs()))
      return { job, command, source: findJobSource(job), options: options.optionsFor?.(range) ?? {}, part }
    })
    const store = await openDatabase(jobs, options, signal)
    closers.add(() => store.close())
    const emitLog = eventsTo(log)
    // Until the database is open there is nothing to finish, and a signal ends the process at once.
    const signals = watchSignals((fields) => createEmitter(emitLog)('signal.received', fields), stopping)
    closers.add(signals.release)
    signal.addEventListener('abort', notifier.abort, { once: true })
    closers.add(() => signal.removeEventListener('abort', notifier.abort))
    const sharedRun = await shareRun(store, options)
    if (sharedRun) closers.add(sharedRun.close)
    const { onReject } = flags
    const context: SyncContext = { ...settings, store, nowMs, signal, onReject, sharedRun, onEvent: emitLog }
    const summaries = await runJobs(context, specs, {
      syncOne(jobContext, spec) {
        tracker.planning(spec.job)
        return runJob(jobContext, spec, options, () => tracker.started(spec.job))
      },
      publish: (job) => syncJobLake(job, { file, command, log }),
      onEnded: (job, summary) => tracker.ended(job, summary, (toRun) => readFindings(store, nowMs(), toRun)),
    })
    return { code: signals.code() ?? worstCode(summaries), summaries }
  } catch (error) {
    const { unrecorded, endedBy } = tracker.broke(error)
    await closers.close()
    const { recordUnrecorded } = await import('./unstarted.ts')
    const { service } = settings
    await recordUnrecorded(unrecorded, error, { command, part, database: file, service, log, endedBy })
    throw error
  } finally {
    await closers.close().finally(notifier.finish)
  }
}

/**
 * Reads what is wrong with the database, apart from jobs that are still to run: their runs may end it. Loaded only if somebody is notified
 * of it.
 */
async function readFindings(store: Store, nowMs: number, toRun: readonly Job[]): Promise<readonly Finding[]> {
  const { findFindings } = await import('../../findings/findFindings.ts')
  const stored = await Promise.all(toRun.map((job) => findStoredJob(store, job.name, findJobSource(job))))
  const withoutJobs = stored.flatMap((job) => job?.id ?? [])
  return findFindings(store, toInstant(nowMs), { depth: 'state', withoutJobs })
}

/**
 * Opens the database as its only writer. Like the workers, a distributed run waits for its server. Its queue must survive a crash of the
 * server, because workers would miss its requests.
 */
async function openDatabase(jobs: readonly Job[], options: RunOptions, signal: AbortSignal): Promise<Store> {
  const { file, command, log, flags } = options
  const { distributed = false } = flags
  const durability = distributed ? 'full' : (flags.durability ?? 'normal')
  const open = () => openWriter(file, `${command} ${jobs.map(({ name }) => name).join(' ')}`, { durability, signal })
  if (!distributed) return open()
  const { waitForServer } = await import('../../cluster/waitForServer.ts')
  return waitForServer(open, createEmitter(eventsTo(log)), command)
}

/** Shares the pace, and the queue if workers execute the plans, with the other processes of a server. */
async function shareRun(store: Store, { file, settings, flags }: RunOptions): Promise<SharedRun | undefined> {
  if (!isAddress(file)) return undefined
  const { openSharedRun } = await import('../../cluster/sharedRun.ts')
  return openSharedRun(store, settings, flags.distributed)
}

/** Runs one job and shows its progress. */
async function runJob(
  context: SyncContext,
  spec: RunSpec,
  { flags, syncOne = sync }: RunOptions,
  onStarted: () => void,
): Promise<Summary> {
  const { job, command } = spec
  const { store, onEvent: emitLog } = context
  const progress = createProgress(
    flags.quiet,
    (fields) => createEmitter(emitLog, { job: job.name, command })('run.progress', fields),
    async ({ series }) => (series ? readIndicatorName(store, series.kind, series.indicatorId) : undefined),
  )
  const jobContext: SyncContext = {
    ...context,
    onEvent: (event) => {
      if (event.event === 'run.started') onStarted()
      emitLog?.(event)
    },
    onProgress: progress.show,
  }
  return syncOne(jobContext, spec).finally(progress.end)
}

/** A command is as good as its worst job: an outage is worse than a planned stop, and any other error is worse than an outage. */
function worstCode(summaries: readonly Summary[]): number {
  const codes = summaries.flatMap(({ earlyEnd }) => (earlyEnd ? [exitCodeFor(earlyEnd)] : []))
  const lesser: readonly number[] = [EXIT.unavailable, EXIT.stopped]
  const worst = codes.find((code) => !lesser.includes(code)) ?? lesser.find((code) => codes.includes(code))
  if (worst !== undefined) return worst
  return summaries.every(({ outcome }) => outcome === 'done') ? EXIT.done : EXIT.partial
}
