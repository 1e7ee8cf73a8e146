import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { InputError } from '../errors.ts'
import { describeSystemError } from '../systemErrors.ts'
import { asWriteError } from './target.ts'

/** Errors of `mkdir` that the user can fix. */
const FOLDER_FAILURES = ['EROFS', 'ENOENT', 'EACCES', 'EPERM', 'ENOTDIR', 'EEXIST', 'ENAMETOOLONG']

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory()

/** Makes a folder and those above it, one by one: Node's recursive `mkdir` never ends if the system denies an existing folder. */
export function makeFolder(asWritten: string): void {
  const path = resolve(asWritten)
  const missing: string[] = existsSync(path) && !isFolder(path) ? [path] : []
  for (let at = path; !existsSync(at); at = dirname(at)) missing.unshift(at)
  for (const folder of missing)
    try {
      mkdirSync(folder)
    } catch (error) {
      // Another process may have made it.
      if (isFolder(folder)) continue
      const { code = '' } = error as NodeJS.ErrnoException
      if (!FOLDER_FAILURES.includes(code)) throw asWriteError(error, asWritten)
      throw new InputError(`Cannot create the folder ${asWritten}: ${folder} ${describeSystemError(error)}.`, {
        hint: 'Choose a folder that this user can create, or create it with write permission for this user.',
        code: 'cannot-write',
        cause: error,
      })
    }
}

/** Returns the real path of a folder for files, which is made if it does not exist. Refuses a file. `product`: what is written. */
export function openTargetFolder(path: string, product: string): string {
  if (existsSync(path) && !isFolder(path))
    throw new InputError(`${path} is not a folder; ${product} needs one.`, {
      hint: 'Choose a folder. Nothing was changed.',
      code: 'target-exists',
    })
  makeFolder(path)
  return realpathSync(path)
}
