import {
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { InputError } from '../util/errors.ts'
import { flushFolder } from '../util/files/flush.ts'
import { partFileName, removeStaleParts } from '../util/files/partFiles.ts'
import { openTargetFolder } from '../util/files/targetFolder.ts'
import { filesOf, type LakeManifest, MANIFEST, manifestText, readLakeManifest } from './manifest.ts'

/** The file that the writer of a lake locks. */
export const LOCK = 'lake.lock'
/** The link to the folder of the snapshot, for readers that know only folders. */
export const CURRENT = 'current'

const SNAPSHOT = /^snapshot-([1-9]\d*)$/
const PART = /^(snapshot|current|manifest\.json)\.[\w-]+\.part$/

/** The folder of a snapshot. */
export const folderOf = (snapshot: number): string => `snapshot-${snapshot}`

/** The folder of a lake, created where there is none. Refuses anything but a lake or an empty folder, and does not touch it. */
export function openLake(asWritten: string): string {
  const folder = openTargetFolder(asWritten, 'a lake')
  const names = readdirSync(folder)
  const known = names.includes(MANIFEST)
    ? readLakeManifest(folder) !== null
    : names.every((name) => name === LOCK || PART.test(name) || isOwnSnapshot(folder, name))
  if (!known)
    throw new InputError(`${asWritten} contains files that do not belong to a lake.`, {
      hint: 'Choose an empty or new directory. Nothing was changed.',
      code: 'target-exists',
    })
  const link = lstatSync(join(folder, CURRENT), { throwIfNoEntry: false })
  if (link && !link.isSymbolicLink())
    throw new InputError(`${join(asWritten, CURRENT)} exists and is not a symlink.`, {
      hint: 'Move it away. Nothing was changed.',
      code: 'target-exists',
    })
  return folder
}

const isEmpty = (folder: string): boolean => readdirSync(folder).length === 0

/** Whether a folder is a snapshot that this program made, or the rest of one. */
const isOwnSnapshot = (folder: string, name: string): boolean =>
  SNAPSHOT.test(name) &&
  statSync(join(folder, name)).isDirectory() &&
  (readLakeManifest(join(folder, name))?.folder === name || isEmpty(join(folder, name)))

/** Whether a folder exists, and is really below another one. */
function isBelow(path: string, folder: string): boolean {
  try {
    return realpathSync(path).startsWith(realpathSync(folder) + sep)
  } catch {
    return false
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // Something else is in it.
  }
}

/**
 * Removes the files of a snapshot, and the folders that are empty then; files of others stay. The manifest is removed last, so
 * that the rest is still recognized after a crash.
 */
function removeSnapshot(folder: string): void {
  const manifest = readLakeManifest(folder)
  const folders = new Set<string>()
  for (const { path } of manifest ? filesOf(manifest) : []) {
    // Also folders whose files a killed command removed already.
    for (let above = dirname(path); above !== '.'; above = dirname(above)) folders.add(above)
    // A link in the place of a folder leads elsewhere.
    if (isBelow(dirname(join(folder, path)), folder)) rmSync(join(folder, path), { force: true })
  }
  for (const below of [...folders].sort((a, b) => b.length - a.length))
    if (isBelow(join(folder, below), folder)) removeIfEmpty(join(folder, below))
  rmSync(join(folder, MANIFEST), { force: true })
  removeIfEmpty(folder)
}

/** Removes what killed syncs left, and the snapshots that were replaced so long ago that nobody reads them any more. */
export function tidyFolder(folder: string, current: number, graceMs: number, now: number): void {
  for (const name of ['snapshot', CURRENT, MANIFEST]) removeStaleParts(join(folder, name), now)
  const made = readdirSync(folder)
    .filter((name) => isOwnSnapshot(folder, name))
    .map((name) => ({
      number: Number(SNAPSHOT.exec(name)![1]),
      place: join(folder, name),
      createdAt: readLakeManifest(join(folder, name))?.created_at,
    }))
    .sort((a, b) => a.number - b.number)
  for (const { number, place, createdAt } of made) {
    const next = made.find((one) => one.number > number && one.number <= current && one.createdAt !== undefined)
    const isOld = next !== undefined && now - Date.parse(next.createdAt!) >= graceMs
    // One that is newer than the current snapshot was never completed.
    if (createdAt === undefined || number > current || isOld) removeSnapshot(place)
  }
}

/** The folder in which a snapshot is made. */
export function stage(folder: string): string {
  const staging = partFileName(join(folder, 'snapshot'))
  rmSync(staging, { recursive: true, force: true })
  mkdirSync(staging)
  return staging
}

/** Takes a file over from another snapshot: as a hard link, or as a copy where the disk has no links. */
export function linkOrCopy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  try {
    linkSync(from, to)
  } catch {
    copyFileSync(from, to)
  }
}

/** Writes a small new file and flushes it to the disk. */
const writeDurably = (file: string, content: string): void => writeFileSync(file, content, { flag: 'wx', flush: true })

/** Replaces the manifest of a lake in one step. */
export function replaceManifest(folder: string, manifest: LakeManifest): void {
  const part = partFileName(join(folder, MANIFEST))
  rmSync(part, { force: true })
  writeDurably(part, manifestText(manifest))
  renameSync(part, join(folder, MANIFEST))
  flushFolder(folder)
}

/** Whether a lake has a link to its snapshot. Windows makes links for few users and cannot replace them in one step. */
export const HAS_LINK = process.platform !== 'win32'

/** Points the link of a lake to a snapshot, in one step. Where links cannot be made, readers use the manifest. */
export function pointTo(folder: string, snapshot: string): void {
  if (!HAS_LINK) return
  const part = partFileName(join(folder, CURRENT))
  try {
    rmSync(part, { force: true })
    symlinkSync(snapshot, part)
    renameSync(part, join(folder, CURRENT))
    flushFolder(folder)
  } catch {
    rmSync(part, { force: true })
  }
}

/** Makes the staged snapshot the current one: first its folder, then the manifest, then the link. */
export function commit(folder: string, staging: string, manifest: LakeManifest): void {
  writeDurably(join(staging, MANIFEST), manifestText(manifest))
  for (const name of readdirSync(staging, { recursive: true, withFileTypes: true }))
    if (name.isDirectory()) flushFolder(join(name.parentPath, name.name))
  flushFolder(staging)
  renameSync(staging, join(folder, manifest.folder))
  flushFolder(folder)
  replaceManifest(folder, manifest)
  pointTo(folder, manifest.folder)
}
