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
import { partFileName, removeStaleParts, removeStalePartsNow } from '../../util/files/partFiles.ts'
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
    `${quantity(missing, 'answer')} of ${file} ${missing === 1 ? 'is' : 'are'} not in the reply store (keep: latest or none, or pruned); a rebuilt database would lack their rows.`,
    {
      hint: 'Rebuild the stored part into another file: indicator-sync replay --output other.db --incomplete. Or fetch the rest again: indicator-sync restate.',
      code: 'incomplete-replies',
    },
  )
}

/** A sentence that names the first damaged bodies by the numbers of their fetches. */
function damageText(damaged: readonly number[]): string {
  const first = damaged.slice(0, 10).map((id) => `fetch ${id}`)
  const more = damaged.length > first.length ? ` and ${grouped(damaged.length - first.length)} more` : ''
  return `${quantity(damaged.length, 'body', 'bodies')} in the reply store ${damaged.length === 1 ? 'is' : 'are'} damaged (${first.join(', ')}${more})`
}

/** Refuses to replace a database by one without the rows of damaged bodies. */
function checkDamage(file: string, { damaged }: Replayed): void {
  if (damaged.length === 0) return
  throw new StoreError(
    `${damageText(damaged)}; a database rebuilt from it would lack their rows. ${file} was not changed.`,
    {
      hint: 'Rebuild the undamaged part into another file: indicator-sync replay --output other.db. Or fetch the rest again: indicator-sync restate.',
      code: 'damaged-replies',
    },
  )
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
      throw new StoreError(`The reply store of ${file} does not make a complete database.`, {
        hint: 'Check it with `indicator-sync doctor`. It was not changed.',
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
    if (hasFolder) removeStaleParts(file, Date.now())
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
    what: 'a rebuilt database',
    sources: [file],
    tidy: removeStalePartsNow,
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
    throw new InputError('--incomplete only works with --output: a partial database never replaces a complete one.', {
      code: 'incomplete-in-place',
    })
  if (args.output !== undefined && parseDatabase(args.output).folder === null) throw refuseServer()
  const began = performance.now()
  let reportedAt = began
  const onProgress = (replies: number): void => {
    if (performance.now() - reportedAt < 10_000) return
    reportedAt = performance.now()
    log.info(`${quantity(replies, 'reply', 'replies')} read again`)
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
      : `${args.output ?? file} is rebuilt from ${quantity(done.replies, 'stored reply', 'stored replies')} in ${seconds.toFixed(1)} s: ${quantity(done.rows, 'row')} written${done.unread > 0 ? `; ${quantity(done.unread, 'reply', 'replies')} still cannot be read` : ''}.`,
  )
  if (done.damaged.length === 0) return EXIT.done
  log.warn(`${damageText(done.damaged)} and skipped: their rows are not in ${args.output}.`)
  return EXIT.partial
}
