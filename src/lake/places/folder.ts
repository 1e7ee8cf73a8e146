import { existsSync, lstatSync, readdirSync, readlinkSync, renameSync, rmSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { takeLockFile } from '../../db/open.ts'
import { sha256OfFile } from '../../util/checksum.ts'
import { BusyError } from '../../util/errors.ts'
import { type LakeManifest, listFiles, readLakeManifest, requireManifest } from '../manifest.ts'
import {
  CURRENT,
  commit,
  HAS_LINK,
  LOCK,
  linkOrCopy,
  openLake,
  pointTo,
  replaceManifest,
  snapshotFolder,
  stage,
  tidyFolder,
} from '../snapshots.ts'
import type { LakeFinding, LakePlace, LakeWriter, StoredFiles } from './place.ts'

/** The number of rows that the footer of a Parquet file states. */
async function countRowsInFooter(file: string): Promise<number> {
  const { asyncBufferFromFile, parquetMetadataAsync } = await import('hyparquet')
  return Number((await parquetMetadataAsync(await asyncBufferFromFile(file))).num_rows)
}

const readStoredFiles = (folder: string): StoredFiles => ({
  size: ({ path }) => statSync(join(folder, path), { throwIfNoEntry: false })?.size,
  sha256: async ({ path }) => sha256OfFile(join(folder, path)),
  rows: ({ path }) => countRowsInFooter(join(folder, path)),
})

/** The target of the link of a lake; null without a link. */
const readLinkTarget = (folder: string): string | null =>
  lstatSync(join(folder, CURRENT), { throwIfNoEntry: false })?.isSymbolicLink()
    ? readlinkSync(join(folder, CURRENT))
    : null

/** Reports files that readers would read although they are not part of the snapshot, and a wrong link. */
function findForeignFiles(root: string, manifest: LakeManifest): LakeFinding[] {
  const place = join(root, manifest.folder)
  const findings: LakeFinding[] = []
  const paths = new Set(listFiles(manifest).map(({ path }) => path))
  if (statSync(place, { throwIfNoEntry: false }))
    for (const entry of readdirSync(place, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
        .slice(place.length + 1)
        .replaceAll(sep, '/')
      // A link may point anywhere, also to a folder.
      if (entry.isSymbolicLink() || (!entry.isDirectory() && path.endsWith('.parquet') && !paths.has(path)))
        findings.push({
          file: join(manifest.folder, path),
          what: 'It is not part of the lake, but readers of the folder would read it.',
        })
    }
  const target = readLinkTarget(root)
  if (HAS_LINK && target !== manifest.folder)
    findings.push({
      file: CURRENT,
      what: `It points to ${target ?? 'nothing'} instead of ${manifest.folder}; the next sync corrects it.`,
    })
  return findings
}

/** Locks a lake for this process. */
function lockLake(asWritten: string, folder: string): () => void {
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

function createFolderWriter(folder: string, before: LakeManifest | null, release: () => void): LakeWriter {
  const from = join(folder, before?.folder ?? '')
  let staging = ''
  return {
    ...readStoredFiles(from),
    before,
    caution: null,
    folder: snapshotFolder,
    stage() {
      staging = stage(folder)
      return staging
    },
    keep: ({ path }) => linkOrCopy(join(from, path), join(staging, path)),
    async add(file, name, _, { sha256 }) {
      const path = `${name}-${sha256.slice(0, 16)}.parquet`
      renameSync(file, join(staging, path))
      return path
    },
    commit: async (manifest) => commit(folder, staging, manifest),
    confirm: async (manifest) => replaceManifest(folder, manifest),
    async tidy(current, graceMs, now) {
      // The link first: it may still point to the snapshot that a killed sync replaced.
      if (current > 0 && readLinkTarget(folder) !== snapshotFolder(current)) pointTo(folder, snapshotFolder(current))
      tidyFolder(folder, current, graceMs, now)
    },
    close() {
      if (staging !== '' && existsSync(staging)) rmSync(staging, { recursive: true, force: true })
      release()
    },
  }
}

/** A lake in a folder. */
export function openFolderPlace(asWritten: string): LakePlace {
  return {
    asWritten,
    manifest: async () => readLakeManifest(asWritten),
    inspect: async (manifest) => ({
      files: readStoredFiles(join(asWritten, manifest.folder)),
      findings: findForeignFiles(asWritten, manifest),
    }),
    close: () => undefined,
    async write() {
      const folder = openLake(asWritten)
      const release = lockLake(asWritten, folder)
      try {
        const manifest = readLakeManifest(folder)
        return createFolderWriter(folder, manifest && requireManifest(manifest, asWritten), release)
      } catch (error) {
        release()
        throw error
      }
    },
  }
}
