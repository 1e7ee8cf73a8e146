import type { Reader } from '../db/store.ts'
import { DAY, floorToSecond, type Instant } from '../util/time/instant.ts'
import { forgetCommand, isGone, readStoredJobs, type StoredJob, sourceName } from './storedJobs.ts'

/** Two definitions alternate after as many returns to the former one: one return may be an edit that was undone. */
const MIN_RETURNS = 2
/** Seconds. A definition that stayed as long no longer alternates. */
const STEADY_AFTER_S = 14 * DAY

const place = (job: StoredJob): string => (job.file === null ? 'a program without a file' : sourceName(job))

/** Finds jobs with one name in several files or on several hosts, each name with a sentence. */
export async function findSameNames(db: Reader): Promise<string[]> {
  const jobs = await readStoredJobs(db)
  // A job whose file is gone is a finding of its own.
  const present = jobs.filter((job) => !isGone(job))
  return [...Map.groupBy(present, ({ name }) => name)].flatMap(([name, named]) => {
    if (named.length < 2) return []
    const places = named.map(place)
    const oldest = named.reduce((a, b) => ((a.lastRunAt ?? '') <= (b.lastRunAt ?? '') ? a : b))
    return [
      `job ${name} is defined ${named.length} times: ${places.join(' and ')}; rename one, or forget one with \`indicator-sync ${forgetCommand(oldest, jobs)}\``,
    ]
  })
}

/** Finds jobs whose file on this host is gone, each with a sentence. */
export async function findGoneFiles(db: Reader): Promise<string[]> {
  const jobs = await readStoredJobs(db)
  return jobs
    .filter(isGone)
    .map(
      (job) =>
        `job file ${job.file} of ${job.name} is gone; what it selects stays wanted until \`indicator-sync ${forgetCommand(job, jobs)}\``,
    )
}

/** Finds jobs whose definition changes to and fro, each with a sentence. */
export async function findAlternating(db: Reader, now: Instant): Promise<string[]> {
  const jobs = await readStoredJobs(db)
  return jobs
    .filter(({ returns, definitionAt }) => returns >= MIN_RETURNS && now - floorToSecond(definitionAt) < STEADY_AFTER_S)
    .map(
      (job) =>
        `two definitions of job ${job.name} alternate under ${place(job)}, so each unwants what only the other selects; give each a name of its own`,
    )
}
