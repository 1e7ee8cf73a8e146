import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { InputError } from '../util/errors.ts'
import { isObject } from '../util/json.ts'
import type { SnapshotSource } from './changedMonths.ts'
import { LAKE_SCHEMA, type LakeColumn, type LakeTableName } from './lakeTables.ts'
import type { WrittenFile } from './parquetFile.ts'

/** The format name that identifies a manifest of a lake. */
export const LAKE_FORMAT = 'indicator-sync lake'

/** The file of a lake that names its snapshot; it is replaced in one step. */
export const MANIFEST = 'manifest.json'

/** One file of a lake. */
export interface LakeFile extends WrittenFile {
  /** Below the folder of the snapshot. */
  readonly path: string
  /** Which part of the table it holds: a month, a year, or everything. */
  readonly part: string
}

/** One table as a snapshot has it. */
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
  /** When the snapshot was made, and when it was last found equal to the database. */
  readonly created_at: string
  readonly synced_at: string
  readonly source: SnapshotSource
  readonly tables: Readonly<Record<LakeTableName, LakeTableState>>
}

/** Names of files and folders below a lake: none of them leads outside. */
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
 * Parses a manifest, whatever its schema; null where the text is not one of ours, or was changed so that it cannot be trusted.
 */
export function parseManifest(text: string): LakeManifest | null {
  try {
    const value: unknown = JSON.parse(text)
    const known =
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
    return known ? (value as unknown as LakeManifest) : null
  } catch {
    return null
  }
}

/** The manifest in a folder, whatever its schema; null when there is none of ours. */
export function readLakeManifest(folder: string): LakeManifest | null {
  try {
    return parseManifest(readFileSync(join(folder, MANIFEST), 'utf8'))
  } catch {
    return null
  }
}

/** A manifest as the text of its file. */
export const manifestText = (manifest: LakeManifest): string => `${JSON.stringify(manifest, null, 1)}\n`

/** The manifest of a lake; throws where there is none, or where this program does not know its version. */
export function knownManifest(manifest: LakeManifest | null, folder: string): LakeManifest {
  if (manifest === null)
    throw new InputError(`${folder} is not a lake: ${MANIFEST} is missing or damaged.`, {
      hint: `Create one: indicator-sync lake sync ${folder}`,
      code: 'no-lake',
    })
  if (manifest.schema > LAKE_SCHEMA)
    throw new InputError(
      `${folder} is a lake of version ${manifest.schema}; this program supports versions up to ${LAKE_SCHEMA}.`,
      { hint: 'Update indicator-sync, or choose another directory.', code: 'newer-lake' },
    )
  return manifest
}

/** Every file of a snapshot. */
export const filesOf = ({ tables }: LakeManifest): LakeFile[] => Object.values(tables).flatMap(({ files }) => files)
