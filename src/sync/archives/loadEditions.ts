import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '../../db/store.ts'
import { replaceArchiveRows } from '../../load/archives.ts'
import { FileError } from '../../service/archiveLayouts.ts'
import { readArchive } from '../../transform/readArchive.ts'
import { SyncError } from '../../util/errors.ts'
import type { Edition } from './editions.ts'

/** A file or edition that cannot be loaded, with its line if one shows the reason. */
export interface LoadFailure {
  readonly file: string
  readonly line: number | null
  readonly reason: string
}

/** The result of a load, while editions are loaded. */
interface MutableSummary {
  /** The number of loaded rows, and of their files. */
  rows: number
  files: number
  /** Editions whose rows were loaded before. */
  stored: number
  /** Editions that are not downloaded. */
  missing: number
  /** Files without a known layout. */
  unknown: string[]
  /** Sheets that are not understood, with the reason. Their cells are stored. */
  sheets: string[]
  failed: LoadFailure[]
}

/** The result of a load. */
export type LoadSummary = Readonly<MutableSummary>

/** Selects the editions to load, and each file once: all days of a JSON archive share the file of the latest. Counts the others. */
async function selectLoadable({ kysely }: Store, editions: readonly Edition[], isRefresh: boolean) {
  const loaded = await kysely.selectFrom('archive_file').select(['url', 'loaded_sha256']).execute()
  const versions = new Map(loaded.map((file) => [file.url, file.loaded_sha256]))
  const seen = new Set<string | null>()
  const isNew = (key: string | null): boolean => !seen.has(key) && Boolean(seen.add(key))
  const isNewEdition = ({ kind, id, date }: Edition): boolean => isNew(`${kind} ${id} ${date}`)
  const present = editions.filter((edition) => edition.path !== null && isNew(edition.url) && isNewEdition(edition))
  const missing = editions.filter((edition) => edition.path === null && isNewEdition(edition))
  const loadable = present.filter(({ url, sha256 }) => isRefresh || versions.get(url!) !== sha256)
  return { loadable, stored: present.length - loadable.length, missing: missing.length }
}

/** Reads a downloaded file. Throws FileError if it is missing or differs from what was downloaded. */
function readDownloaded(folder: string, { path, bytes, sha256, id }: Edition): Buffer {
  const file = join(folder, path!)
  const fix = `download it again: indicator-sync archives download ${id} --refresh`
  const size = statSync(file, { throwIfNoEntry: false })?.size
  if (size === undefined) throw new FileError(`${file} does not exist; ${fix}`)
  const content = size === bytes ? readFileSync(file) : null
  if (content && createHash('sha256').update(content).digest('hex') === sha256) return content
  throw new FileError(`${file} is not the downloaded file (size or SHA-256 differs); ${fix}`)
}

/** Loads the rows of an edition, and counts them. What cannot be loaded does not stop the next edition. */
async function loadEdition(
  store: Store,
  folder: string,
  edition: Edition,
  timeZone: string,
  summary: MutableSummary,
): Promise<void> {
  const { kind, id, name, date, url, sha256 } = edition
  const label = `${name ?? id} ${date}`
  try {
    const bytes = readDownloaded(folder, edition)
    const read = () => readArchive(name ?? String(id), bytes, timeZone)
    const files = await replaceArchiveRows(store, { kind, id, date, url: url!, sha256: sha256! }, read)
    const loaded = new Set<string>()
    for (const { file, sheet, count, fault, misfit } of files) {
      const part = `${label}: ${file}${sheet === undefined ? '' : `, sheet ${sheet}`}`
      if (fault) summary.failed.push({ file: part, ...fault })
      else if (count === null) summary.unknown.push(part)
      else loaded.add(file)
      if (misfit !== undefined) summary.sheets.push(`${part}: ${misfit}`)
      summary.rows += count ?? 0
    }
    summary.files += loaded.size
  } catch (error) {
    if (error instanceof SyncError) throw error
    summary.failed.push({ file: label, line: null, reason: error instanceof Error ? error.message : String(error) })
  }
}

/** How editions are loaded. */
export interface LoadEditionsOptions {
  /** The folder of the downloaded files. */
  readonly folder: string
  /** The time zone of the service. */
  readonly timeZone: string
  /** Whether files whose rows were loaded are loaded again. */
  readonly isRefresh: boolean
}

/** Loads the rows of the downloaded files of editions with a known layout. A file that cannot be loaded does not stop the next one. */
export async function loadEditions(
  store: Store,
  editions: readonly Edition[],
  { folder, timeZone, isRefresh }: LoadEditionsOptions,
): Promise<LoadSummary> {
  const { loadable, stored, missing } = await selectLoadable(store, editions, isRefresh)
  const summary: MutableSummary = { rows: 0, files: 0, stored, missing, unknown: [], sheets: [], failed: [] }
  for (const edition of loadable) await loadEdition(store, folder, edition, timeZone, summary)
  return summary
}
