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
import { isDistributed } from '../jobs/fetchJobs.ts'
import { readJobs } from '../jobs/jobs.ts'
import { createNotifier, notifyTargets } from '../jobs/notify.ts'
import { runJobs } from '../jobs/runJobs.ts'
import { readSettings, requireService } from '../settings/config.ts'
import { describe, EXIT, exitCodeFor, failedFields } from '../terminal/fail.ts'
import { logFor } from '../terminal/logging.ts'
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

async function readScheduled(args: ScheduleArgs): Promise<Job[]> {
  const jobs = readJobs(args.jobs, readSettings(args).service.value)
  const without = jobs.filter(({ schedule }) => schedule === null)
  if (without.length === 0) return jobs
  throw new InputError(`Missing schedule in job ${without.map(({ name }) => name).join(', ')}.`, {
    hint: 'Add a line such as schedule: "15 21 * * *" to the job file.',
    code: 'no-schedule',
  })
}

/** What one run works with. The files may have changed since the start: where they are wrong now, the parent process reports it. */
async function readAgain(args: ScheduleArgs, index: number) {
  try {
    const settings = readSettings(args)
    // The files of the others may be no jobs any more.
    const [job] = (await readScheduled({ ...args, jobs: [args.jobs[index]!] })) as [Job]
    const service = requireService(settings)
    const log = logFor(args, listSecrets(service.key))
    createNotifier([job], notifyTargets(args), { command: 'schedule', log })
    return { job, file: settings.database.value, service, log }
  } catch (error) {
    reportRefusal(error)
    throw error
  }
}

/** One run of one job, in its own process. Where another process writes to the database, it waits until the job is due again. */
async function runOnce(args: ScheduleArgs, { index, parent }: ChildRun): Promise<number> {
  endWithParent(parent)
  reportAlive()
  const { job, file, service, log } = await readAgain(args, index)
  const emit = createEmitter(eventsTo(log))
  const signals = watchSignals((fields) => emit('signal.received', fields))
  try {
    const until = nextTime(job, Date.now())
    for (let waits = 0; (await isLocked(file)) && Date.now() < until && !signals.signal.aborted; waits++) {
      if (waits === 0)
        emit('schedule.waiting', {
          job: job.name,
          reason: `another process is writing to ${file}; waiting for it.`,
        })
      reportAlive()
      await sleep(1000, undefined, { signal: signals.signal }).catch(() => undefined)
    }
    if (signals.signal.aborted) return signals.code() ?? EXIT.done
    const { code, summaries } = await runJobs([job], {
      ...service,
      file,
      distributed: isDistributed(args, readSettings(args)),
      command: 'schedule',
      log,
      quiet: args.quiet,
      durability: args.durability,
      onReject: args.onReject,
      notify: notifyTargets(args),
      signal: signals.signal,
      onActivity: reportAlive,
    })
    // The JSON log has events for this.
    const printed = args.logFormat === 'json' ? [] : summaries
    for (const summary of printed) log[summary.outcome === 'done' ? 'info' : 'warn'](summaryText(summary))
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
  isDistributed(args, readSettings(args))
  const jobs = await readScheduled(args)
  // Reported now, not when the job is due.
  const { key } = requireService(readSettings(args))
  const log = logFor(args, listSecrets(key))
  createNotifier(jobs, notifyTargets(args), { command: 'schedule', log })
  const emit = createEmitter(eventsTo(log))
  const signals = watchSignals((fields) =>
    emit('signal.received', { ...fields, reason: 'Stopping; repeat the signal to stop immediately.' }),
  )
  const due = createDueTimes(jobs, Date.now())
  const logNext = (job: Job): void => {
    const at = due.at(job)
    const reason = `next at ${formatLocal(job.timeZone, Math.floor(at / 1000))}`
    emit('schedule.next', { job: job.name, at: formatMillis(at), reason })
  }
  jobs.forEach(logNext)
  let clock = Date.now()
  /** Without this, jobs would wait for as long as the clock was ahead. */
  const noticeSetBack = (): void => {
    const now = Date.now()
    if (now < clock) due.setBack(now).forEach(logNext)
    clock = now
  }
  /** Reports a run whose process could not report it. */
  const broken = async (job: Job, how: string, code: string, hint?: string): Promise<void> => {
    emit('schedule.failed', { job: job.name, code, reason: how, hint: hint ?? null })
    const notifier = createNotifier([job], notifyTargets(args), { command: 'schedule', log })
    notifier.broke(job, new StoppedError(`The run failed: ${how}`, { code, ...(hint && { hint }) }))
    if (signals.signal.aborted) notifier.abort()
    else signals.signal.addEventListener('abort', notifier.abort, { once: true })
    await notifier.finish()
    signals.signal.removeEventListener('abort', notifier.abort)
  }
  try {
    while (!signals.signal.aborted) {
      noticeSetBack()
      const job = due.first()
      const left = due.at(job) - Date.now()
      if (left > 0) {
        await sleep(Math.min(left, POLL_MS), undefined, { signal: signals.signal }).catch(() => undefined)
        continue
      }
      // One after the other: a time that passed meanwhile is run once, afterwards.
      due.start(job, Date.now())
      const ended = await runInChild(jobs.indexOf(job), { stallMs: STALL_S * 1000, signals })
      if (ended === 'stalled') {
        const how = `no progress for ${STALL_S} s; it was stopped. Loaded data is kept.`
        await broken(job, how, 'stalled')
      } else if (typeof ended === 'object') {
        const { code, reason, hint } = ended.refused
        await broken(job, `it could not start: ${reason}`, code, hint)
      } else if (ended === EXIT.busy) due.retry(job, Date.now())
      else if (typeof ended === 'string' && !signals.signal.aborted)
        await broken(job, `its process was ended by ${ended}.`, 'killed')
      if (!signals.signal.aborted) logNext(job)
    }
  } finally {
    signals.release()
  }
  return signals.code() ?? EXIT.done
}
