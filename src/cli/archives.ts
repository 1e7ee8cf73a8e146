import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { secretsOf } from '../api/key.ts'
import { InputError, KeyError } from '../base/errors.ts'
import { lockWriter } from '../db/lock.ts'
import { openReader, openStore, type Reader, type Store } from '../db/open.ts'
import { DownloadError, type DownloadOptions, download, isOwn, parseBytes } from '../fetch/download.ts'
import { createAgent, LIMITS } from '../fetch/http.ts'
import { createGate } from '../fetch/pace.ts'
import { recordFile } from '../load/files.ts'
import { readSettings, requireService } from './config.ts'
import { EXIT } from './fail.ts'
import type { CommonArgs, RangeArgs, ServiceArgs } from './flags.ts'
import { logFor } from './logging.ts'
import { grouped, print, table } from './output.ts'
import { watchSignals } from './signals.ts'
import { version } from './version.ts'

interface ArchivesArgs extends CommonArgs, ServiceArgs, RangeArgs {
  readonly action: 'list' | 'download'
  readonly id?: number[]
  readonly kind: 'archive' | 'archive_json' | 'all'
  readonly folder?: string
  readonly maxBytes: string
  readonly limit: number
  readonly refresh: boolean
  readonly json: boolean
}

interface Edition {
  readonly kind: string
  readonly id: number
  readonly name: string | null
  readonly date: string
  readonly url: string | null
  readonly path: string | null
  readonly bytes: number | null
}

/** The pace of downloads, one after the other. */
const PACE = { perSecond: 2, concurrency: 1 }

const dayOf = (flag: string, text: string | undefined): string | null => {
  if (text === undefined) return null
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return text
  throw new InputError(`--${flag} ${JSON.stringify(text)} is no day.`, { hint: 'Write 2025-11-01.', code: 'bad-date' })
}

/** The editions that are meant, the latest first. */
function editions(db: Reader, { kind, id, from, to }: ArchivesArgs): Edition[] {
  return db.all(
    `select kind, id, name, date, url, path, bytes from archive_publications
     where (:kind = 'all' or kind = :kind) and (:ids = '[]' or id in (select value from json_each(:ids)))
       and (:from is null or date >= :from) and (:to is null or date < :to)
     order by date desc, kind, id`,
    { kind, ids: JSON.stringify(id ?? []), from: dayOf('from', from), to: dayOf('to', to) },
  ) as Edition[]
}

function list(found: readonly Edition[], { json, limit }: ArchivesArgs): void {
  const shown = limit > 0 ? found.slice(0, limit) : found
  const rows = shown.map((one) => [one.id, one.kind, one.name, one.date, one.bytes, one.path?.slice(0, 15) ?? ''])
  if (json) print(JSON.stringify(shown, null, 2))
  else if (shown.length === 0) print('No editions are held. A job fetches them: archives: [{ window: { last: 31d } }].')
  else print(table({ columns: ['id', 'kind', 'name', 'date', 'bytes', 'file'], rows }))
  if (shown.length < found.length)
    process.stderr.write(`The first ${limit} of ${grouped(found.length)}; --limit 0 shows all.\n`)
}

interface Done {
  files: number
  bytes: number
  held: number
  failed: { url: string; reason: string }[]
}

/** Fetches what is not there yet, one address once. */
async function fetchAll(
  store: Store,
  found: readonly Edition[],
  args: ArchivesArgs,
  options: DownloadOptions,
): Promise<Done> {
  const gate = createGate(PACE, options.signal)
  const done: Done = { files: 0, bytes: 0, held: 0, failed: [] }
  const urls = new Map(found.flatMap(({ url, path }) => (url === null ? [] : [[url, path]])))
  const fresh = [...urls].filter(([, path]) => args.refresh || path === null || !existsSync(join(options.folder, path)))
  done.held = urls.size - fresh.length
  const wanted = args.limit > 0 ? fresh.slice(0, args.limit) : fresh
  for (const [url] of wanted) {
    if (options.signal.aborted) break
    try {
      const file = await gate.pass(() => download(url, options))
      await recordFile(store, { url, ...file }, Date.now())
      done.files++
      done.bytes += file.bytes
    } catch (error) {
      if (options.signal.aborted) break
      const own = isOwn(url, options.baseUrl)
      if (error instanceof DownloadError && own && (error.status === 401 || error.status === 403) && done.files === 0)
        throw new KeyError(`The service refused the file with status ${error.status}.`, {
          hint: 'Set INDICATOR_SYNC_API_KEY to a valid key, then run the command again.',
          code: 'key-refused',
        })
      // What the network said, in its own words; the next file may come.
      done.failed.push({ url, reason: error instanceof Error ? error.message || error.name : String(error) })
    }
  }
  gate.close()
  return done
}

/** `archives download`: the files of editions, beside the database, under the names of their checksums. */
async function fetchFiles(args: ArchivesArgs): Promise<number> {
  const settings = readSettings(args)
  const { baseUrl, key } = requireService(settings)
  const file = settings.database.value
  const maxBytes = parseBytes(args.maxBytes)
  const log = logFor(args, secretsOf(key))
  const folder = args.folder ?? join(dirname(file), 'archives')
  const store = await openStore(file)
  const signals = watchSignals((message) => log.warn(message))
  const dispatcher = createAgent(LIMITS, PACE.concurrency)
  try {
    const unlock = await lockWriter(store, 'archives download', Date.now)
    try {
      const userAgent = `indicator-sync/${version()}`
      const options = { baseUrl, key, userAgent, folder, maxBytes, dispatcher, signal: signals.signal }
      const done = await fetchAll(store, editions(store, args), args, options)
      if (args.json) print(JSON.stringify({ folder, ...done }, null, 2))
      else {
        print(
          `${grouped(done.files)} files, ${grouped(done.bytes)} bytes in ${folder}; ${grouped(done.held)} were there.`,
        )
        for (const { url, reason } of done.failed) log.warn(`${url}: ${reason}`)
      }
      return signals.code() ?? (done.failed.length > 0 ? EXIT.partial : EXIT.done)
    } finally {
      await unlock()
    }
  } finally {
    signals.release()
    await dispatcher.destroy()
    await store.close()
  }
}

export async function run(args: ArchivesArgs): Promise<number> {
  if (args.action === 'download') return fetchFiles(args)
  const reader = openReader(readSettings(args).database.value)
  try {
    list(editions(reader, args), args)
    return EXIT.done
  } finally {
    await reader.close()
  }
}
