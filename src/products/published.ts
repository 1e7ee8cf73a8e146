import { readFileSync, statSync } from 'node:fs'
import { sha256OfFile } from '../base/checksum.ts'
import { removeStalePartsNow } from '../base/partFiles.ts'
import { prepareTarget, type Target } from '../base/target.ts'
import { copyState } from '../db/open.ts'

/** What a manifest says; null when it is none of ours. */
export function readManifest(file: string): { program: string; bytes?: unknown; sha256?: unknown } | null {
  try {
    const said = JSON.parse(readFileSync(file, 'utf8'))
    return typeof said?.program === 'string' && said.program.startsWith('indicator-sync ') ? said : null
  } catch {
    return null
  }
}

/** Whether a file is what its manifest says: copies of earlier versions have no mark. */
function isInManifest(file: string): boolean {
  const manifest = readManifest(`${file}.manifest.json`)
  return manifest !== null && manifest.bytes === statSync(file).size && manifest.sha256 === sha256OfFile(file)
}

/** Whether a database is a copy that `publish` made. */
export function publishedState(file: string): 'yes' | 'changed' | 'no' {
  const state = copyState(file)
  return state !== 'unmarked' ? state : isInManifest(file) ? 'yes' : 'no'
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
