import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../util/files/targetFolder.ts'

/*
 * Incomplete files. The name of a part is made of its address and its validator. So the bytes of one version never get the validator
 * of another, even if the process dies.
 */

/** The beginning of a file. `validator` identifies its version. */
export interface PartialFile {
  readonly file: string
  readonly bytes: number
  /** Null if the download cannot be resumed. */
  readonly validator: string | null
}

const digest = (text: string, digits: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, digits)
const partsFolder = (folder: string): string => join(folder, 'parts')
const NOTE = '.json'

/** Names of parts of this version and earlier ones. */
const PART_NAME = /^[0-9a-f]{32}-[0-9a-f]{16}(\.json)?$|^[0-9a-f]{64}(\.validator)?$/

const listParts = (folder: string): string[] => {
  try {
    return readdirSync(partsFolder(folder))
  } catch {
    return []
  }
}

/** Reads the validator of a part from its note; undefined without a valid note. */
function readValidator(folder: string, name: string, url: string): string | undefined {
  try {
    const note = JSON.parse(readFileSync(join(partsFolder(folder), `${name}${NOTE}`), 'utf8')) as Record<
      string,
      unknown
    >
    const { validator } = note
    return note.url === url && typeof validator === 'string' && name === partName(url, validator)
      ? validator
      : undefined
  } catch {
    return undefined
  }
}

const partName = (url: string, validator: string): string => `${digest(url, 32)}-${digest(validator, 16)}`

/** Finds the part of an earlier download that can be resumed; null if there is none. */
export function findPart(folder: string, url: string): PartialFile | null {
  for (const name of listParts(folder)) {
    if (name.endsWith(NOTE) || !name.startsWith(digest(url, 32))) continue
    const file = join(partsFolder(folder), name)
    const validator = readValidator(folder, name, url)
    const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
    if (validator !== undefined && bytes > 0) return { file, bytes, validator }
  }
  return null
}

/** Starts a part. Its validator is written before its first byte. */
export function beginPart(folder: string, url: string, validator: string | null): PartialFile {
  makeFolder(partsFolder(folder))
  dropParts(folder, url)
  const name = partName(url, validator ?? '')
  const file = join(partsFolder(folder), name)
  if (validator !== null) writeFileSync(`${file}${NOTE}`, JSON.stringify({ url, validator }))
  return { file, bytes: 0, validator }
}

/** Deletes the parts of an address. */
export function dropParts(folder: string, url: string): void {
  for (const name of listParts(folder))
    if (name.startsWith(digest(url, 32))) rmSync(join(partsFolder(folder), name), { force: true })
}

/** Deletes parts that cannot be resumed or are not among `urls`. Returns the number of deleted files. */
export function tidyParts(folder: string, urls: readonly string[]): number {
  const byDigest = new Map(urls.map((url) => [digest(url, 32), url]))
  const stale = listParts(folder).filter((name) => {
    const part = name.endsWith(NOTE) ? name.slice(0, -NOTE.length) : name
    const url = byDigest.get(part.slice(0, 32))
    return PART_NAME.test(name) && (url === undefined || readValidator(folder, part, url) === undefined)
  })
  for (const name of stale) rmSync(join(partsFolder(folder), name), { force: true })
  return stale.length
}
