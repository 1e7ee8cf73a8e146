import { setTimeout as sleep } from 'node:timers/promises'
import { isLocked } from '../../db/lock.ts'
import type { Job } from '../../job/job.ts'
import { listSecrets } from '../../service/key.ts'
import { InputError, StoppedError } from '../../util/errors.ts'
import { createEmitter } from '../../util/events.ts'
import { endWithParent } from '../../util/lifetime.ts'
import { eventsTo } from '../../util/log.ts'
import { formatMillis } from '../../util/time/instant.ts'
import { formatLocal } from '../../util/time/zone.ts'
import type { Args } from '../command.ts'
import { DISTRIBUTED_FLAG, JOBS, RUN_FLAGS } from '../flags.ts'
import { type ChildRun, readChildRun, reportAlive, reportRefusal, runInChild } from '../jobs/childRun.ts'
import { createDueTimes, nextTime } from '../jobs/dueTimes.ts'
import { createNotifier, notifyTargets } from '../jobs/notify.ts'
import { readJobs } from '../jobs/readJobs.ts'
import { isDistributed } from '../jobs/runAndPrint.ts'
import { runJobs } from '../jobs/runJobs.ts'
import { readSettings, requireService } from '../settings/config.ts'
import { describe, EXIT, exitCodeFor, failedFields } from '../terminal/fail.ts'
import { logFor } from '../terminal/progress.ts'
import { signalCode, watchSignals } from '../terminal/signals.ts'
import { summaryText } from '../text/summary.ts'

export const positionals = JOBS
export const flags = { ...RUN_FLAGS, ...DISTRIBUTED_FLAG } as const
export const examples = ['schedule jobs/nightly.yaml --service esios']
export const endsWithOutput = true

type ScheduleArgs = Args<typeof flags, typeof positionals>

/** A run that reports nothing for this long has hung. */
const STALL_S = 3600

/** The clock is read at least this often, so that a jump is noticed. */
const POLL_MS = 30_000

/** Waits for some milliseconds, or until a signal. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined)

/** Reads the settings, the jobs and the log; throws if a job has no schedule. */
function readScheduled(args: ScheduleArgs) {
  const settings = readSettings(args)
  const distributed = isDistributed(args, settings)
  const jobs = readJobs(args.jobs, settings.service.value)
  const unscheduled = jobs.filter(({ schedule }) => schedule === null)
  if (unscheduled.length > 0)
    throw new InputError(`Missing schedule in job ${unscheduled.map(({ name }) => name).join(', ')}.`, {
      hint: 'Add a line such as schedule: "15 21 * * *" to the job file.',
      code: 'no-schedule',
    })
  const service = requireService(settings)
  const log = logFor(args, listSecrets(service.key))
  const notify = notifyTargets(args)
  const notifier = (notified: readonly Job[]) => createNotifier(notified, notify, { command: 'schedule', log })
  // Reports mistakes in the targets.
  notifier(jobs)
  return { jobs, file: settings.database.value, service, distributed, log, notify, notifier }
}

/** Reads the files again for a run: they may have changed since the start. The parent process reports mistakes. */
function readAgain(args: ScheduleArgs, index: number) {
  try {
    // The files of other jobs may be invalid now.
    return readScheduled({ ...args, jobs: [args.jobs[index]!] })
  } catch (error) {
    reportRefusal(error)
    throw error
  }
}

/** Runs a job once, in a child process. Waits for another writer until the job is due again. */
async function runOnce(args: ScheduleArgs, { index, parent }: ChildRun): Promise<number> {
  endWithParent(parent)
  reportAlive()
  const { jobs, file, service, distributed, log, notify } = readAgain(args, index)
  const [job] = jobs as [Job]
  const emit = createEmitter(eventsTo(log))
  const signals = watchSignals((fields) => emit('signal.received', fields))
  const { signal } = signals
  try {
    const until = nextTime(job, Date.now())
    for (let waits = 0; (await isLocked(file)) && Date.now() < until && !signal.aborted; waits++) {
      const reason = `another process is writing to ${file}; waiting for it.`
      if (waits === 0) emit('schedule.waiting', { job: job.name, reason })
      reportAlive()
      await pause(1000, signal)
    }
    if (signal.aborted) return signals.code() ?? EXIT.done
    const { code, summaries } = await runJobs([job], {
      ...service,
      file,
      distributed,
      command: 'schedule',
      log,
      quiet: args.quiet,
      durability: args.durability,
      onReject: args.onReject,
      notify,
      signal,
      onActivity: reportAlive,
    })
    // The JSON log has events for this.
    for (const summary of args.logFormat === 'json' ? [] : summaries)
      log[summary.outcome === 'done' ? 'info' : 'warn'](summaryText(summary))
    return code
  } catch (error) {
    if (args.logFormat === 'json') emit('command.failed', failedFields(error))
    else log.error(describe(error))
    return signalCode(error) ?? exitCodeFor(error)
  } finally {
    signals.release()
  }
}

export async function handler(args: ScheduleArgs): Promise<number> {
  const childRun = readChildRun()
  if (childRun) return runOnce(args, childRun)
  const { jobs, log, notifier } = readScheduled(args)
  const emit = createEmitter(eventsTo(log))
  const signals = watchSignals((fields) =>
    emit('signal.received', { ...fields, reason: 'Stopping; repeat the signal to stop immediately.' }),
  )
  const { signal } = signals
  const due = createDueTimes(jobs, Date.now())
  const logNext = (job: Job): void => {
    const at = due.at(job)
    const reason = `next at ${formatLocal(job.timeZone, Math.floor(at / 1000))}`
    emit('schedule.next', { job: job.name, at: formatMillis(at), reason })
  }
  jobs.forEach(logNext)
  let clock = Date.now()
  /** If the clock was set back, jobs are due earlier: otherwise they would wait for as long as it was ahead. */
  const noticeSetBack = (): void => {
    const now = Date.now()
    if (now < clock) due.setBack(now).forEach(logNext)
    clock = now
  }
  /** Reports a run whose process could not report it. */
  const reportFailure = async (job: Job, code: string, reason: string, hint?: string): Promise<void> => {
    emit('schedule.failed', { job: job.name, code, reason, hint: hint ?? null })
    const { broke, abort, finish } = notifier([job])
    broke(job, new StoppedError(`The run failed: ${reason}`, { code, ...(hint && { hint }) }))
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    await finish()
    signal.removeEventListener('abort', abort)
  }
  try {
    while (!signal.aborted) {
      noticeSetBack()
      const job = due.first()
      const left = due.at(job) - Date.now()
      if (left > 0) {
        await pause(Math.min(left, POLL_MS), signal)
        continue
      }
      // Jobs run one after the other. A time that passes meanwhile is made up for once.
      due.start(job, Date.now())
      const end = await runInChild(jobs.indexOf(job), { stallMs: STALL_S * 1000, signals })
      if (end === 'stalled')
        await reportFailure(job, 'stalled', `no progress for ${STALL_S} s; it was stopped. Loaded data is kept.`)
      else if (typeof end === 'object') {
        const { code, reason, hint } = end.refused
        await reportFailure(job, code, `it could not start: ${reason}`, hint)
      } else if (end === EXIT.busy) due.retry(job, Date.now())
      else if (typeof end === 'string' && !signal.aborted)
        await reportFailure(job, 'killed', `its process was ended by ${end}.`)
      if (!signal.aborted) logNext(job)
    }
  } finally {
    signals.release()
  }
  return signals.code() ?? EXIT.done
}
