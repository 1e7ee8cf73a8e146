import { setTimeout as sleep } from 'node:timers/promises'
import { Parser } from 'yargs/helpers'
import { isLocked } from '../../db/lock.ts'
import type { Job } from '../../job/job.ts'
import { InputError, StoppedError } from '../../util/errors.ts'
import { createEmitter, type EmitEvent } from '../../util/events.ts'
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
  // Mistakes in the targets of notifications are reported now, not after the first run.
  notifier(jobs)
  return { jobs, database: settings.database.value, service: settings.service.value, log, notifier }
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

/** The settings and services that all parts of the schedule use. */
interface ScheduleContext extends ReturnType<typeof readScheduled> {
  readonly args: ScheduleArgs
  readonly emit: EmitEvent
  readonly signals: ReturnType<typeof watchSignals>
}

/** Reports a run whose process could not report it. */
async function reportFailure(
  { emit, notifier, signals: { signal } }: ScheduleContext,
  job: Job,
  { code, reason, hint }: { readonly code: string; readonly reason: string; readonly hint?: string | undefined },
): Promise<void> {
  emit('schedule.failed', { job: job.name, code, reason, hint: hint ?? null })
  const { broke, abort, finish } = notifier([job])
  broke(job, new StoppedError(`The run failed: ${reason}`, { code, ...(hint && { hint }) }))
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  await finish()
  signal.removeEventListener('abort', abort)
}

/** Records a run whose process did not start: `check` reports it until the next run of the job file succeeds. */
async function recordFailure({ log, database, service }: ScheduleContext, file: string, error: unknown): Promise<void> {
  const { recordFiles } = await import('../jobs/unstarted.ts')
  await recordFiles([file], error, { command: 'schedule', part: undefined, log, database, service })
}

/**
 * Runs a job in a child process, so that the schedule survives its crash. Returns false if another process is writing to the database:
 * the run would fail and notify of it.
 */
async function runJob(context: ScheduleContext, job: Job): Promise<boolean> {
  const { args, jobs, emit, signals } = context
  const jobFile = args.jobs[jobs.indexOf(job)]!
  try {
    // It may have changed since the start. The files of other jobs may be invalid now.
    const { database } = readScheduled({ ...args, jobs: [jobFile] })
    const end = (await isLocked(database)) ? EXIT.busy : await runChild(syncWords(args, jobFile), signals)
    if (end === EXIT.busy) {
      emit('schedule.waiting', { job: job.name, reason: `another process is writing to ${database}.` })
      return false
    }
    if (typeof end === 'string' && !signals.signal.aborted)
      await reportFailure(context, job, { code: 'killed', reason: `its process was ended by ${end}.` })
  } catch (error) {
    const { code, message, hint } = asSyncError(error)
    await reportFailure(context, job, { code, reason: `it could not start: ${message}`, hint })
    await recordFailure(context, jobFile, error)
  }
  return true
}

/**
 * Returns a function that stores the definitions of the jobs before their first runs. If the database is busy or out of reach, its next
 * call tries again.
 */
function createDefinitionStorer({ jobs, database, service, emit }: ScheduleContext): () => Promise<void> {
  const names = jobs.map(({ name }) => name).join(', ')
  let isStored = false
  let isReported = false
  return async () => {
    if (isStored) return
    try {
      if (await isLocked(database)) return
      const { storeDefinitions } = await import('../jobs/storeDefinitions.ts')
      await storeDefinitions(jobs, database, service)
      isStored = true
    } catch (error) {
      const { message } = asSyncError(error)
      if (!isReported) emit('schedule.waiting', { job: names, reason: `the job is not stored yet: ${message}` })
      isReported = true
    }
  }
}

/** The due times of the jobs, which are logged whenever they change. */
function createScheduler({ jobs, emit }: ScheduleContext) {
  const due = createDueTimes(jobs, Date.now())
  let clock = Date.now()
  const logNext = (job: Job): void => {
    const at = due.at(job)
    const reason = `next at ${formatLocal(job.timeZone, toInstant(at))}`
    emit('schedule.next', { job: job.name, at: formatMillis(at), reason })
  }
  jobs.forEach(logNext)
  return {
    due,
    logNext,
    /** If the clock was set back, jobs are due earlier: otherwise they would wait for as long as it was ahead. */
    noticeSetBack(): void {
      const now = Date.now()
      if (now < clock) due.setBack(now).forEach(logNext)
      clock = now
    },
  }
}

/** Runs the jobs at their times, one after the other, until a signal. A time that passes meanwhile is made up for once. */
async function runAtDueTimes(context: ScheduleContext): Promise<void> {
  const { signal } = context.signals
  const { due, logNext, noticeSetBack } = createScheduler(context)
  const storeDefinitions = createDefinitionStorer(context)
  while (!signal.aborted) {
    noticeSetBack()
    await storeDefinitions()
    const job = due.first()
    const left = due.at(job) - Date.now()
    if (left > 0) {
      await pause(Math.min(left, POLL_MS), signal)
      continue
    }
    due.start(job, Date.now())
    if (!(await runJob(context, job))) due.retry(job, Date.now())
    if (!signal.aborted) logNext(job)
  }
}

export async function handler(args: ScheduleArgs): Promise<number> {
  const scheduled = readScheduled(args)
  const emit = createEmitter(eventsTo(scheduled.log))
  const signals = watchSignals((fields) =>
    emit('signal.received', { ...fields, reason: 'Stopping; repeat the signal to stop immediately.' }),
  )
  try {
    await runAtDueTimes({ ...scheduled, args, emit, signals })
  } finally {
    signals.release()
  }
  return signals.code() ?? EXIT.done
}
