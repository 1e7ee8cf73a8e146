import type { Reader } from '../../db/store.ts'
import { graceSeconds } from '../../judge/growth.ts'
import { findRhythms, roughDuration } from '../../state/rhythm.ts'
import { forgetCommand, isGone, readStoredJobs, type StoredJob, sourceName } from '../../state/storedJobs.ts'
import { DAY, floorToSecond, formatUtc, type Instant } from '../../util/time/instant.ts'
import { syncCommand } from '../commands.ts'
import { areWithin, isLeftByRun } from '../consequences.ts'
import type { KindRules } from '../kindRules.ts'
import type { Trouble } from '../trouble.ts'
import { MAX_NAMES } from '../words.ts'

/** The number of returns to a former definition that make two definitions alternate: a single one may be an edit that was undone. */
const MIN_RETURNS = 2
/** The error code of a run whose job file does not exist. */
const NO_JOB_FILE = 'no-job-file'
/** Seconds. Definitions no longer alternate if one has stayed for longer. */
const STEADY_AFTER_S = 14 * DAY

const isAlternating = ({ returns, definitionAt }: StoredJob, now: Instant): boolean =>
  returns >= MIN_RETURNS && now - floorToSecond(definitionAt) < STEADY_AFTER_S

/** Whether a job has never run, although a run should have taken place since it was stored. */
const isNeverRun = ({ lastRunAt, definition, definitionAt, usualS }: StoredJob, now: Instant): boolean =>
  lastRunAt === null && definition !== null && floorToSecond(definitionAt) + graceSeconds(usualS) <= now

/** Reads whether something is still required of jobs whose files are gone, and whether a command still names these files. */
async function readGone({ kysely }: Reader, gone: readonly StoredJob[]) {
  const ids = gone.map(({ id }) => id)
  if (ids.length === 0) return []
  const duties = await kysely.selectFrom('_duty').select('job_id').distinct().where('job_id', 'in', ids).execute()
  const required = new Set(duties.map(({ job_id }) => job_id))
  const lastRuns = kysely
    .selectFrom('_run')
    .select(({ fn }) => fn.max('id').as('id'))
    .where('job_id', 'in', ids)
    .groupBy('job_id')
  const unread = kysely.selectFrom('_run').select('job_id').where('id', 'in', lastRuns).where('code', '=', NO_JOB_FILE)
  const named = new Set((await unread.execute()).map(({ job_id }) => job_id))
  return gone.map((job) => ({ job, isRequired: required.has(job.id), isNamed: named.has(job.id) }))
}

/** Finds jobs whose file is gone, that have a name twice, that alternate, that never ran, and whose run is overdue. */
async function findJobTroubles(db: Reader, now: Instant): Promise<Trouble[]> {
  const jobs = await readStoredJobs(db)
  const present = jobs.filter((job) => !isGone(job))
  const aboutJob = (job: StoredJob) => ({ jobIds: [job.id], seriesIds: [], cause: null })
  const named = [...Map.groupBy(present, ({ name }) => name).values()].filter(({ length }) => length > 1)
  const missed = (await findRhythms(db, now)).filter(({ missedFrom }) => now > missedFrom)
  return [
    ...(await readGone(db, jobs.filter(isGone))).map(
      (gone): Trouble => ({ kind: 'job file', ...gone, sinceAt: null, ...aboutJob(gone.job) }),
    ),
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

const place = (job: StoredJob): string => (job.file === null ? 'a program without a file' : sourceName(job))

/** The file of a job is gone. */
export const jobFile: KindRules<'job file'> = {
  find: findJobTroubles,
  subject: ({ job }) => `job ${job.name}`,
  geoIds: null,
  message({ job: { file, name }, isRequired, isNamed }) {
    if (isNamed && !isRequired)
      return `job file ${file} does not exist, but the last run of a command still named it. Restore the file, or remove it from that command line, such as in the crontab; then the command forgets the job`
    const what = isRequired ? 'is gone, but what it selects is still required' : 'is gone'
    const unnamed = isNamed
      ? 'remove the file from the command line that still names it, such as in the crontab; then '
      : ''
    return `job file ${file} of ${name} ${what}. Restore the file, or run it from its new place, which continues its history. If the job is no longer needed, ${unnamed}the command forgets it`
  },
  command: ({ job }, { storedJobs }) => forgetCommand(job, storedJobs),
  isCauseOf: (cause, trouble) => areWithin(trouble.jobIds, cause.jobIds) && trouble.kind !== 'same name',
}

/** Several files or hosts have a job of one name. */
export const sameName: KindRules<'same name'> = {
  find: findJobTroubles,
  subject: ({ named }) => `job ${named[0]!.name}`,
  geoIds: null,
  message: ({ named }, { listNames }) =>
    `job ${named[0]!.name} is defined ${named.length} times: ${named.length > MAX_NAMES ? listNames(named.map(place)) : named.map(place).join(' and ')}; rename one, or forget one`,
  command({ named }, { storedJobs }) {
    const oldest = named.reduce((a, b) => ((a.lastRunAt ?? '') <= (b.lastRunAt ?? '') ? a : b))
    return forgetCommand(oldest, storedJobs)
  },
}

/** Two definitions of a job alternate. */
export const alternating: KindRules<'alternating'> = {
  find: findJobTroubles,
  subject: ({ job }) => `job ${job.name}`,
  geoIds: null,
  message: ({ job }) =>
    `two definitions of job ${job.name} alternate under ${place(job)}, so each drops what only the other selects; give each a name of its own`,
  command: null,
}

/** A job was stored, but has never run. */
export const neverRun: KindRules<'never run'> = {
  find: findJobTroubles,
  subject: ({ job }) => `job ${job.name}`,
  geoIds: null,
  message: ({ job }) =>
    `job ${job.name} has never run since it was stored at ${job.definitionAt}. Check its timer or \`schedule\``,
  command: ({ job }, facts) => syncCommand(facts, job.id),
  isCauseOf: isLeftByRun,
}

/** A run is overdue. */
export const noRun: KindRules<'no run'> = {
  find: findJobTroubles,
  subject: ({ rhythm }) => `job ${rhythm.job}`,
  geoIds: null,
  message: ({ rhythm: { job, lastAt, usualS, missedFrom } }) =>
    `job ${job}: no run since ${formatUtc(lastAt)}; it usually runs every ${roughDuration(usualS)}, and was overdue at ${formatUtc(Math.floor(missedFrom))}. Check its timer or \`schedule\``,
  command: ({ rhythm }, facts) => syncCommand(facts, rhythm.jobId),
  isCauseOf: isLeftByRun,
}
