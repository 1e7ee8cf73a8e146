import { grouped, quantity } from '../util/text.ts'
import { type LakeManifest, listFiles, MANIFEST, requireManifest } from './manifest.ts'
import type { LakeFinding, LakePlace } from './places/place.ts'

/** Compares a lake with its manifest: every file exists with its bytes and rows, and there are no other files. */
export async function checkLake(place: LakePlace): Promise<{
  readonly manifest: LakeManifest
  readonly findings: readonly LakeFinding[]
}> {
  const manifest = requireManifest(await place.manifest(), place.asWritten)
  const { files, findings } = await place.inspect(manifest)
  const differences: LakeFinding[] = []
  for (const file of listFiles(manifest)) {
    const report = (what: string): void => void differences.push({ file: `${manifest.folder}/${file.path}`, what })
    const size = files.size(file)
    if (size === undefined) report('It is missing.')
    else if (size !== file.bytes) report(`It has ${quantity(size, 'byte')} instead of ${file.bytes}.`)
    else if ((await files.sha256(file)) !== file.sha256) report('Its content has changed.')
    else {
      const rows = await files.rows?.(file)
      if (rows !== undefined && rows !== file.rows)
        report(`It has ${quantity(rows, 'row')} instead of ${grouped(file.rows)}.`)
    }
  }
  for (const [table, { rows, files: parts }] of Object.entries(manifest.tables)) {
    const sum = parts.reduce((total, part) => total + part.rows, 0)
    if (sum !== rows)
      differences.push({
        file: MANIFEST,
        what: `It counts ${quantity(rows, 'row')} in ${table}, but ${grouped(sum)} in its files.`,
      })
  }
  return { manifest, findings: [...differences, ...findings] }
}
