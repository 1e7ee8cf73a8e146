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
import { type LakeManifest, listFiles, MANIFEST, manifestText, readLakeManifest } from './manifest.ts'

/** The lock file of the writer of a lake. */
export const LOCK = 'lake.lock'
/** The link to the folder of the current snapshot, for readers of plain folders. */
export const CURRENT = 'current'

const SNAPSHOT = /^snapshot-([1-9]\d*)$/
const PART = /^(snapshot|current|manifest\.json)\.[\w-]+\.part$/

/** The folder of a snapshot. */
export const snapshotFolder = (snapshot: number): string => `snapshot-${snapshot}`

/** Opens the folder of a lake, or creates one. Refuses anything but a lake or an empty folder without touching it. */
export function openLake(asWritten: string): string {
  const folder = openTargetFolder(asWritten, 'a lake')
  const names = readdirSync(folder)
  const isLake = names.includes(MANIFEST)
    ? readLakeManifest(folder) !== null
    : names.every((name) => name === LOCK || PART.test(name) || isOwnSnapshot(folder, name))
  if (!isLake)
    throw new InputError(`${asWritten} contains files that do not belong to a lake.`, {
      hint: 'Choose an empty or new folder. Nothing was changed.',
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

/** Whether a folder is a snapshot of this program, or the rest of one. */
const isOwnSnapshot = (folder: string, name: string): boolean =>
  SNAPSHOT.test(name) &&
  statSync(join(folder, name)).isDirectory() &&
  (readLakeManifest(join(folder, name))?.folder === name || isEmpty(join(folder, name)))

/** Whether a folder exists, and is below another one without links. */
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
    // A folder that is not empty stays.
  }
}

/**
 * Removes the files and then empty folders of a snapshot; other files stay. The manifest goes last, so that the rest is
 * recognized after a crash.
 */
function removeSnapshot(folder: string): void {
  const manifest = readLakeManifest(folder)
  const folders = new Set<string>()
  for (const { path } of manifest ? listFiles(manifest) : []) {
    // The list includes folders whose files a killed command removed already.
    for (let above = dirname(path); above !== '.'; above = dirname(above)) folders.add(above)
    // If a link replaces a folder, its files belong to somebody else.
    if (isBelow(dirname(join(folder, path)), folder)) rmSync(join(folder, path), { force: true })
  }
  for (const below of [...folders].sort((a, b) => b.length - a.length))
    if (isBelow(join(folder, below), folder)) removeIfEmpty(join(folder, below))
  rmSync(join(folder, MANIFEST), { force: true })
  removeIfEmpty(folder)
}

/** Removes files of killed syncs, and snapshots that were replaced at least `graceMs` ago. */
export function tidyFolder(folder: string, current: number, graceMs: number, now: number): void {
  for (const name of ['snapshot', CURRENT, MANIFEST]) removeStaleParts(join(folder, name), now)
  const snapshots = readdirSync(folder)
    .filter((name) => isOwnSnapshot(folder, name))
    .map((name) => ({
      number: Number(SNAPSHOT.exec(name)![1]),
      place: join(folder, name),
      createdAt: readLakeManifest(join(folder, name))?.created_at,
    }))
    .sort((a, b) => a.number - b.number)
  for (const { number, place, createdAt } of snapshots) {
    const next = snapshots.find(
      (later) => later.number > number && later.number <= current && later.createdAt !== undefined,
    )
    const isOld = next !== undefined && now - Date.parse(next.createdAt!) >= graceMs
    // A snapshot with a higher number than the current one was never completed.
    if (createdAt === undefined || number > current || isOld) removeSnapshot(place)
  }
}

/** Makes the folder for a new snapshot. */
export function stage(folder: string): string {
  const staging = partFileName(join(folder, 'snapshot'))
  rmSync(staging, { recursive: true, force: true })
  mkdirSync(staging)
  return staging
}

/** Links a file of another snapshot, or copies it on a file system without hard links. */
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

/** Replaces the manifest of a lake atomically. */
export function replaceManifest(folder: string, manifest: LakeManifest): void {
  const part = partFileName(join(folder, MANIFEST))
  rmSync(part, { force: true })
  writeDurably(part, manifestText(manifest))
  renameSync(part, join(folder, MANIFEST))
  flushFolder(folder)
}

/** Whether lakes have a link to the current snapshot. Few users of Windows may create links. */
export const HAS_LINK = process.platform !== 'win32'

/** Points the link of a lake to a snapshot, atomically. Without links, readers use the manifest. */
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

/** Makes a new snapshot the current one: first its folder, then the manifest, then the link. */
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
