import { readFileSync, statSync } from 'node:fs'
import { sha256OfFile } from '../base/files/checksum.ts'
import { removeStalePartsNow } from '../base/files/partFiles.ts'
import { prepareTarget, type Target } from '../base/files/target.ts'
import { copyState } from '../db/open.ts'

/** Reads a manifest; null where it is not one of this program. */
export function readCopyManifest(file: string): { program: string; bytes?: unknown; sha256?: unknown } | null {
  try {
    const manifest = JSON.parse(readFileSync(file, 'utf8'))
    return typeof manifest?.program === 'string' && manifest.program.startsWith('indicator-sync ') ? manifest : null
  } catch {
    return null
  }
}

/** Whether a file matches its manifest: copies of earlier versions have no mark. */
function isInManifest(file: string): boolean {
  const manifest = readCopyManifest(`${file}.manifest.json`)
  return manifest !== null && manifest.bytes === statSync(file).size && manifest.sha256 === sha256OfFile(file)
}

/** Whether a database is a copy that `publish` made. */
function publishedState(file: string): 'yes' | 'changed' | 'no' {
  const state = copyState(file)
  return state !== 'unmarked' ? state : isInManifest(file) ? 'yes' : 'no'
}

/** Checks that a copy may be written to a path: only an earlier copy is replaced, never a database in use. */
export const claimCopy = (path: string, overwrite: boolean, sources: readonly string[]): Target =>
  prepareTarget(path, {
    what: 'a published copy',
    overwrite,
    sources,
    tidy: removeStalePartsNow,
    ours: () => false,
    copy: publishedState,
  })
