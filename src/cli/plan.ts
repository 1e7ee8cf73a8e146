import { existsSync } from 'node:fs'
import { NOTHING_HELD, readMemory } from '../audit/held.ts'
import { formatLocal } from '../base/zone.ts'
import { openReader } from '../db/open.ts'
import type { Ask } from '../job/ask.ts'
import type { Job } from '../job/job.ts'
import { plan } from '../plan/plan.ts'
import type { PlanOptions } from '../plan/planning.ts'
import { readSettings } from './config.ts'
import { EXIT } from './fail.ts'
import type { CommonArgs, RangeArgs, ServiceArgs } from './flags.ts'
import { rangeOf, readJobs } from './jobs.ts'
import { grouped, print, type Result, table } from './output.ts'

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
  from: string
  to: string
}

const local = (ask: Ask, at: number | undefined): string =>
  at === undefined ? '' : formatLocal(ask.timeZone, at).slice(0, 16)

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

export async function run(args: PlanArgs): Promise<number> {
  const jobs = readJobs(args.jobs)
  const { service, database } = readSettings(args)
  const reader = existsSync(database.value) ? openReader(database.value) : null
  const memory = reader ? readMemory(reader) : NOTHING_HELD
  const now = Math.floor(Date.now() / 1000)
  const all: object[] = []
  try {
    for (const job of jobs) {
      const range = rangeOf(args, job.timeZone, now)
      const options: PlanOptions = range ? { range: { interval: range, how: 'narrow' } } : {}
      const lines = new Map<string, Line>()
      let calls = 0
      for (const ask of plan({ job, service: service.value, memory, now, options })) {
        calls++
        if (args.json) {
          const { where, route, params, reason, request, window } = ask
          all.push({ job: job.name, entry: where, route, target: request.target, reason, params, window })
          continue
        }
        const key = `${ask.where} ${whatOf(ask)} ${ask.reason}`
        const line = lines.get(key) ?? {
          where: ask.where,
          what: whatOf(ask),
          reason: ask.reason,
          calls: 0,
          from: local(ask, ask.window?.from),
          to: '',
        }
        line.calls++
        line.to = local(ask, ask.window?.to)
        lines.set(key, line)
        if (args.verbose) process.stderr.write(`${ask.request.target}\n`)
      }
      if (args.json) continue
      const result: Result = {
        columns: ['entry', 'what', 'why', 'calls', 'from', 'to'],
        rows: [...lines.values()].map(({ where, what, reason, calls, from, to }) => [
          where,
          what,
          reason,
          calls,
          from,
          to,
        ]),
      }
      print(
        calls === 0
          ? `${job.name}: nothing to ask; all that is wanted is held.`
          : `${table(result)}\n\n${job.name}: ${estimate(job, calls)}`,
      )
    }
  } finally {
    await reader?.close()
  }
  if (args.json) print(JSON.stringify(all, null, 2))
  return EXIT.done
}
