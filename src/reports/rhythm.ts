import { Cron } from 'croner'
import { FORGET } from '../db/queries/jobRuns.ts'
import type { Reader } from '../db/store.ts'
import { epochSeconds } from '../db/tables/sql/expressions.ts'
import { CLOCK_ERROR, floorToSecond, formatMillis, formatUtc, type Instant } from '../util/time/instant.ts'

/** How many of the last runs of a job are used. */
const LAST_RUNS = 20
const HALF_DAY = 43_200
/** Seconds. Shorter intervals between runs are those of manual runs, not of a schedule. */
const LEAST = 300

/** The quantile of some numbers. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.floor(share * (sorted.length - 1))]!
}

/** A number of seconds as text: minutes, hours or days. */
export const roughDuration = (seconds: number): string => {
  const size = Math.abs(seconds)
  if (size < 5_400) return `${Math.round(size / 60)} min`
  return size < 96 * 3_600 ? `${Math.round(size / 3_600)} h` : `${Math.round(size / 86_400)} days`
}

/** The usual interval between runs of a job. */
export interface Rhythm {
  readonly job: string
  /** When it last began, and how long it usually takes until it begins again, in seconds. */
  readonly lastAt: Instant
  readonly usualS: number
  /** From when on the next run counts as missed. */
  readonly missedFrom: Instant
}

/** The last runs of a job until now; `live`: whether it requested something up to the present. */
const jobRuns = ({ kysely }: Reader, job: string, now: Instant) =>
  kysely
    .selectFrom('_run as r')
    .select(['r.id', 'r.started_at', 'r.schedule', 'r.time_zone'])
    .select(({ exists, selectFrom }) =>
      exists(
        selectFrom('_fetch as f')
          .select('f.id')
          .whereRef('f.run_id', '=', 'r.id')
          .where((eb) => eb.or([eb('f.to_at', 'is', null), eb('f.to_at', '>=', epochSeconds(eb, 'r.started_at'))])),
      ).as('live'),
    )
    .where('r.job', '=', job)
    .where('r.command', 'in', ['sync', 'schedule'])
    .where('r.started_at', '<=', formatMillis((now + CLOCK_ERROR) * 1000))
    .orderBy('r.id', 'desc')
    .limit(LAST_RUNS)
    .execute()

type RhythmRun = Awaited<ReturnType<typeof jobRuns>>[number]

/** The rhythm of a job with a schedule: one run is enough to know when the next one is due. */
function readSchedule(job: string, last: RhythmRun | undefined): Rhythm | undefined {
  if (!last?.schedule) return undefined
  const lastAt = floorToSecond(last.started_at)
  const cron = new Cron(last.schedule, { paused: true, ...(last.time_zone ? { timezone: last.time_zone } : {}) })
  const [next, after] = cron.nextRuns(2, formatUtc(lastAt)).map((date) => Math.floor(date.getTime() / 1000))
  if (next === undefined) return undefined
  const usualS = (after ?? next) - (after === undefined ? lastAt : next)
  return { job, lastAt, usualS, missedFrom: next + Math.max(900, Math.min(usualS / 4, HALF_DAY / 4)) }
}

/** The rhythm of a job; undefined where it runs irregularly, or requests only the past. */
async function readRhythm(db: Reader, job: string, now: Instant): Promise<Rhythm | undefined> {
  const runs = await jobRuns(db, job, now)
  const scheduled = readSchedule(job, runs[0])
  if (scheduled) return scheduled
  if (runs.filter(({ live }) => live).length * 2 < runs.length) return undefined
  const starts = runs.map(({ started_at }) => floorToSecond(started_at)).sort((a, b) => a - b)
  const between = starts.slice(1).map((at, i) => at - starts[i]!)
  if (between.length < 2) return undefined
  const median = quantile(between, 0.5)
  // Short intervals need more runs as evidence: a few manual runs in an afternoon are not a rhythm.
  if (median < LEAST || between.length < (median < HALF_DAY ? 5 : 2)) return undefined
  const regular = between.filter((interval) => Math.abs(interval - median) <= median / 5)
  if (regular.length * 3 < between.length * 2) return undefined
  const usualS = Math.max(median, quantile(between, 0.9))
  const lastAt = starts.at(-1)!
  return { job, lastAt, usualS, missedFrom: lastAt + usualS + Math.max(900, usualS / 4) }
}

/** The jobs that run in a rhythm. */
export async function rhythms(db: Reader, now: Instant): Promise<Rhythm[]> {
  const jobs = await db.kysely
    .selectFrom('_run')
    .select('job')
    .where('id', 'in', (of) =>
      of
        .selectFrom('_run')
        .select(({ fn }) => fn.max('id').as('id'))
        .groupBy('job'),
    )
    .where('command', '<>', FORGET)
    .orderBy('job')
    .execute()
  const found: Rhythm[] = []
  for (const { job } of jobs) {
    const rhythm = await readRhythm(db, job, now)
    if (rhythm) found.push(rhythm)
  }
  return found
}

/** Jobs whose run is missed now, each in a sentence. */
export const missedRuns = async (
  db: Reader,
  now: Instant,
): Promise<{ readonly job: string; readonly what: string }[]> =>
  (await rhythms(db, now))
    .filter(({ missedFrom }) => now > missedFrom)
    .map(({ job, lastAt, usualS }) => ({
      job,
      what: `job ${job}: no run since ${formatUtc(lastAt)}, ${roughDuration(now - lastAt)} ago; it usually runs every ${roughDuration(usualS)}`,
    }))
