import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sha256OfFile } from '../base/checksum.ts'
import { BusyError, InputError } from '../base/errors.ts'
import { formatMillis } from '../base/instant.ts'
import { holdAlone } from '../db/lock.ts'
import type { Reader } from '../db/store.ts'
import { changedMonths, type Source, sourceOf } from './changes.ts'
import { filesOf, LAKE_FORMAT, type LakeFile, type LakeManifest, readManifest, requireManifest } from './manifest.ts'
import { writeParquetFile } from './parquet.ts'
import { emptyPart, NO_ROWS, type Part, partsOf } from './parts.ts'
import { LAKE_SCHEMA, LAKE_TABLE_NAMES, LAKE_TABLES, type LakeTableName } from './schema.ts'
import { commit, folderOf, LOCK, openLake, pointTo, replaceManifest, stage, takeOver, tidy } from './snapshots.ts'

/** How a lake is synced. */
export interface LakeOptions {
  /** The program with its version. */
  readonly program: string
  readonly now: () => number
  /** Reads every month again, whatever is known of changes. */
  readonly full?: boolean
  /** How long a snapshot stays after it was replaced, for those who read it. */
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
}

/** How long a replaced snapshot stays where nobody says: a statement takes an hour at the most. */
export const GRACE_MS = 3_600_000

/** Whether a file of a snapshot is there: as long as it was, or with the bytes that it had. */
type IsThere = (file: LakeFile) => boolean

const createLook =
  (folder: string, closely: boolean): IsThere =>
  ({ path, bytes, sha256 }) =>
    statSync(join(folder, path), { throwIfNoEntry: false })?.size === bytes &&
    (!closely || sha256OfFile(join(folder, path)) === sha256)

/** Refuses a lake that was made from another database: it would lose all that it holds. */
function checkSame(asWritten: string, before: LakeManifest | null, now: Source): void {
  if (!before || before.source.began === null || before.source.began === now.began) return
  throw new InputError(
    `${asWritten} was made from another database: its first run began ${before.source.began}, that of this one ${now.began ?? 'never'}.`,
    {
      hint: 'Nothing was touched. Name another folder, or the database that it was made from.',
      code: 'other-database',
    },
  )
}

/** Makes one part in the new snapshot: taken over where it did not change, else written; null where it has no rows. */
async function makePart(
  { table, part, name, dirty, blocks }: Part,
  old: LakeFile | undefined,
  isThere: IsThere,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<{ readonly file: LakeFile; readonly isNew: boolean } | null> {
  if (!dirty && old && isThere(old)) {
    takeOver(join(from, old.path), join(to, old.path))
    return { file: old, isNew: false }
  }
  const making = join(to, `${name}.part`)
  mkdirSync(dirname(making), { recursive: true })
  const written = writeParquetFile(making, LAKE_TABLES[table].columns, await blocks())
  if (written.rows === 0 && LAKE_TABLES[table].byYear && part !== NO_ROWS) {
    rmSync(making)
    return null
  }
  const path = `${name}-${written.sha256.slice(0, 16)}.parquet`
  if (old?.path === path && isThere(old)) {
    rmSync(making)
    takeOver(join(from, path), join(to, path))
    return { file: old, isNew: false }
  }
  renameSync(making, join(to, path))
  return { file: { path, part, ...written }, isNew: true }
}

const sum = (files: readonly LakeFile[], of: 'rows' | 'bytes'): number => files.reduce((all, file) => all + file[of], 0)

/** The tables of a snapshot with their files. */
const tablesOf = (files: ReadonlyMap<LakeTableName, LakeFile[]>): LakeManifest['tables'] =>
  Object.fromEntries(
    LAKE_TABLE_NAMES.map((name) => {
      const { about, byYear, sortedBy, columns } = LAKE_TABLES[name]
      const held = files.get(name) ?? []
      const state = {
        ...{ about, partitioned_by: byYear ? ['year'] : [], sorted_by: sortedBy, columns },
        ...{ rows: sum(held, 'rows'), bytes: sum(held, 'bytes'), files: held },
      }
      return [name, state]
    }),
  ) as unknown as LakeManifest['tables']

/** Takes the lake for this process alone. */
function holdLake(asWritten: string, folder: string): () => void {
  try {
    return holdAlone(join(folder, LOCK))
  } catch (error) {
    if (!(error instanceof BusyError)) throw error
    throw new BusyError(`Another process is writing to the lake ${asWritten}.`, {
      hint: 'Wait for it, or stop it; readers are not affected.',
      code: 'lake-locked',
      cause: error,
    })
  }
}

/**
 * Makes a lake equal to a database as it is now, which others may write meanwhile. Only what changed since the last
 * snapshot is read; whoever reads the lake sees the old snapshot or the new one, whole, whenever this is killed.
 */
export async function syncLake(db: Reader, asWritten: string, options: LakeOptions): Promise<LakeSummary> {
  const folder = openLake(asWritten)
  const release = holdLake(asWritten, folder)
  try {
    db.engine.freeze()
    const before = readManifest(folder) === null ? null : requireManifest(folder)
    const source = await sourceOf(db)
    checkSame(asWritten, before, source)
    // First the link: what a killed sync replaced may be what it leads to.
    if (before) pointTo(folder, before.folder)
    tidy(folder, before?.snapshot ?? 0, options.graceMs ?? GRACE_MS, options.now())
    return await make(db, asWritten, folder, before, source, options)
  } finally {
    release()
  }
}

/** Makes a snapshot, and puts it in its place where it is another one. */
async function make(
  db: Reader,
  asWritten: string,
  folder: string,
  before: LakeManifest | null,
  source: Source,
  { program, now, full = false, graceMs = GRACE_MS, onPart }: LakeOptions,
): Promise<LakeSummary> {
  const last = before?.schema === LAKE_SCHEMA ? before : null
  const changed = full || last === null ? null : await changedMonths(db, last.source, source)
  const snapshot = (before?.snapshot ?? 0) + 1
  const from = join(folder, before?.folder ?? '')
  const old = new Map(
    Object.entries(last?.tables ?? {}).flatMap(([table, { files }]) =>
      files.map((file) => [`${table} ${file.part}`, file] as const),
    ),
  )
  const isThere = createLook(from, full)
  const staging = stage(folder)
  const place = { from, to: staging }
  try {
    const files = new Map<LakeTableName, LakeFile[]>()
    let written: { files: number; rows: number } = { files: 0, rows: 0 }
    const add = async (part: Part): Promise<void> => {
      const made = await makePart(part, old.get(`${part.table} ${part.part}`), isThere, place)
      if (made) files.set(part.table, [...(files.get(part.table) ?? []), made.file])
      if (!made?.isNew) return
      written = { files: written.files + 1, rows: written.rows + made.file.rows }
      onPart?.(part.table, part.part)
    }
    for (const part of await partsOf(db, changed, source)) await add(part)
    // Engines find no table where there is no file.
    for (const table of LAKE_TABLE_NAMES.filter((name) => !files.has(name))) await add(emptyPart(table))
    const at = formatMillis(now())
    const next: LakeManifest = {
      ...{ format: LAKE_FORMAT, schema: LAKE_SCHEMA, program, snapshot, folder: folderOf(snapshot) },
      ...{ created_at: at, synced_at: at, source, tables: tablesOf(files) },
    }
    const paths = (manifest: LakeManifest): string => JSON.stringify(filesOf(manifest).map(({ path }) => path))
    const same = last !== null && paths(last) === paths(next) && filesOf(last).every(isThere)
    if (same) replaceManifest(folder, { ...last, program, synced_at: at, source })
    else commit(folder, staging, next)
    const current = same ? last : next
    tidy(folder, current.snapshot, graceMs, now())
    return {
      ...{ folder: asWritten, snapshot: current.snapshot, changed: !same, written },
      rows: Object.fromEntries(
        LAKE_TABLE_NAMES.map((name) => [name, current.tables[name].rows]),
      ) as LakeSummary['rows'],
      bytes: sum(filesOf(current), 'bytes'),
      files: filesOf(current).length,
    }
  } finally {
    if (existsSync(staging)) rmSync(staging, { recursive: true, force: true })
  }
}
