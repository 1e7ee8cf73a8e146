import { rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { requireCopying, UNCOPIED_TABLES } from '../db/copying.ts'
import { isPublishedCopy, openReader, openStore, removeDatabase } from '../db/open.ts'
import { writeDictionary } from '../db/queries/referenceTables.ts'
import type { Reader } from '../db/store.ts'
import { type Database, TABLE_NAMES, type TableName } from '../db/tables/schema.ts'
import { sha256OfFile } from '../util/checksum.ts'
import { StoreError } from '../util/errors.ts'
import { flushFile, flushFolder } from '../util/files/flush.ts'
import { partFileName, removeStaleParts } from '../util/files/partFiles.ts'
import { prepareTarget, type Target, writeInPlace } from '../util/files/target.ts'
import { quantity } from '../util/text.ts'
import { formatMillis } from '../util/time/instant.ts'

const COLUMNS = [
  'series_id',
  'kind',
  'indicator_id',
  'indicator_name',
  'geo_id',
  'geo_name',
  'first_utc',
  'last_utc',
] as const

/** The manifest of a published file. */
export interface Manifest {
  /** Size of the file. */
  readonly bytes: number
  /** SHA-256 of the file, hex. */
  readonly sha256: string
  /** Version of the schema. */
  readonly schema: number
  /** When the copy was made, UTC. */
  readonly published_at: string
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>
  /** Every series and geo with its first and last value. */
  readonly series: readonly Pick<Database['freshness'], (typeof COLUMNS)[number]>[]
}

/** Checks that a copy may be written to a path: it never replaces a live database. */
export const prepareCopy = (path: string, overwrite: boolean, sources: readonly string[]): Target =>
  prepareTarget(path, {
    product: 'a published copy',
    overwrite,
    sources,
    tidy: removeStaleParts,
    isReplaceableDatabase: isPublishedCopy,
  })

/** Throws if a copy is damaged or has broken references. */
async function checkCopy({ engine }: Reader, file: string): Promise<void> {
  const { isSound, detail } = await engine.checkIntegrity()
  const dangling = (await engine.findDanglingRows()).length
  if (isSound && dangling === 0) return
  const fault = isSound ? `${quantity(dangling, 'row refers', 'rows refer')} to missing rows` : detail
  throw new StoreError(`The copy of the database is damaged: ${fault}.`, {
    hint: `Nothing was published. Run \`indicator-sync doctor\` on the source database of ${file}.`,
    code: 'unsound-copy',
  })
}

/** Checks a copy and describes its contents. */
async function describeCopy(part: string, file: string, publishedAt: number): Promise<Manifest> {
  const reader = openReader(part)
  try {
    await checkCopy(reader, file)
    const { kysely, engine, schema } = reader
    const tables = new Set(await engine.listTables())
    const rows: Record<string, number> = {}
    for (const table of TABLE_NAMES.filter((name) => tables.has(name))) {
      const query = kysely.selectFrom(table).select(({ fn }) => fn.countAll<number>().as('count'))
      rows[table] = (await query.executeTakeFirstOrThrow()).count
    }
    const series = await kysely.selectFrom('freshness').select(COLUMNS).execute()
    const bytes = statSync(part).size
    const sha256 = sha256OfFile(part)
    return { bytes, sha256, schema, published_at: formatMillis(publishedAt), rows, series }
  } finally {
    await reader.close()
  }
}

/**
 * Makes a consistent copy of a database in a single file, while others may write to it. Checks the copy and moves it into place, so
 * that a reader finds the old file or the new one. Returns the manifest.
 */
export async function publish(
  source: Reader,
  path: string,
  { bookkeeping = false, overwrite = false, now = Date.now() } = {},
): Promise<Manifest> {
  const target = prepareCopy(path, overwrite, [source.file])
  const { file } = target
  const copy = partFileName(file, 'copy')
  try {
    await copyInto(source, copy)
    const manifest = await writeInPlace(target, async (part) => {
      const store = await openStore(copy, { durability: 'none', allowsCopies: true })
      try {
        await writeDictionary(store.kysely)
        await requireCopying(store).finishCopy(part, bookkeeping)
      } finally {
        await store.close()
      }
      rmSync(copy)
      const described = await describeCopy(part, file, now)
      flushFile(part)
      return described
    })
    flushFolder(dirname(file))
    return manifest
  } finally {
    removeDatabase(copy)
  }
}

/** The copied tables. `search_item` is first, because texts keep its numbers. */
const COPIED: readonly TableName[] = [
  'search_item',
  ...TABLE_NAMES.filter((name) => name !== 'search_item' && !UNCOPIED_TABLES.includes(name)),
]

/** Makes a file equal to an open database as it is now, or creates it. Others may write to the database meanwhile. */
export async function copyInto(source: Reader, file: string): Promise<void> {
  if (source.copying) return source.copying.copyInto(file)
  await source.engine.beginSnapshot()
  const copy = await openStore(file, { durability: 'none' })
  try {
    await requireCopying(copy).takeTables(source, COPIED)
  } finally {
    await copy.close()
  }
}
