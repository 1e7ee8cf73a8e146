import { readFileSync } from 'node:fs'
import { createRequire, findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Loads a dependency with its first use, because most commands never need it. */
export const loadPackage = <T>(name: string): T => createRequire(import.meta.url)(name)

/** Loads an optional package, installed beside this program or in the current folder. Returns null if it is in neither. */
export async function loadPeer<T>(name: string): Promise<T | null> {
  for (const from of [import.meta.url, pathToFileURL(join(process.cwd(), 'any.js')).href])
    try {
      const loaded = await import(pathToFileURL(createRequire(from).resolve(name)).href)
      return (loaded.default ?? loaded) as T
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    }
  return null
}

/** The path of a file that ships with this program. */
export const packageFile = (name: string): string => join(dirname(findPackageJSON(import.meta.url)!), name)

/** The version of this program, from its package.json. */
export const version = (): string =>
  (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version
