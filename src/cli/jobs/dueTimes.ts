import { Cron } from 'croner'
import type { Job } from '../../job/job.ts'
import { InputError } from '../../util/errors.ts'

/** Milliseconds until a job that found the database in use is tried again. */
const AGAIN_MS = 30_000

/** When a job is next due after an instant (epoch milliseconds), in its own time zone. */
export function nextTime({ name, schedule, timeZone }: Job, after: number): number {
  const next = new Cron(schedule ?? '', { timezone: timeZone, paused: true }).nextRun(new Date(after))
  if (!next)
    throw new InputError(`The schedule of job ${name} never comes: ${JSON.stringify(schedule)}.`, {
      hint: 'Correct `schedule` in the job file.',
      code: 'no-next-time',
    })
  return next.getTime()
}

/** When each job of a schedule is due. All instants are epoch milliseconds of the clock as it is when they are given. */
export interface DueTimes {
  readonly at: (job: Job) => number
  /** The job that is due first. */
  first(): Job
  /** The job is started: a time of it that passes until `now` is not made up for. */
  start(job: Job, now: number): void
  /** The job found the database in use: it is tried again soon. */
  tryAgain(job: Job, now: number): void
  /**
   * The clock was set back to `now`. Jobs are due at their next times, which may be such that have passed before, but none at the
   * one that was started last; what is due already stays so. Answers which jobs are due at another time now.
   */
  setBack(now: number): Job[]
}

/** Of one job: when it is due, whether to try again what found the database in use, and the time of its schedule that was started last. */
interface DueTime {
  readonly at: number
  readonly isRetry: boolean
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
    first: () => [...times].reduce((first, other) => (other[1].at < first[1].at ? other : first))[0],
    start(job, now) {
      const { at, isRetry, started: before } = times.get(job)!
      const started = isRetry ? before : at
      times.set(job, { at: unstarted(job, Math.max(at, now), started), isRetry: false, started })
    },
    tryAgain(job, now) {
      const due = times.get(job)!
      if (now + AGAIN_MS < due.at) times.set(job, { ...due, at: now + AGAIN_MS, isRetry: true })
    },
    setBack(now) {
      const moved: Job[] = []
      for (const [job, due] of times) {
        const next = due.isRetry ? now + AGAIN_MS : unstarted(job, now, due.started)
        if (next >= due.at) continue
        times.set(job, { ...due, at: next })
        moved.push(job)
      }
      return moved
    },
  }
}
