import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAddress } from '../../db/address.ts'
import { openStore, removeDatabase } from '../../db/open.ts'
import { REBUILT_TABLES } from '../../load/replies/rebuild.ts'
import type { Service } from '../../service/service.ts'
import { measureReplyStore } from '../../state/replies.ts'
import { endRun, openRun } from '../../sync/record.ts'
import { type ReplayResult, replay } from '../../sync/replay.ts'
import { InputError, StoreError } from '../../util/errors.ts'
import { partFileName, removeStaleParts } from '../../util/files/partFiles.ts'
import { prepareTarget, type Target, writeInPlace } from '../../util/files/target.ts'
import { grouped, quantity } from '../../util/text.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { withReader, withWriter } from '../settings/databases.ts'
import { EXIT } from '../terminal/fail.ts'
import { printResult } from '../terminal/output.ts'
import { createReporter, logFor } from '../terminal/progress.ts'

export const flags = {
  ...DATABASE_FLAG,
  output: { type: 'string', describe: 'Write the rebuilt database to this new file' },
  incomplete: { type: 'boolean', default: false, describe: 'Accept missing responses (with --output)' },
  ...JSON_FLAG,
} as const
export const examples = ['replay --database data/demo.db', 'replay --output rebuilt.db --database data/demo.db']

type OnProgress = (replies: number) => void

/** Refuses a reply store with missing bodies: their rows would be lost. */
async function checkReplies(file: string, incomplete: boolean): Promise<void> {
  const { missing } = await withReader(file, measureReplyStore)
  if (missing === 0 || incomplete) return
  throw new InputError(
    `Cannot rebuild all rows: ${quantity(missing, 'response')} of ${file} ${missing === 1 ? 'is' : 'are'} not stored (\`keep: latest\` or \`none\`, or pruned).`,
    {
      hint: 'Rebuild the rest into another file with `indicator-sync replay --output other.db --incomplete`, or request the ranges of the missing responses again with restate.',
      code: 'incomplete-replies',
    },
  )
}

/** Names the first damaged bodies by their fetches. */
function damageText(damaged: readonly number[]): string {
  const first = damaged.slice(0, 10).map((id) => `fetch ${id}`)
  const more = damaged.length > first.length ? ` and ${grouped(damaged.length - first.length)} more` : ''
  return `${quantity(damaged.length, 'stored response')} ${damaged.length === 1 ? 'is' : 'are'} damaged (${first.join(', ')}${more})`
}

/** Builds a database from the reply store of another one, in a scratch file. */
function build(file: string, scratch: string, service: Service, onProgress: OnProgress): Promise<ReplayResult> {
  return withReader(file, async (source) => {
    await removeDatabase(scratch)
    const store = await openStore(scratch, { durability: 'none' })
    try {
      const replayed = await replay(source, store, { service, nowMs: Date.now, onProgress })
      if ((await store.engine.findDanglingRows()).length > 0)
        throw new StoreError(`The stored responses of ${file} lack rows that others refer to.`, {
          hint: 'Check the database with `indicator-sync doctor`. It was not changed.',
          code: 'dangling-rebuild',
        })
      await store.tidy()
      return replayed
    } finally {
      await store.close()
    }
  })
}

/** Rebuilds a database in place. Readers see the old one or the new one, also after a crash. */
export async function rebuild(file: string, service: Service, onProgress: OnProgress): Promise<ReplayResult> {
  await checkReplies(file, false)
  const isFile = !isAddress(file)
  const folder = isFile ? null : mkdtempSync(join(tmpdir(), 'indicator-sync-replay-'))
  const scratch = folder === null ? partFileName(file) : join(folder, 'rebuilt.db')
  try {
    return await withWriter(file, 'replay', async (store) => {
      if (isFile) removeStaleParts(file)
      const replayed = await build(file, scratch, service, onProgress)
      if (replayed.damaged.length > 0)
        throw new StoreError(`Cannot rebuild all rows: ${damageText(replayed.damaged)}. ${file} was not changed.`, {
          hint: 'Rebuild the rest into another file with `indicator-sync replay --output other.db`, or request the ranges of the damaged responses again with restate.',
          code: 'damaged-replies',
        })
      const rebuilt = await openStore(scratch, { durability: 'none' })
      try {
        await store.check()
        await store.replaceTables(rebuilt, REBUILT_TABLES)
      } finally {
        await rebuilt.close()
      }
      const run = await openRun({ store, nowMs: Date.now }, { command: 'replay', job: { name: 'replay' } })
      await endRun(run, 'done', null)
      await store.tidy()
      return replayed
    })
  } finally {
    removeDatabase(scratch)
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
  }
}

/** Refuses an existing target: a rebuilt database replaces nothing. */
const prepareOutput = (file: string, output: string): Target =>
  prepareTarget(output, {
    product: 'a rebuilt database',
    sources: [file],
    tidy: removeStaleParts,
    isReplaceableDatabase: () => false,
  })

/** Builds a new database in another file. */
const rebuildInto = (target: Target, file: string, service: Service, onProgress: OnProgress): Promise<ReplayResult> =>
  writeInPlace(target, async (scratch) => {
    const replayed = await build(file, scratch, service, onProgress)
    // Opening it as a usual database gives it a write-ahead log.
    await (await openStore(scratch)).close()
    return replayed
  })

export async function handler(args: Args<typeof flags>): Promise<number> {
  const log = logFor(args, [])
  const settings = readSettings(args)
  const file = settings.database.value
  const service = settings.service.value
  const { output, incomplete } = args
  if (incomplete && output === undefined)
    throw new InputError('--incomplete needs --output: a partial database cannot replace a complete one.', {
      code: 'incomplete-in-place',
    })
  if (output !== undefined && isAddress(output))
    throw new InputError('--output must be a file, not a server.', {
      hint: 'Rebuild it with --output FILE.db, then copy that into an empty database: indicator-sync migrate --from FILE.db --database postgres://…/NEW',
      code: 'rebuild-on-server',
    })
  const began = performance.now()
  const report = createReporter(log)
  const onProgress: OnProgress = (replies) => report(`${quantity(replies, 'response')} parsed`)
  const target = output === undefined ? null : prepareOutput(file, output)
  await checkReplies(file, incomplete)
  const replayed = target
    ? await rebuildInto(target, file, service, onProgress)
    : await rebuild(file, service, onProgress)
  const seconds = (performance.now() - began) / 1000
  const { replies, rows, unread, damaged } = replayed
  const unparsed = unread > 0 ? `; ${quantity(unread, 'response')} still cannot be parsed` : ''
  printResult(
    args,
    { database: output ?? file, ...replayed, seconds },
    `${output ?? file} was rebuilt from ${quantity(replies, 'stored response')} in ${seconds.toFixed(1)} s: ${quantity(rows, 'row')} written${unparsed}.`,
  )
  if (damaged.length === 0) return EXIT.done
  log.warn(`${damageText(damaged)}; ${damaged.length === 1 ? 'its' : 'their'} rows are not in ${output}.`)
  return EXIT.partial
}
