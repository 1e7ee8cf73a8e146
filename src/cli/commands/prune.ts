import { createInterface } from 'node:readline/promises'
import { durationSeconds, parseDuration } from '../../job/moment.ts'
import { countPrunable, type PruneResult, prune } from '../../load/replies/prune.ts'
import { findForgettable, forgetJob } from '../../sync/forgetJob.ts'
import { InputError } from '../../util/errors.ts'
import { quantity } from '../../util/text.ts'
import { formatMillis } from '../../util/time/instant.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { withReader, withWriter } from '../settings/databases.ts'
import { EXIT } from '../terminal/fail.ts'
import { print, printResult } from '../terminal/output.ts'

export const positionals = { age: { type: 'string', describe: 'Minimum age: 90d, 12w, 6mo, 2y' } } as const
export const flags = {
  ...DATABASE_FLAG,
  'dry-run': { type: 'boolean', default: false, describe: 'Only report what would be deleted' },
  vacuum: { type: 'boolean', default: false, describe: 'Then shrink the database; needs twice its size' },
  yes: { type: 'boolean', default: false, describe: 'Do not ask for confirmation on a terminal' },
  job: { type: 'string', describe: 'Forget this deleted or renamed job; values stay' },
  file: { type: 'string', describe: 'With --job: its file, if several jobs have the name' },
  ...JSON_FLAG,
} as const
export const examples = [
  'prune 180d --dry-run --database data/demo.db',
  'prune 180d --vacuum --yes --database data/demo.db',
]

type PruneArgs = Args<typeof flags, typeof positionals>

/** Returns the seconds of an age in days or longer units. */
function parseAge(age: string): number {
  const duration = parseDuration(age)
  if (duration && duration.count > 0 && duration.unit !== 'minute' && duration.unit !== 'hour')
    return durationSeconds(duration)
  const ambiguous =
    duration?.unit === 'minute' ? `: m may mean minutes or months; write ${duration.count}mo for months` : ''
  throw new InputError(`${JSON.stringify(age)} is not a valid age${ambiguous}.`, {
    hint: 'Pass at least one day, in days, weeks, months or years: 90d, 12w, 6mo or 2y.',
    code: 'bad-span',
  })
}

/** Describes what is deleted, and responses that are kept. */
const prunedText = (verb: string, { bodies, bytes, kept, requests }: PruneResult, before: string): string =>
  `${verb} ${quantity(bodies, 'response')} last received before ${before} (${quantity(bytes, 'byte')}). Kept ${quantity(kept, 'older one', 'older ones')} with quarantined rows.
${verb} ${quantity(requests, 'record')} of older requests that changed nothing and that later ones repeat.`

/** Says whether the space was returned to the file system. */
const spaceText = (vacuum: boolean): string =>
  vacuum
    ? 'Shrunk the database.'
    : 'The database keeps its size and reuses the space. --vacuum shrinks it and needs twice its size.'

/** Asks for confirmation on a terminal, but not in scripts. */
async function isConfirmed({ yes, json }: PruneArgs, question: string): Promise<boolean> {
  if (yes || json || !process.stdin.isTTY || !process.stderr.isTTY) return true
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    // Ctrl+C and Ctrl+D mean no.
    const reply = await terminal.question(`${question} [y/N] `).catch(() => '')
    if (/^y(es)?$/i.test(reply.trim())) return true
    print('Nothing was deleted.')
    return false
  } finally {
    terminal.close()
  }
}

/** Forgets a deleted or renamed job, so that `check` and `gaps` no longer report it. */
async function forget(args: PruneArgs, name: string): Promise<number> {
  const file = readSettings(args).database.value
  if (args.dryRun)
    throw new InputError('--dry-run needs an age.', { hint: 'indicator-sync prune 180d --dry-run', code: 'usage' })
  // Refuses a database that does not exist: a writer would create it.
  await withReader(file, (reader) => findForgettable(reader, name, args.file))
  if (!(await isConfirmed(args, `Forget job ${name}? Its values are kept.`))) return EXIT.done
  return withWriter(file, 'prune', async (store) => {
    const job = await findForgettable(store, name, args.file)
    await forgetJob(store, { job, nowMs: Date.now() })
    printResult(args, { job: name }, `Forgot job ${name}. Its values are kept.`)
    return EXIT.done
  })
}

export async function handler(args: PruneArgs): Promise<number> {
  if (args.job !== undefined) return forget(args, args.job)
  if (args.file !== undefined)
    throw new InputError('--file needs --job.', {
      hint: `indicator-sync prune --job NAME --file ${args.file}`,
      code: 'usage',
    })
  if (args.age === undefined)
    throw new InputError('prune needs an age or --job.', { hint: 'indicator-sync prune 180d', code: 'usage' })
  const before = formatMillis(Date.now() - parseAge(args.age) * 1000)
  const file = readSettings(args).database.value
  // Refuses a database that does not exist: a writer would create it.
  const prunable = await withReader(file, (reader) => countPrunable(reader, before))
  if (args.dryRun) {
    printResult(args, { before, ...prunable }, prunedText('Would delete', prunable, before))
    return EXIT.done
  }
  const question = `Delete ${quantity(prunable.bodies, 'response')} last received before ${before} (${quantity(prunable.bytes, 'byte')}) and ${quantity(prunable.requests, 'record')} of requests?`
  if (prunable.bodies + prunable.requests > 0 && !(await isConfirmed(args, question))) return EXIT.done
  return withWriter(file, 'prune', async (store) => {
    const pruned = await prune(store, before)
    await store.tidy()
    if (args.vacuum) await store.shrink()
    const text = `${prunedText('Deleted', pruned, before)}\n${spaceText(args.vacuum)}`
    printResult(args, { before, ...pruned }, text)
    return EXIT.done
  })
}
