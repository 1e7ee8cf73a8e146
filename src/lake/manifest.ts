import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { InputError } from '../util/errors.ts'
import { isObject } from '../util/json.ts'
import type { SnapshotSource } from './changedMonths.ts'
import { LAKE_SCHEMA, type LakeColumn, type LakeTableName } from './lakeTables.ts'
import type { WrittenFile } from './parquetFile.ts'

/** The format name that identifies a manifest of a lake. */
export const LAKE_FORMAT = 'indicator-sync lake'

/** The file that names the current snapshot. It is replaced atomically. */
export const MANIFEST = 'manifest.json'

/** A file of a lake. */
export interface LakeFile extends WrittenFile {
  /** The path below the folder of the snapshot. */
  readonly path: string
  /** Its part of the table: a month, a year, or all. */
  readonly part: string
}

/** A table of a snapshot. */
interface LakeTableState {
  readonly about: string
  readonly partitioned_by: readonly string[]
  readonly sorted_by: readonly string[]
  readonly columns: readonly LakeColumn[]
  readonly rows: number
  readonly bytes: number
  readonly files: readonly LakeFile[]
}

/** The description of a lake, as `manifest.json` has it. */
export interface LakeManifest {
  readonly format: typeof LAKE_FORMAT
  /** The version of layout and columns. */
  readonly schema: number
  readonly program: string
  readonly snapshot: number
  /** The folder of the snapshot, beside the manifest. */
  readonly folder: string
  /** Time of the snapshot, and of the last sync. */
  readonly created_at: string
  readonly synced_at: string
  readonly source: SnapshotSource
  readonly tables: Readonly<Record<LakeTableName, LakeTableState>>
}

/** Paths of files and folders below a lake: none leads outside. */
const BELOW = /^[\w=-][\w=.-]*(\/[\w=-][\w=.-]*)*$/
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0

const isManifestFile = (value: unknown): boolean =>
  isObject(value) &&
  BELOW.test(String(value.path)) &&
  typeof value.part === 'string' &&
  isCount(value.bytes) &&
  isCount(value.rows) &&
  /^[0-9a-f]{64}$/.test(String(value.sha256))

const isTable = (value: unknown): boolean =>
  isObject(value) && isCount(value.rows) && Array.isArray(value.files) && value.files.every(isManifestFile)

/**
 * Parses a manifest of any schema; null for any other text, or a manifest that was changed.
 */
export function parseManifest(text: string): LakeManifest | null {
  try {
    const value: unknown = JSON.parse(text)
    const isManifest =
      isObject(value) &&
      value.format === LAKE_FORMAT &&
      isCount(value.schema) &&
      isCount(value.snapshot) &&
      BELOW.test(String(value.folder)) &&
      [value.created_at, value.synced_at].every((at) => !Number.isNaN(Date.parse(String(at)))) &&
      isObject(value.source) &&
      isObject(value.source.months) &&
      isObject(value.tables) &&
      isTable(value.tables.observation) &&
      Object.values(value.tables).every(isTable)
    return isManifest ? (value as unknown as LakeManifest) : null
  } catch {
    return null
  }
}

/** Reads the manifest in a folder; null if there is none of ours. */
export function readLakeManifest(folder: string): LakeManifest | null {
  try {
    return parseManifest(readFileSync(join(folder, MANIFEST), 'utf8'))
  } catch {
    return null
  }
}

export const manifestText = (manifest: LakeManifest): string => `${JSON.stringify(manifest, null, 1)}\n`

/** Returns the manifest of a lake. Throws InputError if there is none, or a newer one. */
export function requireManifest(manifest: LakeManifest | null, folder: string): LakeManifest {
  if (manifest === null)
    throw new InputError(`${folder} is not a lake: ${MANIFEST} is missing or damaged.`, {
      hint: `Create one: indicator-sync lake sync ${folder}`,
      code: 'no-lake',
    })
  if (manifest.schema > LAKE_SCHEMA)
    throw new InputError(
      `${folder} is a lake of version ${manifest.schema}; this program supports versions up to ${LAKE_SCHEMA}.`,
      { hint: 'Update indicator-sync, or choose another folder.', code: 'newer-lake' },
    )
  return manifest
}

/** Every file of a snapshot. */
export const listFiles = ({ tables }: LakeManifest): LakeFile[] => Object.values(tables).flatMap(({ files }) => files)
