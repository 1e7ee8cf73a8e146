import { existsSync, lstatSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Reader } from '../db/store.ts'
import type { Service } from '../service/service.ts'
import { InputError } from '../util/errors.ts'
import { partFileName, removeStaleParts } from '../util/files/partFiles.ts'
import { asWriteError, moveIntoPlace, prepareTarget, type Target } from '../util/files/target.ts'
import { openTargetFolder } from '../util/files/targetFolder.ts'
import { pageFiles } from './pageFiles.ts'
import type { PageLocale } from './words/locale.ts'

/** The file with the names of all files of the page, so that the next run can delete those that are no longer made. */
const FILE_LIST = 'indicator-sync-page.json'

/** How a page is written into a folder. */
export interface FolderOptions {
  readonly locale: PageLocale
  /** The service that the database is filled from. */
  readonly service: Service
  /** Epoch seconds. */
  readonly now: number
  /** Whether existing files are replaced. */
  readonly overwrite: boolean
  /** Files that are read to make it. */
  readonly sources: readonly string[]
}

/** The names of the files that were written here before; empty without a readable list. */
function listedFiles(folder: string): string[] {
  try {
    const { files } = JSON.parse(readFileSync(join(folder, FILE_LIST), 'utf8')) as { files: unknown }
    if (!Array.isArray(files)) return []
    return files.filter((name) => typeof name === 'string' && /^(?:[\w-]+\/){0,2}[\w-][\w.-]*$/.test(name))
  } catch {
    return []
  }
}

/** An error about a file that cannot be replaced. */
const inTheWay = (file: string, what: string): InputError =>
  new InputError(`${file} is ${what}.`, {
    hint: 'Move it away, or choose another directory. Nothing was changed.',
    code: 'target-exists',
  })

/** Refuses links among the folders between the page's own and one of its files: they would lead elsewhere. */
function checkFolders(folder: string, name: string): void {
  for (let place = dirname(name); place !== '.'; place = dirname(place)) {
    const there = lstatSync(join(folder, place), { throwIfNoEntry: false })
    if (!there || there.isDirectory()) continue
    throw inTheWay(join(folder, place), 'not part of a published page')
  }
}

/** The target of a file of the page; throws where another file exists. */
function claim(folder: string, name: string, { overwrite, sources }: FolderOptions): Target {
  const target = prepareTarget(join(folder, name), { product: 'a file of a page', overwrite, sources })
  if (!target.isStream) return target
  throw inTheWay(target.file, 'a pipe or a device')
}

/** Deletes the files that are no longer made, and the folders that are empty then. */
function removeFiles(folder: string, names: readonly string[]): void {
  for (const name of names) {
    const file = join(folder, name)
    checkFolders(folder, name)
    if (!lstatSync(file, { throwIfNoEntry: false })?.isFile()) continue
    rmSync(file)
    try {
      for (let place = dirname(name); place !== '.'; place = dirname(place)) rmdirSync(join(folder, place))
    } catch {
      // Other files in it stay.
    }
  }
}

/**
 * Writes the page as files that need no server. All files are made first, then each is put in its place, the first page last.
 * Files that are no longer made are deleted; everything else in the folder stays.
 */
export async function writePage(store: Reader, path: string, options: FolderOptions) {
  try {
    const folder = openTargetFolder(path, 'a page')
    const staging = partFileName(join(folder, 'page'))
    try {
      removeStaleParts(join(folder, 'page'), Date.now())
      mkdirSync(staging)
      const names: string[] = []
      let bytes = 0
      for await (const { name, body } of pageFiles(store, options)) {
        writeFileSync(join(staging, String(names.length)), body)
        names.push(name)
        bytes += Buffer.byteLength(body)
      }
      const list = JSON.stringify({ files: names }, null, 2)
      writeFileSync(join(staging, FILE_LIST), `${list}\n`)
      // All targets are checked before anything is written.
      for (const name of [FILE_LIST, ...names]) {
        checkFolders(folder, name)
        if (existsSync(dirname(join(folder, name)))) claim(folder, name, options)
      }
      const old = listedFiles(folder)
      const put = (from: string, name: string): void => {
        mkdirSync(dirname(join(folder, name)), { recursive: true })
        moveIntoPlace(join(staging, from), claim(folder, name, options))
      }
      const rank = (name: string): number => (name === 'index.html' ? 2 : name.endsWith('.html') ? 1 : 0)
      for (const [i, name] of [...names.entries()].sort(([, a], [, b]) => rank(a) - rank(b))) put(String(i), name)
      put(FILE_LIST, FILE_LIST)
      removeFiles(
        folder,
        old.filter((name) => !names.includes(name)),
      )
      return { files: names.length, bytes }
    } finally {
      rmSync(staging, { recursive: true, force: true })
    }
  } catch (error) {
    throw asWriteError(error, path)
  }
}
