import { Cron } from 'croner'
import { REGULAR_COMMANDS } from '../db/queries/jobRuns.ts'
import type { Reader } from '../db/store.ts'
import { epochSeconds } from '../db/tables/sql/expressions.ts'
import type { Job } from '../job/job.ts'
import { quantile } from '../judge/usualLag.ts'
import {
  CLOCK_ERROR_S,
  DAY,
  floorToSecond,
  formatMillis,
  formatUtc,
  HOUR,
  type Instant,
  toInstant,
} from '../util/time/instant.ts'
import { readStoredJobs, type StoredJob } from './storedJobs.ts'

/** The rhythm of a job is that of its last runs. */
export const LAST_RUNS = 20
/** Seconds. Shorter intervals are those of manual runs, not of a schedule. */
const MIN_INTERVAL_S = 300

/** Writes a duration in seconds as minutes, hours or days. */
export const roughDuration = (seconds: number): string => {
  const size = Math.abs(seconds)
  if (size < 1.5 * HOUR) return `${Math.round(size / 60)} min`
  return size < 4 * DAY ? `${Math.round(size / HOUR)} h` : `${Math.round(size / DAY)} days`
}

/** The usual interval between runs of a job. */
export interface Rhythm {
  readonly job: string
  readonly jobId: number
  /** The start of the last run. */
  readonly lastAt: Instant
  /** The usual interval between starts, in seconds. */
  readonly usualS: number
  /** The next run by the schedule of the job; null without one. */
  readonly nextAt: Instant | null
  /** The time from which the next run counts as missed. */
  readonly missedFrom: Instant
}

/** A job whose runs are judged. */
type RunJob = Pick<StoredJob, 'id' | 'name'>

/** Reads the last runs of a job. `live`: whether a run requested something up to the present. */
const readRuns = ({ kysely }: Reader, jobId: number, now: Instant) =>
  kysely
    .selectFrom('_run as r')
    .select(({ exists, selectFrom }) => [
      'r.id',
      'r.started_at',
      'r.schedule',
      'r.time_zone',
      exists(
        selectFrom('_fetch as f')
          .select('f.id')
          .whereRef('f.run_id', '=', 'r.id')
          .where((eb) => eb.or([eb('f.to_at', 'is', null), eb('f.to_at', '>=', epochSeconds(eb, 'r.started_at'))])),
      ).as('live'),
    ])
    .where('r.job_id', '=', jobId)
    .where('r.command', 'in', REGULAR_COMMANDS)
    .where('r.started_at', '<=', formatMillis((now + CLOCK_ERROR_S) * 1000))
    .orderBy('r.id', 'desc')
    .limit(LAST_RUNS)
    .execute()

type RhythmRun = Awaited<ReturnType<typeof readRuns>>[number]

/** Returns the next run by a schedule after an instant, and the usual seconds between runs. */
function nextBySchedule(
  schedule: string,
  timeZone: string | null,
  at: Instant,
): { next: Instant; usualS: number } | null {
  const cron = new Cron(schedule, { paused: true, ...(timeZone ? { timezone: timeZone } : {}) })
  const [next, afterNext] = cron.nextRuns(2, formatUtc(at)).map((date) => toInstant(date.getTime()))
  if (next === undefined) return null
  return { next, usualS: afterNext === undefined ? next - at : afterNext - next }
}

/** Returns the rhythm of a job with a schedule: its last run says when the next one is due. */
function scheduledRhythm({ id, name }: RunJob, last: RhythmRun | undefined): Rhythm | undefined {
  if (!last?.schedule) return undefined
  const lastAt = floorToSecond(last.started_at)
  const due = nextBySchedule(last.schedule, last.time_zone, lastAt)
  if (!due) return undefined
  const { next, usualS } = due
  const missedFrom = next + Math.max(900, Math.min(usualS / 4, DAY / 8))
  return { job: name, jobId: id, lastAt, usualS, nextAt: next, missedFrom }
}

/** Finds the rhythm of a job; undefined if it runs irregularly, or requests only the past. */
async function findRhythm(db: Reader, job: RunJob, now: Instant): Promise<Rhythm | undefined> {
  const runs = await readRuns(db, job.id, now)
  const scheduled = scheduledRhythm(job, runs[0])
  if (scheduled) return scheduled
  if (runs.filter(({ live }) => live).length * 2 < runs.length) return undefined
  const starts = runs.map(({ started_at }) => floorToSecond(started_at)).sort((a, b) => a - b)
  const intervals = starts.slice(1).map((at, i) => at - starts[i]!)
  if (intervals.length < 2) return undefined
  const median = quantile(intervals, 0.5)
  // Short intervals need more runs as evidence: a few manual runs in an afternoon are not a rhythm.
  if (median < MIN_INTERVAL_S || intervals.length < (median < DAY / 2 ? 5 : 2)) return undefined
  const regular = intervals.filter((interval) => Math.abs(interval - median) <= median / 5)
  if (regular.length * 3 < intervals.length * 2) return undefined
  const usualS = Math.max(median, quantile(intervals, 0.9))
  const lastAt = starts.at(-1)!
  const missedFrom = lastAt + usualS + Math.max(900, usualS / 4)
  return { job: job.name, jobId: job.id, lastAt, usualS, nextAt: null, missedFrom }
}

/** Runs of a schedule whose intervals are compared: those of a weekday job include a weekend, those of a monthly job a long month. */
const NEXT_RUNS = 8

/** Returns the longest seconds without a run by a schedule from an instant on; null if there is none. */
function longestBySchedule(schedule: string, timeZone: string, at: Instant): number | null {
  const cron = new Cron(schedule, { paused: true, timezone: timeZone })
  const starts = cron.nextRuns(NEXT_RUNS, formatUtc(at)).map((date) => toInstant(date.getTime()))
  return starts.length === 0 ? null : Math.max(...starts.map((start, i) => start - (starts[i - 1] ?? at)))
}

/**
 * Finds the usual seconds between runs of a job, the longest by its schedule or the usual ones of its last runs; null if unknown. A job for
 * weekdays is not late on Sundays.
 */
export async function findUsualInterval(
  db: Reader,
  jobId: number | undefined,
  { name, schedule, timeZone }: Pick<Job, 'name' | 'schedule' | 'timeZone'>,
  now: Instant,
): Promise<number | null> {
  if (schedule !== null) return longestBySchedule(schedule, timeZone, now)
  if (jobId === undefined) return null
  return (await findRhythm(db, { id: jobId, name }, now))?.usualS ?? null
}

/** Finds the rhythms of all jobs that have one. */
export async function findRhythms(db: Reader, now: Instant): Promise<Rhythm[]> {
  const rhythms: Rhythm[] = []
  for (const job of await readStoredJobs(db)) {
    const rhythm = await findRhythm(db, job, now)
    if (rhythm) rhythms.push(rhythm)
  }
  return rhythms
}
