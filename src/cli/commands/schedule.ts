import { setTimeout as sleep } from 'node:timers/promises'
import { Parser } from 'yargs/helpers'
import { isLocked } from '../../db/lock.ts'
import type { Job } from '../../job/job.ts'
import { InputError, StoppedError } from '../../util/errors.ts'
import { createEmitter } from '../../util/events.ts'
import { eventsTo } from '../../util/log.ts'
import { asSyncError } from '../../util/systemErrors.ts'
import { formatMillis, toInstant } from '../../util/time/instant.ts'
import { formatLocal } from '../../util/time/zone.ts'
import type { Args } from '../command.ts'
import { COMMON_FLAGS, DISTRIBUTED_FLAG, JOBS, RUN_FLAGS } from '../flags.ts'
import { createDueTimes } from '../jobs/dueTimes.ts'
import { createNotifier, readNotifyTargets } from '../jobs/notify.ts'
import { readJobs } from '../jobs/readJobs.ts'
import { refuseDistributed } from '../jobs/runAndPrint.ts'
import { runChild } from '../jobs/runChild.ts'
import { readSettings, requireService } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { logFor } from '../terminal/progress.ts'
import { watchSignals } from '../terminal/signals.ts'

export const positionals = JOBS
export const flags = { ...RUN_FLAGS, ...DISTRIBUTED_FLAG } as const
export const examples = ['schedule jobs/nightly.yaml --service esios']
export const endsWithOutput = true

type ScheduleArgs = Args<typeof flags, typeof positionals>

/** The clock is read at least this often, so that a jump is noticed. */
const POLL_MS = 30_000

/** Waits for some milliseconds, or until a signal. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined)

/** Reads the settings, the jobs and the log; throws if a job has no schedule. */
function readScheduled(args: ScheduleArgs) {
  const settings = readSettings(args)
  refuseDistributed(args, settings)
  const jobs = readJobs(args.jobs, settings.service.value)
  const unscheduled = jobs.filter(({ schedule }) => schedule === null)
  if (unscheduled.length > 0)
    throw new InputError(`Missing schedule in job ${unscheduled.map(({ name }) => name).join(', ')}.`, {
      hint: 'Add a line such as schedule: "15 21 * * *" to the job file.',
      code: 'no-schedule',
    })
  const log = logFor(args, [requireService(settings).key])
  const notify = readNotifyTargets(args)
  const notifier = (notified: readonly Job[]) => createNotifier(notified, notify, { command: 'schedule', log })
  // Reports mistakes in the targets.
  notifier(jobs)
  return { jobs, file: settings.database.value, service: settings.service.value, log, notifier }
}

/** The command line that runs a job file once with the same flags. */
function syncWords(args: ScheduleArgs, file: string): string[] {
  const values: Readonly<Record<string, unknown>> = { ...args }
  const words = Object.keys({ ...COMMON_FLAGS, ...flags }).flatMap((name) => {
    const value = values[Parser.camelCase(name)]
    if (value === undefined || value === false) return []
    return value === true ? [`--${name}`] : [value].flat().map((text) => `--${name}=${text}`)
  })
  return ['sync', file, ...words]
}

export async function handler(args: ScheduleArgs): Promise<number> {
  const { jobs, file: database, service, log, notifier } = readScheduled(args)
  const emit = createEmitter(eventsTo(log))
  const signals = watchSignals((fields) =>
    emit('signal.received', { ...fields, reason: 'Stopping; repeat the signal to stop immediately.' }),
  )
  const { signal } = signals
  const due = createDueTimes(jobs, Date.now())
  const logNext = (job: Job): void => {
    const at = due.at(job)
    const reason = `next at ${formatLocal(job.timeZone, toInstant(at))}`
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
  /** Records a run whose process did not start: `check` reports it until the next run of the job file succeeds. */
  const recordFailure = async (file: string, error: unknown): Promise<void> => {
    const { recordFiles } = await import('../jobs/unstarted.ts')
    await recordFiles([file], error, { command: 'schedule', part: undefined, log, database, service })
  }
  /** Runs a job in a child process, so that the schedule survives its crash. */
  const run = async (job: Job): Promise<void> => {
    try {
      const jobFile = args.jobs[jobs.indexOf(job)]!
      // It may have changed since the start. The files of other jobs may be invalid now.
      const { file } = readScheduled({ ...args, jobs: [jobFile] })
      // A run that finds the lock taken would fail and notify of it.
      const end = (await isLocked(file)) ? EXIT.busy : await runChild(syncWords(args, jobFile), signals)
      if (end === EXIT.busy) {
        due.retry(job, Date.now())
        emit('schedule.waiting', { job: job.name, reason: `another process is writing to ${file}.` })
      } else if (typeof end === 'string' && !signal.aborted)
        await reportFailure(job, 'killed', `its process was ended by ${end}.`)
    } catch (error) {
      const { code, message, hint } = asSyncError(error)
      await reportFailure(job, code, `it could not start: ${message}`, hint)
      await recordFailure(args.jobs[jobs.indexOf(job)]!, error)
    }
  }
  const names = jobs.map(({ name }) => name).join(', ')
  let isStored = false
  let isStoringReported = false
  /** Stores the definitions of the jobs before their first runs. Tries again later if the database is busy or out of reach. */
  const tryToStore = async (): Promise<void> => {
    try {
      if (await isLocked(database)) return
      const { storeDefinitions } = await import('../jobs/storeDefinitions.ts')
      await storeDefinitions(jobs, database, service)
      isStored = true
    } catch (error) {
      const { message } = asSyncError(error)
      if (!isStoringReported) emit('schedule.waiting', { job: names, reason: `the job is not stored yet: ${message}` })
      isStoringReported = true
    }
  }
  try {
    while (!signal.aborted) {
      noticeSetBack()
      if (!isStored) await tryToStore()
      const job = due.first()
      const left = due.at(job) - Date.now()
      if (left > 0) {
        await pause(Math.min(left, POLL_MS), signal)
        continue
      }
      // Jobs run one after the other. A time that passes meanwhile is made up for once.
      due.start(job, Date.now())
      await run(job)
      if (!signal.aborted) logNext(job)
    }
  } finally {
    signals.release()
  }
  return signals.code() ?? EXIT.done
}
