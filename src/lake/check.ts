import { quantity } from '../base/quantity.ts'
import { filesOf, knownManifest, type LakeManifest } from './manifest.ts'
import type { LakeFinding, LakePlace } from './places/place.ts'

/** Checks that a lake is what its manifest says: every file is there, with its bytes, and no other file among them. */
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
    else if (size !== file.bytes) find(`It has ${quantity(size, 'byte')} in place of ${file.bytes}.`)
    else if ((await files.sha256Of(file)) !== file.sha256) find('Its bytes are not those that were written.')
  }
  return { manifest, findings: [...found, ...findings] }
}
