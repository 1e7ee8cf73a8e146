import { createHash } from 'node:crypto'
import { closeSync, createReadStream, fsyncSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreError } from '../base/errors.ts'
import { formatMillis } from '../base/instant.ts'
import { partFileOf } from '../base/partFiles.ts'
import { moveIntoPlace } from '../base/target.ts'
import { openReader, openStore, type Reader, type Store } from '../db/open.ts'
import { SCHEMA_VERSION, writeDictionary } from '../db/schema.ts'
import { countRows, removePrivate } from './private.ts'
import { claimCopy, mark } from './published.ts'

/** What a published file holds, for whoever fetches it. */
export interface Manifest {
  readonly bytes: number
  /** SHA-256 of the file, hex. */
  readonly sha256: string
  readonly schema: number
  readonly published_at: string
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>
  /** The values of every series, with the first and the last instant. */
  readonly series: readonly object[]
}

/** Makes a copy a product: no bodies, no requests, statistics for the query planner, one file without a log beside it. */
function clean(store: Store, bookkeeping: boolean): void {
  store.run('delete from _lock', [])
  if (!bookkeeping) removePrivate(store)
  store.run(`insert into search (search) values ('optimize')`, [])
  store.run('analyze', [])
}

/** Refuses a copy that is not sound: it would be worse than the old one. */
function check(reader: Reader, file: string): void {
  const integrity = reader.get('pragma integrity_check(1)')
  const dangling = reader.all('pragma foreign_key_check').length
  if (integrity === 'ok' && dangling === 0) return
  throw new StoreError(
    `The copy of the database is not sound: ${integrity === 'ok' ? `${dangling} rows point nowhere` : integrity}.`,
    {
      hint: `Nothing was published. Run \`indicator-sync doctor\` on the database that ${file} was made of.`,
      code: 'unsound-copy',
    },
  )
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(file, { highWaterMark: 1024 * 1024 })) hash.update(piece as Buffer)
  return hash.digest('hex')
}

function sync(path: string): void {
  const handle = openSync(path, 'r')
  fsyncSync(handle)
  closeSync(handle)
}

/**
 * Makes a consistent single-file copy of a database that may be written at the same time: by SQLite's backup, checked,
 * checksummed and renamed into place, so that a reader finds the old file or the new one. Only a copy made before is replaced. Answers what it holds.
 */
export async function publish(
  source: Reader,
  said: string,
  { bookkeeping = false, overwrite = false, now = Date.now() } = {},
): Promise<Manifest> {
  const target = claimCopy(said, overwrite, [source.file])
  const { file } = target
  const copy = partFileOf(file, 'copy')
  const part = partFileOf(file)
  try {
    await source.copyInto(copy)
    const store = await openStore(copy, { durability: 'none', copies: true })
    await writeDictionary(store.kysely)
    clean(store, bookkeeping)
    mark(store)
    // Into a file beside it: a plain vacuum puts the whole into the folder for temporary files, which may be small.
    store.run('vacuum into ?', [part])
    await store.close()
    rmSync(copy)
    const reader = openReader(part)
    let manifest: Omit<Manifest, 'bytes' | 'sha256'>
    try {
      check(reader, file)
      manifest = {
        schema: SCHEMA_VERSION,
        published_at: formatMillis(now),
        rows: countRows(reader),
        series: reader.all(
          `select f.series_id, f.kind, f.indicator_id, f.indicator_name, f.geo_id, f.geo_name, f.first_utc, f.last_utc from freshness f`,
        ) as object[],
      }
    } finally {
      await reader.close()
    }
    const done = { bytes: statSync(part).size, sha256: await sha256Of(part), ...manifest }
    sync(part)
    moveIntoPlace(part, target)
    sync(dirname(file))
    return done
  } finally {
    for (const made of [copy, part])
      for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${made}${end}`, { force: true })
  }
}
