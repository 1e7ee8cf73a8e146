import {
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join, sep } from 'node:path'
import { takeLockFile } from '../../db/lock.ts'
import { sha256OfFile } from '../../util/checksum.ts'
import { BusyError } from '../../util/errors.ts'
import { filesOf, knownManifest, type LakeManifest, readLakeManifest } from '../manifest.ts'
import {
  CURRENT,
  commit,
  folderOf,
  HAS_LINK,
  LOCK,
  linkOrCopy,
  openLake,
  pointTo,
  replaceManifest,
  stage,
  tidyFolder,
} from '../snapshots.ts'
import type { LakeFinding, LakePlace, LakeWriter, StoredFiles } from './place.ts'

/** The number of rows in the description at the end of a file; the length of that description comes before the last four bytes. */
async function rowsInFooter(file: string): Promise<number> {
  const { parquetMetadata } = await import('hyparquet')
  const handle = openSync(file, 'r')
  try {
    const { size } = fstatSync(handle)
    const read = (bytes: number): Buffer => {
      const piece = Buffer.alloc(Math.min(bytes, size))
      readSync(handle, piece, 0, piece.length, size - piece.length)
      return piece
    }
    const end = read(read(8).readUInt32LE(0) + 8)
    return Number(parquetMetadata(new Uint8Array(end).buffer).num_rows)
  } finally {
    closeSync(handle)
  }
}

const filesIn = (folder: string): StoredFiles => ({
  sizeOf: ({ path }) => statSync(join(folder, path), { throwIfNoEntry: false })?.size,
  sha256Of: async ({ path }) => sha256OfFile(join(folder, path)),
  rowsOf: ({ path }) => rowsInFooter(join(folder, path)),
})

/** Where the link of a lake leads; null where there is none. */
const linkTarget = (folder: string): string | null =>
  lstatSync(join(folder, CURRENT), { throwIfNoEntry: false })?.isSymbolicLink()
    ? readlinkSync(join(folder, CURRENT))
    : null

/** Files that readers of a folder would read although they are not part of the snapshot, and a link that leads elsewhere. */
function foreignFiles(root: string, manifest: LakeManifest): LakeFinding[] {
  const place = join(root, manifest.folder)
  const findings: LakeFinding[] = []
  const known = new Set(filesOf(manifest).map(({ path }) => path))
  if (statSync(place, { throwIfNoEntry: false }))
    for (const entry of readdirSync(place, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
        .slice(place.length + 1)
        .replaceAll(sep, '/')
      // A link may lead anywhere, also to a folder.
      if (entry.isSymbolicLink() || (!entry.isDirectory() && path.endsWith('.parquet') && !known.has(path)))
        findings.push({
          file: join(manifest.folder, path),
          what: 'It is not part of the lake, but readers of the directory would read it.',
        })
    }
  const leads = linkTarget(root)
  if (HAS_LINK && leads !== manifest.folder)
    findings.push({
      file: CURRENT,
      what: `It points to ${leads ?? 'nothing'} instead of ${manifest.folder}; the next sync corrects it.`,
    })
  return findings
}

/** Takes the lake for this process alone. */
function holdLake(asWritten: string, folder: string): () => void {
  try {
    return takeLockFile(join(folder, LOCK))
  } catch (error) {
    if (!(error instanceof BusyError)) throw error
    throw new BusyError(`Another process is writing to the lake ${asWritten}.`, {
      hint: 'Wait for it, or stop it; readers are not affected.',
      code: 'lake-locked',
      cause: error,
    })
  }
}

function folderWriter(folder: string, before: LakeManifest | null, release: () => void): LakeWriter {
  const from = join(folder, before?.folder ?? '')
  let staging = ''
  return {
    ...filesIn(from),
    before,
    caution: null,
    folderOf,
    stage() {
      staging = stage(folder)
      return staging
    },
    keep: ({ path }) => linkOrCopy(join(from, path), join(staging, path)),
    async add(made, name, _, { sha256 }) {
      const path = `${name}-${sha256.slice(0, 16)}.parquet`
      renameSync(made, join(staging, path))
      return path
    },
    commit: async (manifest) => commit(folder, staging, manifest),
    confirm: async (manifest) => replaceManifest(folder, manifest),
    async tidy(current, graceMs, now) {
      // The link first: it may still lead to the snapshot that a killed sync replaced.
      if (current > 0 && linkTarget(folder) !== folderOf(current)) pointTo(folder, folderOf(current))
      tidyFolder(folder, current, graceMs, now)
    },
    close() {
      if (staging !== '' && existsSync(staging)) rmSync(staging, { recursive: true, force: true })
      release()
    },
  }
}

/** A lake in a folder. */
export function folderPlace(asWritten: string): LakePlace {
  return {
    asWritten,
    manifest: async () => readLakeManifest(asWritten),
    look: async (manifest) => ({
      files: filesIn(join(asWritten, manifest.folder)),
      findings: foreignFiles(asWritten, manifest),
    }),
    close: () => undefined,
    async write() {
      const folder = openLake(asWritten)
      const release = holdLake(asWritten, folder)
      try {
        const there = readLakeManifest(folder)
        return folderWriter(folder, there && knownManifest(there, asWritten), release)
      } catch (error) {
        release()
        throw error
      }
    },
  }
}
