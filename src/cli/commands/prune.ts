import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { parseDatabase } from '../../db/address.ts'
import { openWriter } from '../../db/lock.ts'
import { openReader } from '../../db/open.ts'
import { parseSpan, spanSeconds } from '../../job/moment.ts'
import { countPrunable, type Pruned, pruneReplies } from '../../load/replies/prune.ts'
import { forgetJob } from '../../sync/forgetJob.ts'
import { InputError, StoreError } from '../../util/errors.ts'
import { version } from '../../util/package.ts'
import { quantity } from '../../util/text.ts'
import { formatMillis } from '../../util/time/instant.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'

export const positionals = {
  age: { type: 'string', describe: 'Minimum age of responses: 90d, 12w, 6mo, 2y' },
} as const
export const flags = {
  ...DATABASE_FLAG,
  'dry-run': { type: 'boolean', default: false, describe: 'Only report what would be deleted' },
  vacuum: { type: 'boolean', default: false, describe: 'Then shrink the database; needs twice its size' },
  yes: { type: 'boolean', default: false, describe: 'Do not ask for confirmation on a terminal' },
  job: { type: 'string', describe: 'Forget this deleted or renamed job; values stay' },
  ...JSON_FLAG,
} as const
export const examples = [
  'prune 180d --dry-run --database data/demo.db',
  'prune 180d --vacuum --yes --database data/demo.db',
]

type PruneArgs = Args<typeof flags, typeof positionals>

export async function handler(args: PruneArgs): Promise<number> {
  if (args.job !== undefined) return forget(args, args.job)
  if (args.age === undefined)
    throw new InputError('prune needs an age or --job.', { hint: 'indicator-sync prune 180d', code: 'usage' })
  const before = formatMillis(Date.now() - ageSeconds(args.age) * 1000)
  const file = readSettings(args).database.value
  const isFile = parseDatabase(file).folder !== null
  // Refuses a database that does not exist: a writer would create it.
  const reader = openReader(file)
  const prunable = await countPrunable(reader, before).finally(() => reader.close())
  const responses = `${quantity(prunable.bodies, 'response')} last received before ${before} (${quantity(prunable.bytes, 'byte')})`
  if (args.dryRun) {
    print(
      args.json ? JSON.stringify({ before, ...prunable }, null, 2) : `Would delete ${responses}. ${keptText(prunable)}`,
    )
    return EXIT.done
  }
  if (args.vacuum && isFile) requireRoom(file)
  if (prunable.bodies > 0 && !(await isConfirmed(args, `Delete ${responses}?`))) return EXIT.done
  const store = await openWriter(file, 'prune')
  try {
    const pruned = await pruneReplies(store, before)
    await store.tidy()
    const size = isFile ? statSync(file).size : null
    if (args.vacuum) await store.shrink()
    if (args.json) print(JSON.stringify({ before, ...pruned }, null, 2))
    else
      print(
        [
          `Deleted ${quantity(pruned.bodies, 'response')} last received before ${before} (${quantity(pruned.bytes, 'byte')}). ${keptText(pruned)}`,
          spaceText(args.vacuum, size, isFile ? statSync(file).size : null),
        ].join('\n'),
      )
    return EXIT.done
  } finally {
    await store.close()
  }
}

/** Seconds of an age in days or longer units. Throws InputError for anything else. */
function ageSeconds(age: string): number {
  const span = parseSpan(age)
  if (span && span.count > 0 && span.unit !== 'minute' && span.unit !== 'hour') return spanSeconds(span)
  const ambiguous = span?.unit === 'minute' ? `: m may mean minutes or months; write ${span.count}mo for months` : ''
  throw new InputError(`${JSON.stringify(age)} is not a valid age${ambiguous}.`, {
    hint: 'Pass at least one day, in days, weeks, months or years: 90d, 12w, 6mo or 2y.',
    code: 'bad-span',
  })
}

const keptText = ({ kept }: Pruned): string =>
  `Kept ${quantity(kept, 'older one', 'older ones')} with quarantined rows.`

/** Says whether the file was shrunk, from its sizes in bytes before and after; they are null for a server. */
function spaceText(vacuum: boolean, before: number | null, after: number | null): string {
  if (before === null || after === null)
    return vacuum
      ? 'Shrunk the table _reply.'
      : 'The server reuses the space. --vacuum returns it (VACUUM FULL): it locks the table _reply and needs its size on disk.'
  return vacuum
    ? `Shrunk the file from ${quantity(before, 'byte')} to ${quantity(after, 'byte')}.`
    : `The file keeps its size and reuses the space. --vacuum shrinks it and needs up to ${quantity(2 * before, 'byte')} on disk meanwhile.`
}

/** VACUUM writes a copy of the file, then the same once more into the log. */
function requireRoom(file: string): void {
  const needed = 2 * statSync(file).size
  const { bavail, bsize } = statfsSync(dirname(file))
  if (bavail * bsize < needed)
    throw new StoreError(
      `Only ${quantity(bavail * bsize, 'byte')} are free beside ${file}; VACUUM needs up to ${quantity(needed, 'byte')}.`,
      { hint: 'Free disk space, or omit --vacuum.', code: 'no-room' },
    )
}

/** Asks on a terminal; scripts are not asked. */
async function isConfirmed({ yes, json }: PruneArgs, question: string): Promise<boolean> {
  if (yes || json || !process.stdin.isTTY || !process.stderr.isTTY) return true
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    // Ctrl+C and Ctrl+D mean no.
    const answer = await terminal.question(`${question} [y/N] `).catch(() => '')
    if (/^y(es)?$/i.test(answer.trim())) return true
    print('Nothing was deleted.')
    return false
  } finally {
    terminal.close()
  }
}

/** Forgets a deleted or renamed job, so that `check` and `gaps` no longer report it. */
async function forget(args: PruneArgs, job: string): Promise<number> {
  const file = readSettings(args).database.value
  await openReader(file).close()
  if (args.dryRun)
    throw new InputError('--dry-run needs an age.', { hint: 'indicator-sync prune 180d --dry-run', code: 'usage' })
  if (!(await isConfirmed(args, `Forget job ${job}? Its values are kept.`))) return EXIT.done
  const store = await openWriter(file, 'prune')
  try {
    if (!(await forgetJob(store, { job, version: version(), nowMs: Date.now() })))
      throw new InputError(`Unknown job ${JSON.stringify(job)} in ${file}.`, {
        hint: '`indicator-sync status` lists the last runs with their jobs.',
        code: 'no-job',
      })
    print(args.json ? JSON.stringify({ job }, null, 2) : `Forgot job ${job}. Its values are kept.`)
    return EXIT.done
  } finally {
    await store.close()
  }
}
