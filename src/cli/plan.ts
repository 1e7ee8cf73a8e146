import { existsSync } from 'node:fs'
import { NOTHING_HELD, readMemory } from '../audit/held.ts'
import type { Instant } from '../base/instant.ts'
import { formatLocal } from '../base/zone.ts'
import type { Ask } from '../job/ask.ts'
import type { Job } from '../job/job.ts'
import type { Memory } from '../job/memory.ts'
import { plan } from '../plan/plan.ts'
import type { PlanOptions } from '../plan/planning.ts'
import { readSettings } from './config.ts'
import { EXIT } from './fail.ts'
import type { CommonArgs, RangeArgs, ServiceArgs } from './flags.ts'
import { rangeOf, readJobs } from './jobs.ts'
import { grouped, print, type Result, stream, table } from './output.ts'

interface PlanArgs extends CommonArgs, ServiceArgs, RangeArgs {
  readonly jobs: string[]
  readonly json: boolean
}

/** The calls of one entry for one thing, told in one line. */
interface Line {
  readonly where: string
  readonly what: string
  readonly reason: string
  calls: number
  readonly from: Instant | undefined
  to: Instant | undefined
}

const local = (zone: string, at: Instant | undefined): string =>
  at === undefined ? '' : formatLocal(zone, at).slice(0, 16)

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

const whatOf = ({ route, params, series }: Ask): string =>
  [route, params.id ?? '', series?.timeTrunc ?? '', params.locale && !series ? params.locale : '']
    .filter((part) => part !== '')
    .join(' ')

/** What is planned for all jobs, one after the other. */
function* planAll(args: PlanArgs, jobs: readonly Job[], memory: Memory, now: Instant): Generator<[Job, Iterable<Ask>]> {
  const { service } = readSettings(args)
  for (const job of jobs) {
    const range = rangeOf(args, job.timeZone, now)
    const options: PlanOptions = range ? { range: { interval: range, how: 'narrow' } } : {}
    yield [job, plan({ job, service: service.value, memory, now, options })]
  }
}

/** The asks as an array of JSON, one by one, for a plan may be long. */
function* jsonOf(planned: Iterable<[Job, Iterable<Ask>]>): Generator<string> {
  let told = 0
  for (const [job, asks] of planned)
    for (const { where, route, params, reason, request, window } of asks) {
      const one = { job: job.name, entry: where, route, target: request.target, reason, params, window }
      yield `${told++ === 0 ? '[' : ','}${JSON.stringify(one)}\n`
    }
  yield told === 0 ? '[]\n' : ']\n'
}

/** The calls of a job, told by what they are about. */
function tell(job: Job, asks: Iterable<Ask>, verbose: boolean): string {
  const lines = new Map<string, Line>()
  let calls = 0
  for (const ask of asks) {
    calls++
    const what = whatOf(ask)
    const key = `${ask.where} ${what} ${ask.reason}`
    const line = lines.get(key)
    if (line) {
      line.calls++
      line.to = ask.window?.to
    } else
      lines.set(key, {
        where: ask.where,
        what,
        reason: ask.reason,
        calls: 1,
        from: ask.window?.from,
        to: ask.window?.to,
      })
    if (verbose) process.stderr.write(`${ask.request.target}\n`)
  }
  if (calls === 0) return `${job.name}: nothing to ask; all that is wanted is held.`
  const result: Result = {
    columns: ['entry', 'what', 'why', 'calls', 'from', 'to'],
    rows: [...lines.values()].map((line) => [
      line.where,
      line.what,
      line.reason,
      line.calls,
      local(job.timeZone, line.from),
      local(job.timeZone, line.to),
    ]),
  }
  return `${table(result)}\n\n${job.name}: ${estimate(job, calls)}`
}

export async function run(args: PlanArgs): Promise<number> {
  const jobs = readJobs(args.jobs)
  const { database } = readSettings(args)
  const reader = existsSync(database.value) ? (await import('../db/open.ts')).openReader(database.value) : null
  try {
    const now = Math.floor(Date.now() / 1000)
    const planned = planAll(args, jobs, reader ? readMemory(reader) : NOTHING_HELD, now)
    if (args.json) await stream(jsonOf(planned))
    else for (const [job, asks] of planned) print(tell(job, asks, args.verbose))
  } finally {
    await reader?.close()
  }
  return EXIT.done
}
