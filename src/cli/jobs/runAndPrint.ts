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
import { createNotifier, readNotifyTargets } from './notify.ts'
import { type JobArgs, readSelectedJobs } from './readJobs.ts'
import { type RunOptions, runCommand } from './runCommand.ts'

/** Flags of commands that run jobs once. */
type FetchArgs = Args<typeof RUN_FLAGS & typeof JSON_FLAG> &
  Partial<Args<typeof RANGE_FLAGS & typeof DISTRIBUTED_FLAG> & JobArgs>

/** Runs jobs, by default those of the job files, and prints their summaries. */
export async function runAndPrint(
  args: FetchArgs,
  command: string,
  {
    jobs: ownJobs,
    optionsFor,
    syncOne,
  }: Pick<RunOptions, 'optionsFor' | 'syncOne'> & { readonly jobs?: readonly Job[] | undefined },
): Promise<number> {
  const { jobs, options } = await prepare(args, command, ownJobs)
  // A larger young generation saves no time, but takes up to 128 MB.
  setFlagsFromString('--semi-space-growth-factor=1')
  const { code, summaries } = await runCommand(jobs, { ...options, optionsFor, syncOne })
  // Cron mails all output, so a quiet command prints only what needs attention.
  const shown = args.quiet ? summaries.filter(needsAttention) : summaries
  if (args.json) print(JSON.stringify(summaries.map(summaryJson), null, 2))
  else if (shown.length > 0) print(shown.map(summaryText).join('\n\n'))
  return code
}

/** Reads the settings and the jobs of a command. If they have mistakes, reports that its runs did not start. */
async function prepare(
  args: FetchArgs,
  command: string,
  ownJobs: readonly Job[] | undefined,
): Promise<{ readonly jobs: readonly Job[]; readonly options: RunOptions }> {
  const { jobs: files = [] } = args
  const part = describePart(command, args)
  const targets = readNotifyTargets(args)
  try {
    const commandSettings = readSettings(args)
    const { database, service } = commandSettings
    // A mistyped job file is reported before a missing key.
    const jobs = ownJobs ?? readSelectedJobs({ jobs: files, only: args.only }, service.value)
    const settings = requireService(commandSettings)
    refuseDistributed(args, commandSettings)
    const log = logFor(args, [settings.key])
    const notifier = createNotifier(jobs, targets, { command, log })
    return { jobs, options: { settings, flags: args, file: database.value, command, part, log, notifier } }
  } catch (error) {
    const { reportUnstarted } = await import('./unstarted.ts')
    await reportUnstarted(args, error, {
      command,
      part,
      files: ownJobs ? [] : files,
      jobs: ownJobs ?? [],
      targets,
      log: logFor(args, []),
    })
    throw error
  }
}

/** The command with the flags that select a part of its jobs; undefined if it runs them whole. */
function describePart(
  command: string,
  { from, to, only }: Pick<FetchArgs, 'from' | 'to' | 'only'>,
): string | undefined {
  const flags = Object.entries({ from, to, only }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${value}`],
  )
  return flags.length === 0 ? undefined : [command, ...flags].join(' ')
}

/** Refuses `--distributed` if the database is a file, or with `--on-reject fail`. */
export function refuseDistributed(
  { distributed = false, onReject }: Partial<Args<typeof DISTRIBUTED_FLAG & typeof ON_REJECT_FLAG>>,
  { database }: CommandSettings,
): void {
  if (!distributed) return
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
}
