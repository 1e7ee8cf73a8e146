import { grouped, quantity } from '../util/text.ts'
import { filesOf, knownManifest, type LakeManifest, MANIFEST } from './manifest.ts'
import type { LakeFinding, LakePlace } from './places/place.ts'

/** Checks that a lake is what its manifest says: every file is there, with its bytes and rows, and no other file among them. */
export async function checkLake(place: LakePlace): Promise<{
  readonly manifest: LakeManifest
  readonly findings: readonly LakeFinding[]
}> {
  const manifest = knownManifest(await place.manifest(), place.asWritten)
  const { files, findings } = await place.look(manifest)
  const found: LakeFinding[] = []
  for (const file of filesOf(manifest)) {
    const find = (what: string): void => void found.push({ file: `${manifest.folder}/${file.path}`, what })
    const size = files.sizeOf(file)
    if (size === undefined) find('It is missing.')
    else if (size !== file.bytes) find(`It has ${quantity(size, 'byte')} instead of ${file.bytes}.`)
    else if ((await files.sha256Of(file)) !== file.sha256) find('Its content has changed.')
    else {
      const rows = await files.rowsOf?.(file)
      if (rows !== undefined && rows !== file.rows)
        find(`It has ${quantity(rows, 'row')} instead of ${grouped(file.rows)}.`)
    }
  }
  for (const [table, { rows, files: parts }] of Object.entries(manifest.tables)) {
    const sum = parts.reduce((sofar, part) => sofar + part.rows, 0)
    if (sum !== rows)
      found.push({
        file: MANIFEST,
        what: `It counts ${quantity(rows, 'row')} in ${table}, but ${grouped(sum)} in its files.`,
      })
  }
  return { manifest, findings: [...found, ...findings] }
}
