import { Cron } from 'croner'
import type { Job } from '../../job/job.ts'
import { InputError } from '../../util/errors.ts'

/** Milliseconds until a job is retried that found the database locked. */
const RETRY_MS = 30_000

/** The next scheduled time of a job after an instant, both in epoch milliseconds. The schedule is in the time zone of the job. */
export function nextTime({ name, schedule, timeZone }: Job, after: number): number {
  const next = new Cron(schedule ?? '', { timezone: timeZone, paused: true }).nextRun(new Date(after))
  if (!next)
    throw new InputError(`Job ${name} has no next scheduled run: ${JSON.stringify(schedule)}.`, {
      hint: 'Correct `schedule` in the job file.',
      code: 'no-next-time',
    })
  return next.getTime()
}

/** The due times of all scheduled jobs, in epoch milliseconds. The system clock may be set back meanwhile. */
export interface DueTimes {
  readonly at: (job: Job) => number
  /** The job with the earliest due time. */
  first(): Job
  /** Moves a started job to its next time. Times that passed before `now` are not made up for. */
  start(job: Job, now: number): void
  /** Retries a job soon that found the database locked. */
  retry(job: Job, now: number): void
  /**
   * Recomputes due times after the clock was set back to `now`. No job repeats the time that was started last. Returns the jobs
   * whose times changed.
   */
  setBack(now: number): Job[]
}

/** The due time of one job. */
interface DueTime {
  readonly at: number
  /** True for the retry of a job that found the database locked. */
  readonly isRetry: boolean
  /** The scheduled time that was started last. */
  readonly started?: number | undefined
}

export function createDueTimes(jobs: readonly Job[], begin: number): DueTimes {
  const times = new Map<Job, DueTime>(jobs.map((job) => [job, { at: nextTime(job, begin), isRetry: false }]))
  const unstarted = (job: Job, after: number, started: number | undefined): number => {
    const next = nextTime(job, after)
    return next === started ? nextTime(job, next) : next
  }
  return {
    at: (job) => times.get(job)!.at,
    first: () => [...times].reduce((first, next) => (next[1].at < first[1].at ? next : first))[0],
    start(job, now) {
      const { at, isRetry, started: before } = times.get(job)!
      const started = isRetry ? before : at
      times.set(job, { at: unstarted(job, Math.max(at, now), started), isRetry: false, started })
    },
    retry(job, now) {
      const due = times.get(job)!
      if (now + RETRY_MS < due.at) times.set(job, { ...due, at: now + RETRY_MS, isRetry: true })
    },
    setBack(now) {
      const moved: Job[] = []
      for (const [job, due] of times) {
        const next = due.isRetry ? now + RETRY_MS : unstarted(job, now, due.started)
        if (next >= due.at) continue
        times.set(job, { ...due, at: next })
        moved.push(job)
      }
      return moved
    },
  }
}
