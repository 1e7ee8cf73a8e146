import { setTimeout as sleep } from 'node:timers/promises'
import { Cron } from 'croner'
import { secretsOf } from '../api/key.ts'
import { InputError } from '../base/errors.ts'
import { formatLocal } from '../base/zone.ts'
import type { Durability } from '../db/open.ts'
import type { Job } from '../job/job.ts'
import { readSettings, requireService } from './config.ts'
import { describe, EXIT } from './fail.ts'
import type { CommonArgs, ServiceArgs } from './flags.ts'
import { readJobs } from './jobs.ts'
import { logFor } from './logging.ts'
import { watchSignals } from './signals.ts'
import { summaryText } from './summary.ts'
import { type RejectArgs, rejectPolicy, runJobs } from './sync.ts'

interface ScheduleArgs extends CommonArgs, ServiceArgs, RejectArgs {
  readonly jobs: string[]
  readonly durability: Durability
}

/** The clock is looked at this often at least, so that one that jumps is noticed. */
const LOOK_MS = 30_000

/** When a job is next due after an instant (epoch milliseconds), in its own time zone. */
export function nextTime({ name, schedule, timeZone }: Job, after: number): number {
  const next = new Cron(schedule ?? '', { timezone: timeZone, paused: true }).nextRun(new Date(after))
  if (!next) throw new InputError(`The schedule of ${name} never comes.`, { code: 'no-next-time' })
  return next.getTime()
}

export async function run(args: ScheduleArgs): Promise<number> {
  const jobs = readJobs(args.jobs)
  const without = jobs.filter(({ schedule }) => schedule === null)
  if (without.length > 0)
    throw new InputError(`${without.map(({ name }) => name).join(', ')}: no schedule.`, {
      hint: 'Add a line such as schedule: "15 21 * * *" to the job file.',
      code: 'no-schedule',
    })
  const settings = readSettings(args)
  const service = requireService(settings)
  const rejects = rejectPolicy(args)
  const log = logFor(args, secretsOf(service.key))
  const signals = watchSignals((message) => log.warn(message))
  const due = new Map(jobs.map((job) => [job, nextTime(job, Date.now())]))
  for (const [job, at] of due) log.info(`${job.name}: next at ${formatLocal(job.timeZone, Math.floor(at / 1000))}`)
  try {
    while (!signals.signal.aborted) {
      const [[job, at]] = [...due].sort(([, a], [, b]) => a - b) as [[Job, number]]
      const left = at - Date.now()
      if (left > 0) {
        await sleep(Math.min(left, LOOK_MS), undefined, { signal: signals.signal }).catch(() => undefined)
        continue
      }
      // One after the other: a time that passed meanwhile is run once, afterwards.
      due.set(job, nextTime(job, Math.max(at, Date.now())))
      try {
        const { summaries } = await runJobs([job], {
          ...service,
          file: settings.database.value,
          command: 'schedule',
          log,
          quiet: args.quiet,
          durability: args.durability,
          rejects,
          signal: signals.signal,
        })
        for (const summary of summaries) log.info(summaryText(summary))
      } catch (error) {
        log.error(describe(error))
      }
      log.info(`${job.name}: next at ${formatLocal(job.timeZone, Math.floor(due.get(job)! / 1000))}`)
    }
  } finally {
    signals.release()
  }
  return signals.code() ?? EXIT.done
}
