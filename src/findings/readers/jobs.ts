import type { Reader } from '../../db/store.ts'
import { graceSeconds } from '../../judge/growth.ts'
import { findRhythms } from '../../state/rhythm.ts'
import { isGone, readStoredJobs, type StoredJob } from '../../state/storedJobs.ts'
import { DAY, floorToSecond, type Instant } from '../../util/time/instant.ts'
import type { Trouble } from '../trouble.ts'

/** Two definitions alternate after as many returns to the former one: one return may be an edit that was undone. */
const MIN_RETURNS = 2
/** Seconds. A definition that stayed as long no longer alternates. */
const STEADY_AFTER_S = 14 * DAY

const isAlternating = ({ returns, definitionAt }: StoredJob, now: Instant): boolean =>
  returns >= MIN_RETURNS && now - floorToSecond(definitionAt) < STEADY_AFTER_S

/** Whether a job has never run, although a run should have taken place since it was stored. */
const isNeverRun = ({ lastRunAt, definition, definitionAt, usualS }: StoredJob, now: Instant): boolean =>
  lastRunAt === null && definition !== null && floorToSecond(definitionAt) + graceSeconds(usualS) <= now

/** Finds jobs whose file is gone, that have a name twice, that alternate, that never ran, and whose run is overdue. */
export async function findJobTroubles(db: Reader, now: Instant): Promise<Trouble[]> {
  const jobs = await readStoredJobs(db)
  const present = jobs.filter((job) => !isGone(job))
  const aboutJob = (job: StoredJob) => ({ jobIds: [job.id], seriesIds: [], cause: null })
  const named = [...Map.groupBy(present, ({ name }) => name).values()].filter(({ length }) => length > 1)
  const missed = (await findRhythms(db, now)).filter(({ missedFrom }) => now > missedFrom)
  return [
    ...jobs.filter(isGone).map((job): Trouble => ({ kind: 'job file', job, sinceAt: null, ...aboutJob(job) })),
    ...named.map(
      (named): Trouble => ({
        kind: 'same name',
        named,
        sinceAt: Math.max(...named.map(({ definitionAt }) => floorToSecond(definitionAt))),
        jobIds: named.map(({ id }) => id),
        seriesIds: [],
        cause: null,
      }),
    ),
    ...present
      .filter((job) => isAlternating(job, now))
      .map(
        (job): Trouble => ({ kind: 'alternating', job, sinceAt: floorToSecond(job.definitionAt), ...aboutJob(job) }),
      ),
    ...present
      .filter((job) => isNeverRun(job, now))
      .map((job): Trouble => ({ kind: 'never run', job, sinceAt: floorToSecond(job.definitionAt), ...aboutJob(job) })),
    ...missed.map(
      (rhythm): Trouble => ({
        kind: 'no run',
        rhythm,
        sinceAt: Math.floor(rhythm.missedFrom),
        jobIds: [rhythm.jobId],
        seriesIds: [],
        cause: null,
      }),
    ),
  ]
}
