import { mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Reader } from '../db/store.ts'
import { InputError } from '../util/errors.ts'
import { formatMillis } from '../util/time/instant.ts'
import { findChangedMonths, readSource, type SnapshotSource } from './changedMonths.ts'
import type { LakeBlocks } from './lakeRows.ts'
import { LAKE_SCHEMA, LAKE_TABLE_NAMES, LAKE_TABLES, type LakeTableName } from './lakeTables.ts'
import { LAKE_FORMAT, type LakeFile, type LakeManifest, listFiles } from './manifest.ts'
import { writeParquetFile } from './parquetFile.ts'
import type { LakePlace, LakeWriter, StoredFiles } from './places/place.ts'
import { EMPTY_PART, emptyPart, listParts, type TablePart } from './tableParts.ts'

/** Options of a sync of a lake. */
export interface LakeOptions {
  /** The program with its version. */
  readonly program: string
  readonly nowMs: () => number
  /** Whether to read every month again. */
  readonly full?: boolean
  /** Milliseconds for which a replaced snapshot stays, for its readers. */
  readonly graceMs?: number
  readonly onPart?: (table: LakeTableName, part: string) => void
}

/** The result of a sync of a lake. */
export interface LakeSummary {
  readonly folder: string
  readonly snapshot: number
  /** Whether a new snapshot was made; otherwise the lake was up to date. */
  readonly changed: boolean
  readonly rows: Readonly<Record<LakeTableName, number>>
  readonly bytes: number
  readonly files: number
  /** Files that are new in this snapshot, and the rows in them. */
  readonly written: { readonly files: number; readonly rows: number }
  /** A warning about the place, in a sentence; null for none. */
  readonly caution: string | null
}

/** Milliseconds. Statements take at most an hour. */
const GRACE_MS = 3_600_000

/** Whether a file of a snapshot is stored, by its length or its bytes. */
type IsStored = (file: LakeFile) => Promise<boolean>

const createFileCheck =
  (files: StoredFiles, isExact: boolean): IsStored =>
  async (file) =>
    files.size(file) === file.bytes && (!isExact || (await files.sha256(file)) === file.sha256)

/** Refuses the lake of another database, which would lose its content. */
function checkDatabase(asWritten: string, before: LakeManifest | null, now: SnapshotSource): void {
  if (!before || before.source.began === null || before.source.began === now.began) return
  throw new InputError(
    `${asWritten} was created from another database: its first run was at ${before.source.began}, that of this database ${now.began === null ? 'never' : `at ${now.began}`}.`,
    {
      hint: 'Choose another folder, or pass the original database. Nothing was changed.',
      code: 'other-database',
    },
  )
}

/** The blocks from the first one with rows; null if there is none. Most months between two values may be empty. */
async function skipEmptyBlocks(blocks: LakeBlocks): Promise<LakeBlocks | null> {
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

/** Makes a part of the new snapshot. Keeps an unchanged one; returns null if it has no rows. */
async function makePart(
  { table, part, name, isDirty, blocks }: TablePart,
  old: LakeFile | undefined,
  isStored: IsStored,
  writer: LakeWriter,
  { staging, snapshot }: { readonly staging: string; readonly snapshot: number },
): Promise<{ readonly file: LakeFile; readonly isNew: boolean } | null> {
  const keep = (file: LakeFile): { readonly file: LakeFile; readonly isNew: boolean } => {
    writer.keep(file)
    return { file, isNew: false }
  }
  if (!isDirty && old && (await isStored(old))) return keep(old)
  const rows = await skipEmptyBlocks(await blocks())
  if (rows === null && LAKE_TABLES[table].isByYear && part !== EMPTY_PART) return null
  const making = join(staging, `${name}.part`)
  mkdirSync(dirname(making), { recursive: true })
  const written = await writeParquetFile(making, LAKE_TABLES[table].columns, rows ?? [])
  if (old?.sha256 !== written.sha256 || !(await isStored(old)))
    return { file: { path: await writer.add(making, name, snapshot, written), part, ...written }, isNew: true }
  rmSync(making)
  return keep(old)
}

const sum = (files: readonly LakeFile[], count: 'rows' | 'bytes'): number =>
  files.reduce((total, file) => total + file[count], 0)

/** The tables of a snapshot with their files. */
const manifestTables = (files: ReadonlyMap<LakeTableName, LakeFile[]>): LakeManifest['tables'] =>
  Object.fromEntries(
    LAKE_TABLE_NAMES.map((name) => {
      const { about, isByYear, sortedBy, columns } = LAKE_TABLES[name]
      const stored = files.get(name) ?? []
      const state = {
        about,
        partitioned_by: isByYear ? ['year'] : [],
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
 * Makes a lake equal to a database, which others may write meanwhile. Reads only changes since the last snapshot. Readers of
 * the lake see the whole old or new snapshot, even if this process is killed.
 */
export async function syncLake(db: Reader, place: LakePlace, options: LakeOptions): Promise<LakeSummary> {
  const writer = await place.write(options.nowMs())
  try {
    await db.engine.beginSnapshot()
    const source = await readSource(db)
    checkDatabase(place.asWritten, writer.before, source)
    await writer.tidy(writer.before?.snapshot ?? 0, options.graceMs ?? GRACE_MS, options.nowMs())
    return await makeSnapshot(db, place.asWritten, writer, source, options)
  } finally {
    writer.close()
  }
}

/** Makes a snapshot, which replaces the current one if it differs. */
async function makeSnapshot(
  db: Reader,
  asWritten: string,
  writer: LakeWriter,
  source: SnapshotSource,
  { program, nowMs, full = false, graceMs = GRACE_MS, onPart }: LakeOptions,
): Promise<LakeSummary> {
  const { before } = writer
  const last = before?.schema === LAKE_SCHEMA ? before : null
  const changed = full || last === null ? null : await findChangedMonths(db, last.source, source)
  const snapshot = (before?.snapshot ?? 0) + 1
  const old = new Map(
    Object.entries(last?.tables ?? {}).flatMap(([table, { files }]) =>
      files.map((file) => [`${table} ${file.part}`, file] as const),
    ),
  )
  const isStored = createFileCheck(writer, full)
  const stage = { staging: writer.stage(), snapshot }
  const files = new Map<LakeTableName, LakeFile[]>()
  let written: { files: number; rows: number } = { files: 0, rows: 0 }
  const add = async (part: TablePart): Promise<void> => {
    const made = await makePart(part, old.get(`${part.table} ${part.part}`), isStored, writer, stage)
    if (made) files.set(part.table, [...(files.get(part.table) ?? []), made.file])
    if (!made?.isNew) return
    written = { files: written.files + 1, rows: written.rows + made.file.rows }
    onPart?.(part.table, part.part)
  }
  for (const part of await listParts(db, changed, source)) await add(part)
  // Engines find no table without a file.
  for (const table of LAKE_TABLE_NAMES.filter((name) => !files.has(name))) await add(emptyPart(table))
  const madeAt = formatMillis(nowMs())
  const next: LakeManifest = {
    format: LAKE_FORMAT,
    schema: LAKE_SCHEMA,
    program,
    snapshot,
    folder: writer.folder(snapshot),
    created_at: madeAt,
    synced_at: madeAt,
    source,
    tables: manifestTables(files),
  }
  const paths = (manifest: LakeManifest): string => JSON.stringify(listFiles(manifest).map(({ path }) => path))
  const isSame = last !== null && written.files === 0 && paths(last) === paths(next)
  if (isSame) await writer.confirm({ ...last, program, synced_at: madeAt, source })
  else await writer.commit(next)
  const current = isSame ? last : next
  await writer.tidy(current.snapshot, graceMs, nowMs())
  return {
    folder: asWritten,
    snapshot: current.snapshot,
    changed: !isSame,
    written,
    caution: writer.caution,
    rows: Object.fromEntries(LAKE_TABLE_NAMES.map((name) => [name, current.tables[name].rows])) as LakeSummary['rows'],
    bytes: sum(listFiles(current), 'bytes'),
    files: listFiles(current).length,
  }
}
