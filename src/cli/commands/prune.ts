import { openWriter } from '../../db/lock.ts'
import { openReader } from '../../db/open.ts'
import { parseSpan, spanSeconds } from '../../job/moment.ts'
import { pruneReplies } from '../../load/replies/prune.ts'
import { forgetJob } from '../../sync/forgetJob.ts'
import { InputError } from '../../util/errors.ts'
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
  job: { type: 'string', describe: 'Forget this deleted or renamed job; values stay' },
  ...JSON_FLAG,
} as const
export const examples = ['prune 180d --database data/demo.db']

type PruneArgs = Args<typeof flags, typeof positionals>

export async function handler(args: PruneArgs): Promise<number> {
  if (args.job !== undefined) return forget(args, args.job)
  if (args.age === undefined)
    throw new InputError('prune needs an age or --job.', { hint: 'indicator-sync prune 180d', code: 'usage' })
  const span = parseSpan(args.age)
  // `1m` is a minute: whoever writes it means a month.
  if (!span || span.unit === 'minute' || span.unit === 'hour')
    throw new InputError(`${JSON.stringify(args.age)} is not a valid age.`, {
      hint: 'Pass days, weeks, months or years, such as 90d, 12w, 6mo or 2y.',
      code: 'bad-span',
    })
  const before = formatMillis(Date.now() - spanSeconds(span) * 1000)
  const file = readSettings(args).database.value
  // Refuses a database that does not exist: a writer would create it.
  await openReader(file).close()
  const store = await openWriter(file, 'prune')
  try {
    const pruned = await pruneReplies(store, before)
    await store.tidy()
    print(
      args.json
        ? JSON.stringify({ before, ...pruned }, null, 2)
        : `Deleted ${quantity(pruned.bodies, 'response')} last received before ${before} (${quantity(pruned.bytes, 'byte')}). Kept ${quantity(pruned.kept, 'older one', 'older ones')} with quarantined rows.`,
    )
    return EXIT.done
  } finally {
    await store.close()
  }
}

/** Forgets a deleted or renamed job, so that `check` and `gaps` no longer report it. */
async function forget(args: PruneArgs, job: string): Promise<number> {
  const file = readSettings(args).database.value
  await openReader(file).close()
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
