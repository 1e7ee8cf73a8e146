import { readFileSync } from 'node:fs'
import { createRequire, findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'

/** Loads a dependency with its first use, because most commands never need it. */
export const loadPackage = <T>(name: string): T => createRequire(import.meta.url)(name)

/** The path of a file that ships with this program. */
export const packageFile = (name: string): string => join(dirname(findPackageJSON(import.meta.url)!), name)

/** The version of this program, from its package.json. */
export const version = (): string =>
  (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version
