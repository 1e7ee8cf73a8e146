import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../util/files/targetFolder.ts'

/*
 * Files that are not complete yet. The bytes of a part have a name made of its address and its validator, so that bytes of
 * one version are never stored under the validator of another, even if the process dies.
 */

/** The beginning of a file, and the validator that shows that the rest is of the same file. */
export interface PartialFile {
  readonly file: string
  readonly bytes: number
  /** Null where the download cannot be resumed. */
  readonly validator: string | null
}

const digest = (text: string, digits: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, digits)
const partsFolder = (folder: string): string => join(folder, 'parts')
const NOTE = '.json'

/** Names of parts that this program gives, or gave in earlier versions. */
const PART_NAME = /^[0-9a-f]{32}-[0-9a-f]{16}(\.json)?$|^[0-9a-f]{64}(\.validator)?$/

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(partsFolder(folder))
  } catch {
    return []
  }
}

/** The validator of a part from its note; undefined where there is none. */
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

/** The part of an earlier download; null where there is none that can be resumed. */
export function findPart(folder: string, url: string): PartialFile | null {
  for (const name of namesIn(folder)) {
    if (name.endsWith(NOTE) || !name.startsWith(digest(url, 32))) continue
    const file = join(partsFolder(folder), name)
    const validator = readValidator(folder, name, url)
    const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
    if (validator !== undefined && bytes > 0) return { file, bytes, validator }
  }
  return null
}

/** Makes room for a new file; its validator is noted before its first byte. */
export function beginPart(folder: string, url: string, validator: string | null): PartialFile {
  makeFolder(partsFolder(folder))
  dropParts(folder, url)
  const name = partName(url, validator ?? '')
  const file = join(partsFolder(folder), name)
  if (validator !== null) writeFileSync(`${file}${NOTE}`, JSON.stringify({ url, validator }))
  return { file, bytes: 0, validator }
}

/** Deletes what was downloaded from an address. */
export function dropParts(folder: string, url: string): void {
  for (const name of namesIn(folder))
    if (name.startsWith(digest(url, 32))) rmSync(join(partsFolder(folder), name), { force: true })
}

/** Deletes what a dead process left: parts that cannot be resumed or are not wanted now. Returns the number of deleted files. */
export function tidyParts(folder: string, wanted: readonly string[]): number {
  const kept = new Set(wanted.map((url) => digest(url, 32)))
  const urls = new Map(wanted.map((url) => [digest(url, 32), url]))
  let gone = 0
  for (const name of namesIn(folder).filter((one) => PART_NAME.test(one))) {
    const bare = name.endsWith(NOTE) ? name.slice(0, -NOTE.length) : name
    const url = urls.get(bare.slice(0, 32))
    if (kept.has(bare.slice(0, 32)) && url !== undefined && readValidator(folder, bare, url) !== undefined) continue
    rmSync(join(partsFolder(folder), name), { force: true })
    gone++
  }
  return gone
}
