import { createHash } from 'node:crypto'
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { removeStalePartsNow } from '../base/partFiles.ts'
import { headOf, prepareTarget, type Target } from '../base/target.ts'
import { isMarked } from '../db/copies.ts'
import { APPLICATION_ID } from '../db/schema.ts'

/** What a manifest says; null when it is none of ours. */
export function readManifest(file: string): { program: string; bytes?: unknown; sha256?: unknown } | null {
  try {
    const said = JSON.parse(readFileSync(file, 'utf8'))
    return typeof said?.program === 'string' && said.program.startsWith('indicator-sync ') ? said : null
  } catch {
    return null
  }
}

function sha256Of(file: string): string {
  const hash = createHash('sha256')
  const handle = openSync(file, 'r')
  try {
    const piece = Buffer.alloc(1 << 20)
    for (let read = readSync(handle, piece); read > 0; read = readSync(handle, piece))
      hash.update(piece.subarray(0, read))
  } finally {
    closeSync(handle)
  }
  return hash.digest('hex')
}

/** Whether a file is what its manifest says: copies of earlier versions have no mark. */
function isInManifest(file: string): boolean {
  const manifest = readManifest(`${file}.manifest.json`)
  return manifest !== null && manifest.bytes === statSync(file).size && manifest.sha256 === sha256Of(file)
}

/**
 * Whether a database is a copy that `publish` made. From its head (https://www.sqlite.org/fileformat.html): a database that
 * is written has a write-ahead log, and a copy was written once.
 */
export function publishedState(file: string): 'yes' | 'changed' | 'no' {
  const head = headOf(file, 100)
  const logged = head[18] !== 1 || head[19] !== 1
  if (head.length < 100 || head.readUInt32BE(68) !== APPLICATION_ID || logged) return 'no'
  if (isMarked(file)) return head.readUInt32BE(24) === 1 ? 'yes' : 'changed'
  return isInManifest(file) ? 'yes' : 'no'
}

/** Looks whether a copy may be put at a path: only a copy is replaced, never a database that is in use. */
export const claimCopy = (said: string, overwrite: boolean, sources: readonly string[]): Target =>
  prepareTarget(said, {
    what: 'a published copy',
    overwrite,
    sources,
    tidy: removeStalePartsNow,
    ours: () => false,
    copy: publishedState,
  })
