import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { openWriter } from '../../db/lock.ts'
import type { Job } from '../../job/job.ts'
import type { Notify } from '../../job/notification.ts'
import { readHeader } from '../../job/read.ts'
import type { Service } from '../../service/service.ts'
import { SERVICES } from '../../service/services.ts'
import type { JobSource } from '../../sync/jobIdentity.ts'
import { recordUnstarted, type UnstartedRun } from '../../sync/recordUnstarted.ts'
import { createUnreachedError } from '../../sync/runJobs.ts'
import { BusyError, StoppedError, StoreError, type SyncError } from '../../util/errors.ts'
import { eventsTo, type Logger } from '../../util/log.ts'
import { asSyncError } from '../../util/systemErrors.ts'
import { readPublicSettings, type SettingFlags } from '../settings/config.ts'
import { databaseExists } from '../settings/databases.ts'
import { secrets } from '../terminal/secrets.ts'
import { findJobSource, findRealPath } from './jobSource.ts'
import { createNotifier } from './notify.ts'
import { type JobFileContent, readJobFiles } from './readJobs.ts'
import { unstartedError } from './trackJobs.ts'

/*
 * Runs that do not start, such as of a job file with mistakes. Nobody reads the output of a timer: the failure is notified, and recorded
 * where `check` finds it. At a terminal, a person sees it.
 */

/** True at a terminal, where a person sees the errors. */
const isAttended = (): boolean => process.stderr.isTTY === true

/** How runs that did not start are recorded. */
interface RecordOptions {
  readonly command: string
  readonly part: string | undefined
  /** The database: a path or an address. */
  readonly database: string
  readonly service: Service
  readonly log: Logger
}

/**
 * Records runs that did not start, if the database exists and can be opened. A database that was refused or is in use is not tried
 * again.
 */
async function recordUnstartedRuns(
  runs: readonly UnstartedRun[],
  { command, part, database, service, log }: RecordOptions,
): Promise<void> {
  const cannotWrite = ({ error }: UnstartedRun): boolean => error instanceof StoreError || error instanceof BusyError
  if (runs.length === 0 || runs.some(cannotWrite)) return
  try {
    if (!(await databaseExists(database))) return
    const store = await openWriter(database, command)
    try {
      const context = { store, service, nowMs: Date.now, onEvent: eventsTo(log) }
      await recordUnstarted(context, runs, { command, part, secrets: secrets() })
    } finally {
      await store.close()
    }
  } catch {
    // The command reports its own error. That its run could not be recorded is a lesser problem, and is not reported.
  }
}

/** The host and path of a job file that may be missing; undefined for a pipe, which no later run reads again. */
function findUnreadSource(file: string): JobSource | undefined {
  const path = resolve(findRealPath(file))
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats && !stats.isFile() && !stats.isDirectory() ? undefined : { host: hostname(), file: path }
}

/** Describes the run of a readable job that did not start; null for a job without a file, such as one of the program itself. */
function describeRun(job: Job, error: SyncError | null): UnstartedRun | null {
  const source = findJobSource(job)
  return source ? { job, source, error } : null
}

/** Records the jobs of a command whose runs did not start. `endedBy`: the job whose planning ended the command; null if none did. */
export async function recordUnrecorded(
  jobs: readonly Job[],
  thrown: unknown,
  { endedBy, ...options }: RecordOptions & { readonly endedBy: Job | null },
): Promise<void> {
  const error = asSyncError(thrown)
  if (isAttended() || error instanceof StoppedError) return
  const runs = jobs.flatMap((job) => describeRun(job, unstartedError(job, error, endedBy)) ?? [])
  await recordUnstartedRuns(runs, options)
}

/** A job file of a command that failed: whom to notify, and what to record. `error`: null if another file ended the command. */
function describeFile({ file, text, job }: JobFileContent, error: SyncError | null) {
  if (job) return { notified: job, run: describeRun(job, error) }
  const { name, notify } = readHeader(text ?? '')
  const source = findUnreadSource(file)
  return { notified: { name: name ?? file, notify }, run: source ? { name, file, source, error } : null }
}

/** Describes the job files of a command that failed: by their own mistakes, else by the error of the command. */
function describeFiles(files: readonly string[], service: Service, thrown: SyncError) {
  const contents = readJobFiles(files, service)
  const broken = contents.find(({ mistakes }) => mistakes !== null)
  return contents.map((content) => {
    const error = content.mistakes ?? (broken ? null : thrown)
    const notifiedError = error ?? createUnreachedError(broken!.job?.name ?? broken!.file)
    return { ...describeFile(content, error), error: notifiedError }
  })
}

/** Records that the jobs of files did not start, whether a person sees the errors or not. */
export async function recordFiles(files: readonly string[], thrown: unknown, options: RecordOptions): Promise<void> {
  const unstarted = describeFiles(files, options.service, asSyncError(thrown))
  await recordUnstartedRuns(
    unstarted.flatMap(({ run }) => run ?? []),
    options,
  )
}

/** Notifies of a command that failed before its runs began, and records them as failed. Does nothing at a terminal. */
export async function reportUnstarted(
  args: SettingFlags,
  thrown: unknown,
  {
    command,
    part,
    log,
    files,
    jobs,
    targets,
  }: Pick<RecordOptions, 'command' | 'part' | 'log'> & {
    readonly files: readonly string[]
    readonly jobs: readonly Job[]
    readonly targets: readonly Notify[]
  },
): Promise<void> {
  const error = asSyncError(thrown)
  if (isAttended() || error instanceof StoppedError) return
  const settings = tryToRead(() => readPublicSettings(args))
  const service = settings?.service.value ?? SERVICES.generic
  const unstarted = [
    ...describeFiles(files, service, error),
    ...jobs.map((job) => ({ notified: job, error, run: describeRun(job, error) })),
  ]
  const notifier = createNotifier(
    unstarted.map(({ notified }) => notified),
    targets,
    { command, log, skipsInvalid: true },
  )
  for (const { notified, error } of unstarted) notifier.broke(notified, error)
  const runs = unstarted.flatMap(({ run }) => run ?? [])
  const database = settings?.database.value
  if (database !== undefined) await recordUnstartedRuns(runs, { command, part, log, database, service })
  await notifier.finish()
}

/** The result of a function; null if it throws. */
function tryToRead<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}
