import { existsSync, lstatSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Reader } from '../db/store.ts'
import { InputError } from '../util/errors.ts'
import { partFileName, removeStaleParts } from '../util/files/partFiles.ts'
import { asWriteError, moveIntoPlace, prepareTarget, type Target } from '../util/files/target.ts'
import { openTargetFolder } from '../util/files/targetFolder.ts'
import { pageFiles, type WrittenContent } from './pageFiles.ts'

/** The list of all written files; the next run deletes those that it does not write. */
const FILE_LIST = 'indicator-sync-page.json'

export interface FolderOptions extends WrittenContent {
  /** Whether existing files are replaced. */
  readonly overwrite: boolean
  /** Files that are read to make it. */
  readonly sources: readonly string[]
}

/** Reads the names of the files that were written before; empty without a readable list. */
function listedFiles(folder: string): string[] {
  try {
    const { files } = JSON.parse(readFileSync(join(folder, FILE_LIST), 'utf8')) as { files: unknown }
    if (!Array.isArray(files)) return []
    return files.filter((name) => typeof name === 'string' && /^(?:[\w-]+\/){0,2}[\w-][\w.-]*$/.test(name))
  } catch {
    return []
  }
}

const cannotReplace = (file: string, kind: string): InputError =>
  new InputError(`${file} is ${kind}.`, {
    hint: 'Move it away, or choose another folder. Nothing was changed.',
    code: 'target-exists',
  })

/** Refuses links among the folders of a file: they would lead elsewhere. */
function checkFolders(folder: string, name: string): void {
  for (let place = dirname(name); place !== '.'; place = dirname(place)) {
    const entry = lstatSync(join(folder, place), { throwIfNoEntry: false })
    if (!entry || entry.isDirectory()) continue
    throw cannotReplace(join(folder, place), 'not part of a published page')
  }
}

/** Prepares the target of a file; throws if another file exists. */
function claim(folder: string, name: string, { overwrite, sources }: FolderOptions): Target {
  const target = prepareTarget(join(folder, name), { product: 'a file of a page', overwrite, sources })
  if (!target.isStream) return target
  throw cannotReplace(target.file, 'a pipe or a device')
}

/** Deletes files, and the folders that are empty then. */
function removeFiles(folder: string, names: readonly string[]): void {
  for (const name of names) {
    const file = join(folder, name)
    checkFolders(folder, name)
    if (!lstatSync(file, { throwIfNoEntry: false })?.isFile()) continue
    rmSync(file)
    try {
      for (let place = dirname(name); place !== '.'; place = dirname(place)) rmdirSync(join(folder, place))
    } catch {
      // It has other files.
    }
  }
}

/** Writes the page as files: first all into a staging folder, then each to its place, the first page last. */
export async function writePage(store: Reader, path: string, options: FolderOptions) {
  let staging: string | undefined
  try {
    const folder = openTargetFolder(path, 'a page')
    removeStaleParts(join(folder, 'page'), Date.now())
    staging = partFileName(join(folder, 'page'))
    mkdirSync(staging)
    const names: string[] = []
    let bytes = 0
    for await (const { name, body } of pageFiles(store, options)) {
      const staged = join(staging, String(names.length))
      await writeFile(staged, body)
      names.push(name)
      bytes += statSync(staged).size
    }
    const list = JSON.stringify({ files: names }, null, 2)
    // All targets are checked before anything is written.
    for (const name of [FILE_LIST, ...names]) {
      checkFolders(folder, name)
      if (existsSync(dirname(join(folder, name)))) claim(folder, name, options)
    }
    const old = listedFiles(folder)
    const put = (from: string, name: string): void => {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      moveIntoPlace(from, claim(folder, name, options))
    }
    for (const [i, name] of [...names.entries()].reverse()) put(join(staging, String(i)), name)
    writeFileSync(join(staging, FILE_LIST), `${list}\n`)
    put(join(staging, FILE_LIST), FILE_LIST)
    removeFiles(
      folder,
      old.filter((name) => !names.includes(name)),
    )
    return { files: names.length, bytes }
  } catch (error) {
    throw asWriteError(error, path)
  } finally {
    if (staging !== undefined) rmSync(staging, { recursive: true, force: true })
  }
}
