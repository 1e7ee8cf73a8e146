import { secretsOf } from '../api/key.ts'
import type { Logger } from '../base/log.ts'
import { lockWriter } from '../db/lock.ts'
import { type Durability, openStore } from '../db/open.ts'
import type { Job } from '../job/job.ts'
import { type Summary, type SyncContext, sync } from '../sync.ts'
import { readSettings, requireService } from './config.ts'
import { EXIT, exitCodeOf } from './fail.ts'
import type { CommonArgs, RangeArgs, ServiceArgs } from './flags.ts'
import { rangeOf, readJobs } from './jobs.ts'
import { logFor } from './logging.ts'
import { print } from './output.ts'
import { createProgress } from './progress.ts'
import { watchSignals } from './signals.ts'
import { summaryJson, summaryText } from './summary.ts'
import { version } from './version.ts'

interface SyncArgs extends CommonArgs, ServiceArgs, RangeArgs {
  readonly jobs: string[]
  readonly dryRun: boolean
  readonly durability: Durability
  readonly json: boolean
}

export async function run(args: SyncArgs): Promise<number> {
  if (args.dryRun) return (await import('./plan.ts')).run(args)
  const jobs = readJobs(args.jobs)
  const settings = readSettings(args)
  const service = requireService(settings)
  const log = logFor(args, secretsOf(service.key))
  const { code, summaries } = await runJobs(jobs, {
    ...service,
    from: args.from,
    to: args.to,
    quiet: args.quiet,
    durability: args.durability,
    file: settings.database.value,
    command: 'sync',
    log,
  })
  print(args.json ? JSON.stringify(summaries.map(summaryJson), null, 2) : summaries.map(summaryText).join('\n\n'))
  return code
}

/** What running jobs needs beside the jobs. */
export interface RunOptions extends RangeArgs, Pick<SyncContext, 'service' | 'baseUrl' | 'key'> {
  readonly file: string
  readonly command: string
  readonly log: Logger
  readonly quiet: boolean
  readonly durability?: Durability
}

/** Runs jobs one after the other as the only writer of the file; stops at the first that ends early. */
export async function runJobs(
  jobs: readonly Job[],
  options: RunOptions,
): Promise<{ code: number; summaries: Summary[] }> {
  const { log, file, command } = options
  const store = await openStore(file, { durability: options.durability ?? 'normal' })
  const signals = watchSignals((message) => log.warn(message))
  const progress = createProgress(log, options.quiet)
  const summaries: Summary[] = []
  try {
    const unlock = await lockWriter(store, `${command} ${jobs.map(({ name }) => name).join(' ')}`, Date.now)
    try {
      for (const job of jobs) {
        const range = rangeOf(options, job.timeZone, Math.floor(Date.now() / 1000))
        const context: SyncContext = {
          ...options,
          store,
          version: version(),
          now: Date.now,
          signal: signals.signal,
          onProgress: (done) => {
            progress.show(done)
            log.debug(`${done.ask.route} ${done.ask.request.target}`)
          },
          onFailure: ({ error }, attempt) => log.debug(`attempt ${attempt} failed: ${error.message}`),
        }
        const summary = await sync(context, job, command, range ? { range: { interval: range, how: 'narrow' } } : {})
        summaries.push(summary)
        if (summary.stop) break
      }
    } finally {
      await unlock()
    }
  } finally {
    progress.end()
    signals.release()
    await store.close()
  }
  return { code: signals.code() ?? worstCode(summaries), summaries }
}

/** A run is as good as its worst job. */
function worstCode(summaries: readonly Summary[]): number {
  const stop = summaries.find((summary) => summary.stop)?.stop
  if (stop) return exitCodeOf(stop)
  return summaries.every(({ outcome }) => outcome === 'done') ? EXIT.done : EXIT.partial
}
