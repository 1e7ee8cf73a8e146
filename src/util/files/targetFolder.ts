import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { InputError } from '../errors.ts'
import { asWriteError } from './target.ts'

/** Why a folder cannot be made, by the code of the system and the folder that it would lie in. */
const FOLDER_FAILURES: Readonly<Record<string, (parent: string) => string>> = {
  EROFS: (parent) => `${parent} is on a read-only file system`,
  ENOENT: (parent) => `${parent} does not accept directories`,
  EACCES: (parent) => `this user may not write to ${parent}`,
  EPERM: (parent) => `this user may not write to ${parent}`,
  ENOTDIR: (parent) => `${parent} is not a directory`,
  EEXIST: (parent) => `a file of this name exists in ${parent}`,
  ENAMETOOLONG: () => 'its name is too long',
}

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory()

/**
 * Makes a folder, and those above it. One by one, because Node's recursive `mkdir` never ends where the system denies a folder
 * that exists.
 */
export function makeFolder(asWritten: string): void {
  const wanted = resolve(asWritten)
  const missing: string[] = existsSync(wanted) && !isFolder(wanted) ? [wanted] : []
  for (let at = wanted; !existsSync(at); at = dirname(at)) missing.unshift(at)
  for (const folder of missing)
    try {
      mkdirSync(folder)
    } catch (error) {
      // Another process may have made it.
      if (isFolder(folder)) continue
      const { code = '' } = error as NodeJS.ErrnoException
      const why = FOLDER_FAILURES[code]
      if (!why) throw asWriteError(error, asWritten)
      throw new InputError(`Cannot create the directory ${asWritten}: ${why(dirname(folder))} (${code}).`, {
        hint: 'Choose a directory that this user can create, or create it with write permission for this user.',
        code: 'cannot-write',
        cause: error,
      })
    }
}

/** The folder into which files are written, by its real path; made where it is absent, and refused where its name is a file. `what` is written. */
export function openTargetFolder(path: string, what: string): { readonly folder: string; readonly made: boolean } {
  const there = statSync(path, { throwIfNoEntry: false })
  if (there && !there.isDirectory())
    throw new InputError(`${path} is not a directory; ${what} needs one.`, {
      hint: 'Choose a directory. Nothing was changed.',
      code: 'target-exists',
    })
  if (!there) mkdirSync(resolve(path))
  return { folder: realpathSync(path), made: !there }
}
