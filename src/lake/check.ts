import { lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sha256OfFile } from '../base/checksum.ts'
import { quantity } from '../base/quantity.ts'
import { filesOf, type LakeManifest, requireManifest } from './manifest.ts'
import { CURRENT } from './snapshots.ts'

/** What is wrong with a lake, in a sentence, with the file that it is about. */
export interface LakeFinding {
  readonly file: string
  readonly what: string
}

/** Looks whether a lake is what its manifest says: every file is there, with its bytes, and no other one among them. */
export function checkLake(folder: string): {
  readonly manifest: LakeManifest
  readonly findings: readonly LakeFinding[]
} {
  const manifest = requireManifest(folder)
  const place = join(folder, manifest.folder)
  const files = filesOf(manifest)
  const findings: LakeFinding[] = []
  const find = (file: string, what: string): void => void findings.push({ file, what })
  for (const { path, bytes, sha256 } of files) {
    const there = statSync(join(place, path), { throwIfNoEntry: false })
    const name = join(manifest.folder, path)
    if (!there) find(name, 'It is missing.')
    else if (there.size !== bytes) find(name, `It has ${quantity(there.size, 'byte')} in place of ${bytes}.`)
    else if (sha256OfFile(join(place, path)) !== sha256) find(name, 'Its bytes are not those that were written.')
  }
  const known = new Set(files.map(({ path }) => path))
  if (statSync(place, { throwIfNoEntry: false }))
    for (const entry of readdirSync(place, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name).slice(place.length + 1)
      if (entry.isFile() && path.endsWith('.parquet') && !known.has(path))
        find(join(manifest.folder, path), 'It is no part of the lake, and readers of the folder would read it.')
    }
  const link = lstatSync(join(folder, CURRENT), { throwIfNoEntry: false })
  const leads = link?.isSymbolicLink() ? readlinkSync(join(folder, CURRENT)) : null
  if (leads !== manifest.folder)
    find(CURRENT, `It leads to ${leads ?? 'nothing'} in place of ${manifest.folder}; the next sync mends it.`)
  return { manifest, findings }
}
