import { Cron } from 'croner'
import type { Job } from '../../job/job.ts'
import type { PlannedRequest } from '../../job/plannedRequest.ts'
import { namesAnything } from '../../job/select.ts'
import { grouped, quantity } from '../../util/text.ts'
import type { Instant } from '../../util/time/instant.ts'
import { floorTo, formatLocal, localDate } from '../../util/time/zone.ts'
import { type ResultRows, tableText } from '../terminal/table.ts'
import { NOTHING_SELECTED } from './summary.ts'

/** What one run requests of a plan that the budget of a day does not let through at once. */
interface RunDay {
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
function* spreadOverDays(
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

/* A plan as people read it: a line for the calls of an entry, how long they take, and the days over which they go. */

/** A planned job: its requests, planned again at each call, and notes. */
export interface PlannedJob {
  readonly job: Job
  readonly requests: () => Iterable<PlannedRequest>
  /** Known after its requests were planned. */
  readonly notes: () => readonly string[]
}

/** When and where a plan is shown. */
export interface PlanTextOptions {
  readonly now: Instant
  /** The zone in which the service counts days. */
  readonly zone: string
  /** Calls left today within the budget of the job; undefined where that is not known. */
  readonly left: number | undefined
  /** True if `--from`, `--to` or `--only` select a part of the job. */
  readonly isPart: boolean
}

/** Calls side by side with the limits of the job: how long they take at least, and on how many days. */
function estimate(job: Job, calls: number): string {
  const seconds = Math.ceil(calls / job.pace.perSecond)
  const days = job.pace.callsPerDay ? Math.ceil(calls / job.pace.callsPerDay) : 1
  const time =
    seconds < 120
      ? `${seconds} s`
      : seconds < 7200
        ? `${Math.ceil(seconds / 60)} min`
        : `${Math.ceil(seconds / 3600)} h`
  return `${quantity(calls, 'call')}, at least ${time} at ${quantity(job.pace.perSecond, 'call')} per second${days > 1 ? `; ${days} days at the limit of ${quantity(job.pace.callsPerDay!, 'call')} per day` : ''}`
}

/** The calls of one entry for one thing, in one line. */
interface PlanLine {
  readonly entry: string
  readonly what: string
  readonly reason: string
  calls: number
  from: Instant | undefined
  to: Instant | undefined
}

/** Entries of more indicators than this have one line for all of them. */
const MAX_LINES_PER_ENTRY = 20

const requestName = ({ entry, route, params, series }: PlannedRequest, many: ReadonlyMap<string, number>): string =>
  [
    ...(series && many.has(entry) ? [`${grouped(many.get(entry)!)} indicators`] : [route, params.id ?? '']),
    series?.timeTrunc ?? '',
    params.locale && !series ? params.locale : '',
  ]
    .filter((part) => part !== '')
    .join(' ')

const local = (zone: string, at: Instant | undefined | null): string =>
  at === undefined || at === null ? '' : formatLocal(zone, at).slice(0, 16).replace('T00:00', '')

/** The plan of a job as text: a table of its calls by what they are about, its notes and an estimate. */
export function planText(planned: PlannedJob, options: PlanTextOptions): string {
  const { job, requests, notes } = planned
  const { zone, isPart } = options
  const many = new Map(
    job.series.flatMap(({ path, indicators }) =>
      indicators.length > MAX_LINES_PER_ENTRY ? [[path, indicators.length]] : [],
    ),
  )
  const lines = new Map<string, PlanLine>()
  let calls = 0
  for (const one of requests()) {
    calls++
    const { entry, reason, window } = one
    const what = requestName(one, many)
    const key = `${entry} ${what} ${reason}`
    const line = lines.get(key) ?? { entry, what, reason, calls: 0, from: window?.from, to: window?.to }
    line.calls++
    if (window) {
      line.from = Math.min(line.from ?? window.from, window.from)
      line.to = Math.max(line.to ?? window.to, window.to)
    }
    lines.set(key, line)
  }
  if (calls === 0)
    return [
      ...notes(),
      `${job.name}: ${!namesAnything(job) ? NOTHING_SELECTED : isPart ? 'nothing to request in the selected part of the job.' : 'nothing to request; up to date.'}`,
    ].join('\n')
  const result: ResultRows = {
    columns: ['entry', 'request', 'reason', 'calls', 'from', 'to'],
    rows: [...lines.values()].map((line) => [
      ...[line.entry, line.what, line.reason, line.calls, local(zone, line.from), local(zone, line.to)],
    ]),
  }
  const summary = `${job.name}: ${estimate(job, calls)}`
  const calendar = spreadText(planned, options)
  return [tableText(result), ...notes(), summary, ...(calendar ? [calendar] : [])].join('\n\n')
}

/** Runs that are shown; the rest is counted. */
const SHOWN_RUNS = 30

/** The days on which the calls go, where the budget of a day does not let all through at once. */
function spreadText({ job, requests }: PlannedJob, { now, zone, left }: PlanTextOptions): string | undefined {
  const perDay = job.pace.callsPerDay
  if (perDay === null) return undefined
  const days = [...spreadOverDays(requests(), job, perDay, Math.min(left ?? perDay, perDay), now)]
  const last = days.at(-1)
  if (!last || days.length < 2) return undefined
  const rows = days
    .slice(0, SHOWN_RUNS)
    .map(({ date, calls, from, to }, i) => [i + 1, date, calls, local(zone, from), local(zone, to)])
  const more =
    days.length > SHOWN_RUNS
      ? `\n… and ${quantity(days.length - SHOWN_RUNS, 'more run')}, the last on ${last.date}`
      : ''
  return `${tableText({ columns: ['run', 'date', 'calls', 'from', 'to'], rows })}${more}`
}
