import { InputError } from '../../base/errors.ts'
import { grouped, quantity } from '../../base/quantity.ts'
import { formatMillis } from '../../base/time/instant.ts'
import { openWriter } from '../../db/lock.ts'
import { openReader } from '../../db/open.ts'
import { parseSpan, spanSeconds } from '../../job/moment.ts'
import { pruneReplies } from '../../load/replies/prune.ts'
import type { CommonArgs, DatabaseArgs } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'

export async function run(
  args: CommonArgs & DatabaseArgs & { readonly olderThan: string; readonly json: boolean },
): Promise<number> {
  const span = parseSpan(args.olderThan)
  // `1m` is a minute: whoever writes it means a month.
  if (!span || span.unit === 'minute' || span.unit === 'hour')
    throw new InputError(`--older-than ${JSON.stringify(args.olderThan)} is not a valid age.`, {
      hint: 'Legal: days, weeks, months or years, such as 90d, 12w, 6mo or 2y.',
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
        : `${quantity(pruned.bodies, 'body', 'bodies')} last seen before ${before} ${pruned.bodies === 1 ? 'is' : 'are'} gone, ${grouped(pruned.bytes)} bytes are free for new rows. ${quantity(pruned.kept, 'older one stays', 'older ones stay')}: what is in quarantine needs ${pruned.kept === 1 ? 'it' : 'them'}.`,
    )
    return EXIT.done
  } finally {
    await store.close()
  }
}
