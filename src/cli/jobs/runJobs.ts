import { setTimeout as sleep } from 'node:timers/promises'
import { eventsTo, type Logger } from '../../base/log.ts'
import type { Interval } from '../../base/time/interval.ts'
import { placeOf } from '../../db/address.ts'
import { openWriter } from '../../db/lock.ts'
import { openStore } from '../../db/open.ts'
import type { Durability, Store } from '../../db/store.ts'
import type { Summary, SyncContext } from '../../ingestAll.ts'
import type { Job } from '../../job/job.ts'
import type { Notify } from '../../job/notify.ts'
import type { PlanOptions } from '../../plan/planning.ts'
import { createRequested } from '../../plan/requested.ts'
import { indicatorName } from '../../state/catalogue.ts'
import { sync } from '../../sync.ts'
import type { RangeArgs } from '../flags.ts'
import { canShrinkHeap, shrinkHeap } from '../heap.ts'
import { refuseExposed } from '../settings/config.ts'
import { EXIT, exitCodeOf } from '../terminal/fail.ts'
import { createProgress } from '../terminal/progress.ts'
import { watchSignals } from '../terminal/signals.ts'
import { rangeOf } from '../times.ts'
import { version } from '../version.ts'
import { createNotifier, type Notifier } from './notify.ts'
import type { SharedRun } from './sharedRun.ts'

/** What running jobs needs beside the jobs. */
export interface RunOptions extends RangeArgs, Pick<SyncContext, 'service' | 'baseUrl' | 'key' | 'rejects' | 'limits'> {
  readonly file: string
  /** Whether the key may be sent unencrypted to another machine. */
  readonly allowHttp?: boolean
  readonly command: string
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

/** Runs jobs one after the other as the only writer of the file; stops at the first that ends early. */
export async function runJobs(
  jobs: readonly Job[],
  options: RunOptions,
): Promise<{ code: number; summaries: Summary[] }> {
  const notifier = createNotifier(jobs, options.notify ?? [], options)
  const open = new Set(jobs)
  try {
    const result = await runAll(jobs, options, {
      started: notifier.started,
      abort: notifier.abort,
      ended: (job, summary) => {
        open.delete(job)
        notifier.ended(job, summary)
      },
    })
    // After a stop, no further job is started.
    if (result.code === EXIT.sigint || result.code === EXIT.sigterm) return result
    const ran = jobs.slice(0, result.summaries.length)
    if (ran.every(({ lake }) => lake === null)) return result
    const { syncLakes } = await import('./lakes.ts')
    const code = await syncLakes(ran, options)
    return { ...result, code: result.code === EXIT.done ? code : result.code }
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
  emit: Pick<Notifier, 'started' | 'ended' | 'abort'>,
): Promise<{ code: number; summaries: Summary[] }> {
  const { log, file, command } = options
  for (const job of jobs) rangeOf(options, job.timeZone, Math.floor(Date.now() / 1000))
  refuseExposed(options)
  const stopping = new AbortController()
  const signal = options.signal ?? stopping.signal
  const opening = { durability: options.durability ?? 'normal', signal } as const
  // Whoever hands out what is planned writes beside others.
  const store = options.distributed
    ? await openStore(file, opening)
    : await openWriter(file, `${command} ${jobs.map(({ name }) => name).join(' ')}`, opening)
  const emitLog = eventsTo(log)
  // Not before the database is open: until then there is nothing to finish, and a signal ends the process at once.
  const signals = watchSignals(emitLog, stopping)
  signal.addEventListener('abort', emit.abort, { once: true })
  const summaries: Summary[] = []
  const begun = new Set<Job>()
  let sharedRun: SharedRun | undefined
  try {
    if (placeOf(file).isShared) {
      const { openSharedRun } = await import('./sharedRun.ts')
      sharedRun = await openSharedRun(file, store, { ...options, signal }, options.distributed ?? false)
    } else await afterLastCall(store)
    const requested = sharedRun?.context.requested ?? createRequested()
    const withOptions = (job: Job) => {
      const range = rangeOf(options, job.timeZone, Math.floor(Date.now() / 1000))
      return { job, options: options.optionsFor?.(range) ?? {} }
    }
    for (const [i, job] of jobs.entries()) {
      const progress = createProgress({
        quiet: options.quiet,
        tell: (fields) => emitLog({ event: 'run.progress', job: job.name, command, ...fields }),
        nameOf: async ({ series }) => (series ? indicatorName(store, series.kind, series.indicatorId) : undefined),
      })
      const context: SyncContext = {
        ...options,
        store,
        requested,
        later: jobs.slice(i + 1).map(withOptions),
        version: version(),
        now: Date.now,
        ...sharedRun?.context,
        signal,
        onProgress: (shown) => {
          options.onActivity?.()
          return progress.show(shown)
        },
        // A command that has something to fetch restarts itself with the heap for that, before anything is reported.
        onPlanned: async (requests) => {
          if (options.signal || sharedRun || i > 0 || requests === 0 || !canShrinkHeap()) return
          await store.close()
          shrinkHeap('replies')
        },
        onEvent: (event) => {
          options.onActivity?.()
          if (event.event === 'run.started' && !begun.has(job)) {
            begun.add(job)
            emit.started(job)
          }
          emitLog(event)
        },
        onFailure: options.onActivity,
      }
      const running = options.runOne
        ? options.runOne(context, job)
        : sync(context, job, command, withOptions(job).options)
      const summary = await running.finally(progress.end)
      summaries.push(summary)
      emit.ended(job, summary)
      if (summary.stop) break
    }
  } finally {
    signals.release()
    signal.removeEventListener('abort', emit.abort)
    await sharedRun?.close()
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
