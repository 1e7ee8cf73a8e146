import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseDatabase } from '../../db/address.ts'
import { openWriter } from '../../db/lock.ts'
import { openReader, openStore, removeDatabase } from '../../db/open.ts'
import type { Store } from '../../db/store.ts'
import { REBUILT_TABLES } from '../../load/replies/rebuild.ts'
import { replyStoreState } from '../../reports/replies.ts'
import type { Service } from '../../service/service.ts'
import { beginRun, endRun } from '../../sync/record.ts'
import { type Replayed, replay } from '../../sync/replay.ts'
import { InputError, StoreError } from '../../util/errors.ts'
import { partFileName, removeStaleParts } from '../../util/files/partFiles.ts'
import { moveIntoPlace, prepareTarget, type Target } from '../../util/files/target.ts'
import { version } from '../../util/package.ts'
import { grouped, quantity } from '../../util/text.ts'
import { formatMillis } from '../../util/time/instant.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { logFor } from '../terminal/logging.ts'
import { print } from '../terminal/output.ts'

export const flags = {
  ...DATABASE_FLAG,
  output: { type: 'string', describe: 'Write the rebuilt database to this new file' },
  incomplete: { type: 'boolean', default: false, describe: 'Accept missing responses (with --output)' },
  ...JSON_FLAG,
} as const
export const examples = ['replay --database data/demo.db', 'replay --output rebuilt.db --database data/demo.db']

/** Refuses a reply store with missing bodies: their rows would be lost. */
async function checkReplies(file: string, incomplete: boolean): Promise<void> {
  const reader = openReader(file)
  const { missing } = await replyStoreState(reader)
  await reader.close()
  if (missing === 0 || incomplete) return
  throw new InputError(
    `Cannot rebuild all rows: ${quantity(missing, 'response')} of ${file} ${missing === 1 ? 'is' : 'are'} not stored (\`keep: latest\` or \`none\`, or pruned).`,
    {
      hint: 'Rebuild the rest into another file with `indicator-sync replay --output other.db --incomplete`, or re-fetch the missing responses with `indicator-sync restate`.',
      code: 'incomplete-replies',
    },
  )
}

/** A sentence that names the first damaged bodies by the numbers of their fetches. */
function damageText(damaged: readonly number[]): string {
  const first = damaged.slice(0, 10).map((id) => `fetch ${id}`)
  const more = damaged.length > first.length ? ` and ${grouped(damaged.length - first.length)} more` : ''
  return `${quantity(damaged.length, 'stored response')} ${damaged.length === 1 ? 'is' : 'are'} damaged (${first.join(', ')}${more})`
}

/** Refuses to replace a database by one without the rows of damaged bodies. */
function checkDamage(file: string, { damaged }: Replayed): void {
  if (damaged.length === 0) return
  throw new StoreError(`Cannot rebuild all rows: ${damageText(damaged)}. ${file} was not changed.`, {
    hint: 'Rebuild the rest into another file with `indicator-sync replay --output other.db`, or re-fetch the damaged responses with `indicator-sync restate`.',
    code: 'damaged-replies',
  })
}

/** Builds a database from the reply store of another one, in a file that is thrown away unless it is completed. */
async function build(
  file: string,
  scratch: string,
  service: Service,
  onProgress: (replies: number) => void,
): Promise<Replayed> {
  removeDatabase(scratch)
  const source = openReader(file)
  const store = await openStore(scratch, { durability: 'none', encoding: source.copying?.encoding() })
  try {
    const done = await replay(source, store, { service, now: Date.now, onProgress })
    if ((await store.engine.dangling()).length > 0)
      throw new StoreError(`The stored responses of ${file} lack rows that others refer to.`, {
        hint: 'Check the database with `indicator-sync doctor`. It was not changed.',
        code: 'dangling-rebuild',
      })
    await store.tidy()
    return done
  } finally {
    await store.close()
    await source.close()
  }
}

/** Rebuilds a database in place. Readers see the old one or the new one, also after a crash. */
export async function rebuild(
  file: string,
  service: Service,
  onProgress: (replies: number) => void,
): Promise<Replayed> {
  await checkReplies(file, false)
  const hasFolder = parseDatabase(file).folder !== null
  const folder = hasFolder ? null : mkdtempSync(join(tmpdir(), 'indicator-sync-replay-'))
  const scratch = folder === null ? partFileName(file) : join(folder, 'rebuilt.db')
  let store: Store | undefined
  try {
    store = await openWriter(file, 'replay')
    if (hasFolder) removeStaleParts(file)
    const done = await build(file, scratch, service, onProgress)
    checkDamage(file, done)
    const built = await openStore(scratch, { durability: 'none' })
    try {
      await store.check()
      await store.replaceTables(built, REBUILT_TABLES)
    } finally {
      await built.close()
    }
    const began = formatMillis(Date.now())
    const run = await beginRun(store, { command: 'replay', job: 'replay', version: version(), now: began })
    await endRun(store, run, 'done', null, formatMillis(Date.now()))
    await store.tidy()
    return done
  } finally {
    removeDatabase(scratch)
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
    await store?.close()
  }
}

/** Throws where the target exists: a rebuilt database replaces nothing. */
const claimInto = (file: string, into: string): Target =>
  prepareTarget(into, {
    product: 'a rebuilt database',
    sources: [file],
    tidy: removeStaleParts,
    isReplaceableDatabase: () => false,
  })

/** The error for `--output` with a database on a server. */
const refuseServer = (): InputError =>
  new InputError('--output must be a file, not a server.', {
    hint: 'Rebuild it with --output FILE.db, then copy that into an empty database: indicator-sync migrate --from FILE.db --database postgres://…/NEW',
    code: 'rebuild-on-server',
  })

/** Builds a new database in another file. */
async function rebuildInto(
  file: string,
  into: string,
  service: Service,
  onProgress: (replies: number) => void,
): Promise<Replayed> {
  const target = claimInto(file, into)
  const scratch = partFileName(target.file)
  try {
    const done = await build(file, scratch, service, onProgress)
    // From now on it is a database like any other, with a write-ahead log.
    await (await openStore(scratch)).close()
    moveIntoPlace(scratch, target)
    return done
  } finally {
    removeDatabase(scratch)
  }
}

export async function handler(args: Args<typeof flags>): Promise<number> {
  const log = logFor(args, [])
  const settings = readSettings(args)
  const file = settings.database.value
  const service = settings.service.value
  if (args.incomplete && args.output === undefined)
    throw new InputError('--incomplete needs --output: a partial database cannot replace a complete one.', {
      code: 'incomplete-in-place',
    })
  if (args.output !== undefined && parseDatabase(args.output).folder === null) throw refuseServer()
  const began = performance.now()
  let reportedAt = began
  const onProgress = (replies: number): void => {
    if (performance.now() - reportedAt < 10_000) return
    reportedAt = performance.now()
    log.info(`${quantity(replies, 'response')} parsed`)
  }
  if (args.output !== undefined) claimInto(file, args.output)
  await checkReplies(file, args.incomplete)
  const done =
    args.output !== undefined
      ? await rebuildInto(file, args.output, service, onProgress)
      : await rebuild(file, service, onProgress)
  const seconds = (performance.now() - began) / 1000
  print(
    args.json
      ? JSON.stringify({ database: args.output ?? file, ...done, seconds }, null, 2)
      : `${args.output ?? file} was rebuilt from ${quantity(done.replies, 'stored response')} in ${seconds.toFixed(1)} s: ${quantity(done.rows, 'row')} written${done.unread > 0 ? `; ${quantity(done.unread, 'response')} still cannot be parsed` : ''}.`,
  )
  if (done.damaged.length === 0) return EXIT.done
  log.warn(
    `${damageText(done.damaged)}; ${done.damaged.length === 1 ? 'its' : 'their'} rows are not in ${args.output}.`,
  )
  return EXIT.partial
}
