import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { InputError } from '../errors.ts'

/** Loads a package that is not installed with this one: from beside this program, or from the working directory. `what` names what needs it, for the message. */
export async function loadPeer<T>(name: string, what: string, instead: string): Promise<T> {
  for (const from of [import.meta.url, pathToFileURL(join(process.cwd(), 'any.js')).href])
    try {
      const found = createRequire(from).resolve(name)
      const loaded = await import(pathToFileURL(found).href)
      return (loaded.default ?? loaded) as T
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    }
  throw new InputError(`${what} needs the package ${name}, which is not installed.`, {
    hint: `npm install ${name} in this folder, or ${instead}.`,
    code: 'no-engine',
  })
}
