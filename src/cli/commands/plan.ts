import { existsSync } from 'node:fs'
import type { Instant } from '../../base/instant.ts'
import { formatLocal } from '../../base/zone.ts'
import type { Job } from '../../job/job.ts'
import { type PlannedRequest, seriesKey } from '../../job/plannedRequest.ts'
import type { PassedOver, PlannerState } from '../../job/plannerState.ts'
import { type Listed, needsCatalogue, resolveSelectors } from '../../job/select.ts'
import { callsLeft } from '../../load/budget.ts'
import { type Asked, createAsked } from '../../plan/asked.ts'
import { planSelection } from '../../plan/listings.ts'
import { plan } from '../../plan/plan.ts'
import type { Planning, PlanOptions } from '../../plan/planning.ts'
import { readCatalogue } from '../../state/catalogue.ts'
import { EMPTY_STATE, readPlannerState } from '../../state/coverage.ts'
import { readSettings } from '../config.ts'
import type { CommonArgs, OnlyArgs, RangeArgs, ServiceArgs } from '../flags.ts'
import { rangeOf, readJobsOf } from '../jobs.ts'
import { EXIT } from '../terminal/fail.ts'
import { grouped, print, type Result, stream, table } from '../terminal/output.ts'
import { passedOverText } from '../terminal/summary.ts'
import { nightsOf } from './nights.ts'

interface PlanArgs extends CommonArgs, ServiceArgs, RangeArgs, OnlyArgs {
  readonly jobs: string[]
  readonly newestFirst: boolean
  readonly urls: boolean
  readonly json: boolean
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
  return `${grouped(calls)} calls, at least ${time} at ${job.pace.perSecond} a second${days > 1 ? `, over ${days} days within ${job.pace.callsPerDay} calls a day` : ''}`
}

/** Where a plan is looked at: what is held, now, and how many calls the budget lets through at once. */
interface View {
  readonly args: PlanArgs
  readonly plannerState: PlannerState
  readonly catalogue: readonly Listed[]
  readonly now: Instant
  /** What the jobs so far ask. */
  readonly asked: Asked
  /** The zone in which the service counts days. */
  readonly zone: string
  /** Calls left today within a job's budget; undefined where nobody knows. */
  readonly left: (job: Job) => number | undefined
}

/** A job that is planned: its requests, made anew each time they are asked for, and what is to be said of it. */
interface Planned {
  readonly job: Job
  readonly requests: () => Iterable<PlannedRequest>
  /** Known once its requests were looked at. */
  readonly notes: () => readonly string[]
}

function planJob({ args, plannerState, catalogue, now, asked }: View, job: Job): Planned {
  const service = readSettings(args).service.value
  const range = rangeOf(args, job.timeZone, now)
  const options: PlanOptions = {
    ...(range ? { range: { interval: range, how: 'narrow' } } : {}),
    newestFirst: args.newestFirst,
  }
  const passedOver = new Map<string, PassedOver>()
  const onPassedOver = (one: PassedOver) => passedOver.set(`${one.route} ${one.id}`, one)
  // What jobs before this one ask is not asked again; a plan may be looked at several times.
  const fresh = (): Planning => ({
    job,
    service,
    plannerState: plannerState,
    now,
    options,
    onPassedOver,
    asked: asked.copy(),
  })
  const unknown = () => passedOverText([...passedOver.values()])
  if (!needsCatalogue(job)) return { job, requests: () => plan(fresh()), notes: unknown }
  if (catalogue.length === 0) {
    const rest = { ...job, series: job.series.filter((entry) => entry.select === null) }
    return {
      job,
      *requests() {
        const planning = fresh()
        yield* planSelection(planning)
        yield* plan({ ...planning, job: rest })
      },
      notes: () => [
        'The catalogue is not held yet and is fetched first; what it selects is planned then.',
        ...unknown(),
      ],
    }
  }
  const meant = resolveSelectors(job, catalogue)
  const notes = job.series.flatMap(({ where, select }, i) =>
    select
      ? [
          `${where}: ${grouped(meant.series[i]!.indicators.length)} of ${grouped(catalogue.length)} indicators of the catalogue.`,
        ]
      : [],
  )
  return {
    job: meant,
    *requests() {
      const planning = fresh()
      yield* planSelection(planning)
      yield* plan({ ...planning, job: meant })
    },
    notes: () => [...notes, ...unknown()],
  }
}

/** The asks as an array of JSON, one by one, for a plan may be long. */
function* jsonOf(all: readonly Planned[]): Generator<string> {
  let told = 0
  for (const { job, requests } of all)
    for (const { where, route, params, reason, request, window } of requests()) {
      const one = { job: job.name, entry: where, route, target: request.target, reason, params, window }
      yield `${told++ === 0 ? '[' : ','}${JSON.stringify(one)}\n`
    }
  yield told === 0 ? '[]\n' : ']\n'
}

/** The calls of one entry for one thing, told in one line. */
interface Line {
  readonly where: string
  readonly what: string
  readonly reason: string
  calls: number
  from: Instant | undefined
  to: Instant | undefined
}

/** Entries of more indicators are told in one line. */
const SINGLY = 20

const whatOf = ({ route, params, series }: PlannedRequest, many: ReadonlyMap<string, number>, where: string): string =>
  [
    route,
    series && many.has(where) ? `${grouped(many.get(where)!)} of them` : (params.id ?? ''),
    series?.timeTrunc ?? '',
    params.locale && !series ? params.locale : '',
  ]
    .filter((part) => part !== '')
    .join(' ')

const local = (zone: string, at: Instant | undefined | null): string =>
  at === undefined || at === null ? '' : formatLocal(zone, at).slice(0, 16)

/** The calls of a job, told by what they are about. */
function tell({ job, requests, notes }: Planned, { now, left, zone }: View): string {
  const many = new Map(
    job.series.flatMap(({ where, indicators }) => (indicators.length > SINGLY ? [[where, indicators.length]] : [])),
  )
  const lines = new Map<string, Line>()
  let calls = 0
  for (const planned of requests()) {
    calls++
    const what = whatOf(planned, many, planned.where)
    const key = `${planned.where} ${what} ${planned.reason}`
    const { where, reason, window } = planned
    const line = lines.get(key) ?? { where, what, reason, calls: 0, from: window?.from, to: window?.to }
    line.calls++
    if (window) {
      line.from = Math.min(line.from ?? window.from, window.from)
      line.to = Math.max(line.to ?? window.to, window.to)
    }
    lines.set(key, line)
  }
  if (calls === 0) return [...notes(), `${job.name}: nothing to ask; all that is wanted is held.`].join('\n')
  const result: Result = {
    columns: ['entry', 'what', 'why', 'calls', 'from', 'to'],
    rows: [...lines.values()].map((line) => [
      ...[line.where, line.what, line.reason, line.calls, local(zone, line.from), local(zone, line.to)],
    ]),
  }
  const summary = `${job.name}: ${estimate(job, calls)}`
  const calendar = calendarOf({ job, requests, notes }, zone, now, left(job))
  return [table(result), ...notes(), summary, ...(calendar ? [calendar] : [])].join('\n\n')
}

/** Nights that are shown; the rest is counted. */
const SHOWN_NIGHTS = 30

/** The days on which the calls go, where the budget of a day does not let all through at once. */
function calendarOf(
  { job, requests }: Planned,
  zone: string,
  now: Instant,
  left: number | undefined,
): string | undefined {
  const perDay = job.pace.callsPerDay
  if (perDay === null) return undefined
  const nights = [...nightsOf(requests(), job, perDay, Math.min(left ?? perDay, perDay), now)]
  const last = nights.at(-1)
  if (!last || nights.length < 2) return undefined
  const rows = nights
    .slice(0, SHOWN_NIGHTS)
    .map(({ date, calls, from, to }, i) => [i + 1, date, calls, local(zone, from), local(zone, to)])
  const more =
    nights.length > SHOWN_NIGHTS ? `\n… and ${nights.length - SHOWN_NIGHTS} more, the last on ${last.date}` : ''
  return `${table({ columns: ['night', 'date', 'calls', 'from', 'to'], rows })}${more}`
}

/** Prints the addresses of all requests; nothing is held, for a plan may be long. */
function* urlsOf(all: readonly Planned[], base: string): Generator<string> {
  for (const { requests } of all) for (const { request } of requests()) yield `${base}${request.target}\n`
}

/** Notes what a job asks, for those after it. */
function noteAll(asked: Asked, requests: Iterable<PlannedRequest>): void {
  for (const { series, geoIds, window, request } of requests)
    if (series && window) asked.add(seriesKey(series), geoIds, [window])
    else asked.takes(request.target)
}

/** `plan`: what a sync would ask, why, how many calls and on which days. */
export async function run(args: PlanArgs): Promise<number> {
  const jobs = readJobsOf(args)
  const { database, baseUrl, service } = readSettings(args)
  const reader = existsSync(database.value) ? (await import('../../db/open.ts')).openReader(database.value) : null
  try {
    const now = Math.floor(Date.now() / 1000)
    const base = baseUrl?.value ?? ''
    const host = URL.parse(base)?.host
    const view: View = {
      args,
      plannerState: reader ? readPlannerState(reader) : EMPTY_STATE,
      catalogue: reader ? readCatalogue(reader) : [],
      now,
      asked: createAsked(),
      zone: service.value.timeZone,
      left: ({ pace }) => (reader && host ? callsLeft(reader, host, pace, Date.now()) : undefined),
    }
    const total = jobs.map((job, i) => {
      const asked = view.asked.copy()
      const one = planJob({ ...view, asked }, job)
      if (i < jobs.length - 1) noteAll(view.asked, one.requests())
      return one
    })
    if (args.json) await stream(jsonOf(total))
    else if (args.urls) await stream(urlsOf(total, base))
    else for (const one of total) print(tell(one, view))
  } finally {
    await reader?.close()
  }
  return EXIT.done
}
