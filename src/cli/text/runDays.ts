import { Cron } from 'croner'
import type { Instant } from '../../base/time/instant.ts'
import { floorTo, localDate } from '../../base/time/zone.ts'
import type { Job } from '../../job/job.ts'
import type { PlannedRequest } from '../../job/plannedRequest.ts'

/** What one run requests of a plan that the budget of a day does not let through at once. */
export interface RunDay {
  /** The local day of the run in the job's zone. */
  readonly date: string
  readonly calls: number
  /** What its windows span; null where none has one. */
  readonly from: Instant | null
  readonly to: Instant | null
}

/** The local days on which a job runs from now on: those of its schedule, or every day. */
function* runDays({ schedule, timeZone }: Job, now: Instant): Generator<string> {
  if (schedule === null) for (let day = now; ; day += 86_400) yield localDate(timeZone, day)
  const cron = new Cron(schedule, { paused: true, timezone: timeZone })
  let last = ''
  for (const run of cron.enumerate(new Date((floorTo(timeZone, now, 'day') - 1) * 1000))) {
    const date = localDate(timeZone, Math.floor(run.getTime() / 1000))
    if (date !== last) yield date
    last = date
  }
}

/** Deals requests out to the days on which they go, `perDay` each, and `first` on the first of them. Holds none of them. */
export function* spreadOverDays(
  requests: Iterable<PlannedRequest>,
  job: Job,
  perDay: number,
  first: number,
  now: Instant,
): Generator<RunDay> {
  const days = runDays(job, now)
  const begin = () => ({ date: days.next().value ?? '', calls: 0, from: null, to: null }) as Mutable<RunDay>
  let day = begin()
  let room = first
  for (const { window } of requests) {
    while (day.calls >= room) {
      if (day.calls > 0) yield day
      day = begin()
      room = perDay
    }
    day.calls++
    if (!window) continue
    day.from = Math.min(day.from ?? window.from, window.from)
    day.to = Math.max(day.to ?? window.to, window.to)
  }
  if (day.calls > 0) yield day
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
