import type { Reader } from '../../db/store.ts'
import type { Job, Pace } from '../../job/job.ts'
import { normalizeJob } from '../../job/normalize.ts'
import { strictestPace } from '../../job/pace.ts'
import { planRetry } from '../../plan/planRetry.ts'
import type { Service } from '../../service/service.ts'
import { readRetryRequests } from '../../state/failedRequests.ts'
import { readStoredJobs, type StoredJob } from '../../state/storedJobs.ts'
import type { RunSpec, SyncContext } from '../../sync/context.ts'
import { readRequestingJobs, sortByLastAttempt } from '../../sync/earlierRequests.ts'
import { createFixedPlan } from '../../sync/planRun.ts'
import { executeRun } from '../../sync/run.ts'
import { NO_JOB_NOTES, type Summary } from '../../sync/sync.ts'
import { InputError } from '../../util/errors.ts'
import { toInstant } from '../../util/time/instant.ts'
import type { Args } from '../command.ts'
import { JSON_FLAG, RUN_FLAGS } from '../flags.ts'
import { readJobs } from '../jobs/readJobs.ts'
import { runAndPrint } from '../jobs/runAndPrint.ts'
import { readSettings } from '../settings/config.ts'
import { withReader } from '../settings/databases.ts'

export const positionals = {
  job: {
    type: 'string',
    describe: 'Job file with the pace; default: the strictest pace concerned',
  },
} as const
export const flags = { ...RUN_FLAGS, ...JSON_FLAG } as const
export const examples = ['retry', 'retry jobs/nightly.yaml']

type RetryArgs = Args<typeof flags, typeof positionals>

/**
 * The job that retries failed requests: with the pace, lake and notifications of a job file if one is named, else with the strictest
 * pace of the jobs that sent these requests.
 */
async function retryJob(args: RetryArgs, reader: Reader): Promise<Job> {
  const service = readSettings(args).service.value
  const retrying = normalizeJob({ name: 'retry', series: [] }, service)
  if (args.job === undefined)
    return { ...retrying, pace: strictestPace(await readPaces(reader, service), retrying.pace) }
  const [{ pace, keep, lake, notify }] = readJobs([args.job], service) as [Job]
  return { ...retrying, pace, keep, lake, notify }
}

/** Reads the paces of the jobs that sent the requests of a retry. */
async function readPaces(reader: Reader, service: Service): Promise<Pace[]> {
  const now = toInstant(Date.now())
  const requesting = await readRequestingJobs(reader, planRetry({ service, now }, await readRetryRequests(reader)))
  const jobs = await readStoredJobs(reader, { includesForgotten: true })
  return jobs.filter(({ id }) => requesting.has(id)).flatMap((job) => readPace(job, service) ?? [])
}

/** Reads the pace of a job from its file, which may be edited since the last run; else from the definition that run stored. */
function readPace({ name, file, path, definition }: StoredJob, service: Service): Pace | null {
  try {
    // A job of a program has no file. For one of an older version, only the path of its last run is stored.
    const known = file ?? (definition === null ? path : null)
    const job = known === null ? undefined : readJobs([known], service)[0]
    // On another host, the same path may be another job.
    if (job?.name === name) return job.pace
  } catch (error) {
    // The file was moved or has mistakes, or belongs to another service.
    if (!(error instanceof InputError)) throw error
  }
  return definition === null ? null : (JSON.parse(definition) as Job).pace
}

/**
 * Fetches failed requests unchanged, including those for unknown ids (404), which `sync` skips for a while. Those that were not
 * attempted for the longest time come first, so that a retry that a budget ends continues with the others.
 */
async function retryFailed(context: SyncContext, spec: RunSpec): Promise<Summary> {
  const { store, service, nowMs } = context
  const planned = planRetry({ service, now: toInstant(nowMs()) }, await readRetryRequests(store))
  const requests = await sortByLastAttempt(store, planned)
  const run = await executeRun(context, { ...spec, part: 'retry' }, createFixedPlan(requests))
  return { ...run, ...NO_JOB_NOTES }
}

export async function handler(args: RetryArgs): Promise<number> {
  // A missing database has no failures; its name must be mistyped.
  const job = await withReader(readSettings(args).database.value, (reader) => retryJob(args, reader))
  return runAndPrint(args, 'retry', { jobs: [job], syncOne: retryFailed })
}
