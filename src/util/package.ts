import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'

/** The path of a file that ships with this program, by its name inside the package. */
export const packageFile = (name: string): string => join(dirname(findPackageJSON(import.meta.url)!), name)

/** The version of this program, from its package.json. */
export const version = (): string =>
  (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version
