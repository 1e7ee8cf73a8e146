import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'

/** How a person called this program: by npx from a clone or a project, or by its name. */
export const called = (): string => (process.env.npm_command === undefined ? 'indicator-sync' : 'npx indicator-sync')

const COMMAND = /(?<![\w/-]|npx )indicator-sync(?= (?:--help|[a-z]))/g

/** A text that names commands, with each as this person calls it. */
export const asCalled = (text: string): string => text.replaceAll(COMMAND, called())

/** The path of a file that ships with this program, by its name inside the package. */
export const packageFile = (name: string): string => join(dirname(findPackageJSON(import.meta.url)!), name)

/** The version of this program, from its package.json. */
export const version = (): string =>
  (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version
