import { mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Reader } from '../db/store.ts'
import { InputError } from '../util/errors.ts'
import { formatMillis } from '../util/time/instant.ts'
import { changedMonths, type SnapshotSource, sourceOf } from './changedMonths.ts'
import type { LakeBlocks } from './lakeRows.ts'
import { LAKE_SCHEMA, LAKE_TABLE_NAMES, LAKE_TABLES, type LakeTableName } from './lakeTables.ts'
import { filesOf, LAKE_FORMAT, type LakeFile, type LakeManifest } from './manifest.ts'
import { writeParquetFile } from './parquetFile.ts'
import type { LakePlace, LakeWriter, StoredFiles } from './places/place.ts'
import { EMPTY_PART, emptyPart, partsOf, type TablePart } from './tableParts.ts'

/** How a lake is synced. */
export interface LakeOptions {
  /** The program with its version. */
  readonly program: string
  readonly now: () => number
  /** Reads every month again, whatever has changed. */
  readonly full?: boolean
  /** Milliseconds that a snapshot stays after it was replaced, for its readers. */
  readonly graceMs?: number
  readonly onPart?: (table: LakeTableName, part: string) => void
}

/** What a sync of a lake did. */
export interface LakeSummary {
  readonly folder: string
  readonly snapshot: number
  /** Whether a new snapshot was made; otherwise the lake was found to be up to date. */
  readonly changed: boolean
  readonly rows: Readonly<Record<LakeTableName, number>>
  readonly bytes: number
  readonly files: number
  /** Files that are new in this snapshot, and the rows in them. */
  readonly written: { readonly files: number; readonly rows: number }
  /** What a user should know of the place, in a sentence; null for nothing. */
  readonly caution: string | null
}

/** Milliseconds that a replaced snapshot stays by default: a statement takes an hour at the most. */
const GRACE_MS = 3_600_000

/** Whether a file of a snapshot is there: with its length, or with its exact bytes. */
type IsThere = (file: LakeFile) => Promise<boolean>

const createLook =
  (files: StoredFiles, closely: boolean): IsThere =>
  async (file) =>
    files.sizeOf(file) === file.bytes && (!closely || (await files.sha256Of(file)) === file.sha256)

/** Refuses a lake that was made from another database: it would lose its content. */
function checkSame(asWritten: string, before: LakeManifest | null, now: SnapshotSource): void {
  if (!before || before.source.began === null || before.source.began === now.began) return
  throw new InputError(
    `${asWritten} was created from another database: its first run was at ${before.source.began}, that of this database ${now.began === null ? 'never' : `at ${now.began}`}.`,
    {
      hint: 'Choose another directory, or pass the original database. Nothing was changed.',
      code: 'other-database',
    },
  )
}

/** The same blocks from the first one that has rows; null where there is none. */
async function fromFirstRow(blocks: LakeBlocks): Promise<LakeBlocks | null> {
  const iterator = (async function* () {
    yield* blocks
  })()
  let first = await iterator.next()
  while (!first.done && first.value.length === 0) first = await iterator.next()
  if (first.done) return null
  const { value } = first
  return (async function* () {
    yield value
    yield* iterator
  })()
}

/** Makes one part of the new snapshot: kept where it did not change, else written; null where it has no rows. */
async function makePart(
  { table, part, name, dirty, blocks }: TablePart,
  old: LakeFile | undefined,
  isThere: IsThere,
  writer: LakeWriter,
  { staging, snapshot }: { readonly staging: string; readonly snapshot: number },
): Promise<{ readonly file: LakeFile; readonly isNew: boolean } | null> {
  const keep = (file: LakeFile): { readonly file: LakeFile; readonly isNew: boolean } => {
    writer.keep(file)
    return { file, isNew: false }
  }
  if (!dirty && old && (await isThere(old))) return keep(old)
  const rows = await fromFirstRow(await blocks())
  if (rows === null && LAKE_TABLES[table].byYear && part !== EMPTY_PART) return null
  const making = join(staging, `${name}.part`)
  mkdirSync(dirname(making), { recursive: true })
  const written = await writeParquetFile(making, LAKE_TABLES[table].columns, rows ?? [])
  if (old?.sha256 === written.sha256 && (await isThere(old))) {
    rmSync(making)
    return keep(old)
  }
  return { file: { path: await writer.add(making, name, snapshot, written), part, ...written }, isNew: true }
}

const sum = (files: readonly LakeFile[], of: 'rows' | 'bytes'): number => files.reduce((all, file) => all + file[of], 0)

/** The tables of a snapshot with their files. */
const manifestTables = (files: ReadonlyMap<LakeTableName, LakeFile[]>): LakeManifest['tables'] =>
  Object.fromEntries(
    LAKE_TABLE_NAMES.map((name) => {
      const { about, byYear, sortedBy, columns } = LAKE_TABLES[name]
      const stored = files.get(name) ?? []
      const state = {
        about,
        partitioned_by: byYear ? ['year'] : [],
        sorted_by: sortedBy,
        columns,
        rows: sum(stored, 'rows'),
        bytes: sum(stored, 'bytes'),
        files: stored,
      }
      return [name, state]
    }),
  ) as unknown as LakeManifest['tables']

/**
 * Makes a lake equal to a database as it is now, which others may write meanwhile. Only what changed since the last snapshot is
 * read. Readers of the lake see the old snapshot or the new one, whole, even when this process is killed.
 */
export async function syncLake(db: Reader, place: LakePlace, options: LakeOptions): Promise<LakeSummary> {
  const writer = await place.write(options.now())
  try {
    await db.engine.beginSnapshot()
    const source = await sourceOf(db)
    checkSame(place.asWritten, writer.before, source)
    await writer.tidy(writer.before?.snapshot ?? 0, options.graceMs ?? GRACE_MS, options.now())
    return await makeSnapshot(db, place.asWritten, writer, source, options)
  } finally {
    writer.close()
  }
}

/** Makes a snapshot, and makes it the current one where it differs. */
async function makeSnapshot(
  db: Reader,
  asWritten: string,
  writer: LakeWriter,
  source: SnapshotSource,
  { program, now, full = false, graceMs = GRACE_MS, onPart }: LakeOptions,
): Promise<LakeSummary> {
  const { before } = writer
  const last = before?.schema === LAKE_SCHEMA ? before : null
  const changed = full || last === null ? null : await changedMonths(db, last.source, source)
  const snapshot = (before?.snapshot ?? 0) + 1
  const old = new Map(
    Object.entries(last?.tables ?? {}).flatMap(([table, { files }]) =>
      files.map((file) => [`${table} ${file.part}`, file] as const),
    ),
  )
  const isThere = createLook(writer, full)
  const at = { staging: writer.stage(), snapshot }
  const files = new Map<LakeTableName, LakeFile[]>()
  let written: { files: number; rows: number } = { files: 0, rows: 0 }
  const add = async (part: TablePart): Promise<void> => {
    const made = await makePart(part, old.get(`${part.table} ${part.part}`), isThere, writer, at)
    if (made) files.set(part.table, [...(files.get(part.table) ?? []), made.file])
    if (!made?.isNew) return
    written = { files: written.files + 1, rows: written.rows + made.file.rows }
    onPart?.(part.table, part.part)
  }
  for (const part of await partsOf(db, changed, source)) await add(part)
  // Engines find no table where there is no file.
  for (const table of LAKE_TABLE_NAMES.filter((name) => !files.has(name))) await add(emptyPart(table))
  const madeAt = formatMillis(now())
  const next: LakeManifest = {
    format: LAKE_FORMAT,
    schema: LAKE_SCHEMA,
    program,
    snapshot,
    folder: writer.folderOf(snapshot),
    created_at: madeAt,
    synced_at: madeAt,
    source,
    tables: manifestTables(files),
  }
  const paths = (manifest: LakeManifest): string => JSON.stringify(filesOf(manifest).map(({ path }) => path))
  const same = last !== null && written.files === 0 && paths(last) === paths(next)
  if (same) await writer.confirm({ ...last, program, synced_at: madeAt, source })
  else await writer.commit(next)
  const current = same ? last : next
  await writer.tidy(current.snapshot, graceMs, now())
  return {
    folder: asWritten,
    snapshot: current.snapshot,
    changed: !same,
    written,
    caution: writer.caution,
    rows: Object.fromEntries(LAKE_TABLE_NAMES.map((name) => [name, current.tables[name].rows])) as LakeSummary['rows'],
    bytes: sum(filesOf(current), 'bytes'),
    files: filesOf(current).length,
  }
}
