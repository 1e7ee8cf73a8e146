import { setFlagsFromString } from 'node:v8'
import { isAddress } from '../../db/address.ts'
import type { Job } from '../../job/job.ts'
import { InputError } from '../../util/errors.ts'
import type { Args } from '../command.ts'
import type { DISTRIBUTED_FLAG, JSON_FLAG, ON_REJECT_FLAG, RANGE_FLAGS, RUN_FLAGS } from '../flags.ts'
import { type CommandSettings, readSettings, requireService } from '../settings/config.ts'
import { print } from '../terminal/output.ts'
import { logFor } from '../terminal/progress.ts'
import { needsAttention, summaryJson, summaryText } from '../text/summary.ts'
import { createNotifier, notifyTargets } from './notify.ts'
import { readSelectedJobs } from './readJobs.ts'
import { describePart, type RunOptions, runCommand } from './runCommand.ts'

/** Flags of commands that run jobs once. */
type FetchArgs = Args<typeof RUN_FLAGS & typeof JSON_FLAG> & Partial<Args<typeof RANGE_FLAGS & typeof DISTRIBUTED_FLAG>>

/** Runs jobs, by default those of the job files, and prints their summaries. */
export async function runAndPrint(
  args: FetchArgs & Partial<Parameters<typeof readSelectedJobs>[0]>,
  command: string,
  { jobs, ...runOptions }: Pick<RunOptions, 'optionsFor' | 'syncOne'> & { readonly jobs?: readonly Job[] | undefined },
): Promise<number> {
  const { settings, selected, service, log } = await prepare(args, command, jobs)
  // A larger young generation saves no time, but takes up to 128 MB.
  setFlagsFromString('--semi-space-growth-factor=1')
  const { code, summaries } = await runCommand(selected, {
    ...service,
    command,
    ...runOptions,
    from: args.from,
    to: args.to,
    only: args.only,
    quiet: args.quiet,
    durability: args.durability,
    distributed: isDistributed(args, settings),
    onReject: args.onReject,
    notify: notifyTargets(args),
    file: settings.database.value,
    log,
  })
  // Cron mails all output, so a quiet command prints only what needs attention.
  const shown = args.quiet ? summaries.filter(needsAttention) : summaries
  if (args.json) print(JSON.stringify(summaries.map(summaryJson), null, 2))
  else if (shown.length > 0) print(shown.map(summaryText).join('\n\n'))
  return code
}

/** Reads the settings and the jobs of a command. If they have mistakes, reports that its runs did not start. */
async function prepare(
  args: FetchArgs & Partial<Parameters<typeof readSelectedJobs>[0]>,
  command: string,
  jobs: readonly Job[] | undefined,
) {
  try {
    const settings = readSettings(args)
    // A mistyped job file is reported before a missing key.
    const selected = jobs ?? (await readSelectedJobs({ jobs: [], ...args }))
    const service = requireService(settings)
    isDistributed(args, settings)
    const log = logFor(args, [service.key])
    // Reports mistakes in the targets.
    createNotifier(selected, notifyTargets(args), { command, log })
    return { settings, selected, service, log }
  } catch (error) {
    const { reportUnstarted } = await import('./unstarted.ts')
    await reportUnstarted(args, error, {
      command,
      part: describePart({ ...args, command }),
      files: jobs ? [] : (args.jobs ?? []),
      jobs: jobs ?? [],
      targets: notifyTargets(args),
      log: logFor(args, []),
    })
    throw error
  }
}

/** Returns true with `--distributed`. Throws InputError if the database is a file, or with `--on-reject fail`. */
export function isDistributed(
  { distributed = false, onReject }: Partial<Args<typeof DISTRIBUTED_FLAG & typeof ON_REJECT_FLAG>>,
  { database }: CommandSettings,
): boolean {
  if (!distributed) return false
  if (onReject === 'fail')
    throw new InputError('--on-reject fail does not work with --distributed, because workers load the responses.', {
      hint: 'Start the workers with --on-reject fail.',
      code: 'usage',
    })
  if (!isAddress(database.value))
    throw new InputError(`--distributed does not work with ${database.value}: workers need PostgreSQL.`, {
      hint: 'Pass --database postgres://USER@HOST/DATABASE, or omit --distributed.',
      code: 'no-server',
    })
  return true
}
