import { existsSync, lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { InputError } from '../../base/errors.ts'
import { openTargetFolder } from '../../base/files/folder.ts'
import { partFileOf, removeStaleParts } from '../../base/files/partFiles.ts'
import { asWriteError, moveIntoPlace } from '../../base/files/target.ts'
import { EXPORT_FORMS, type ExportForm } from '../flags.ts'
import { claimExport } from './exportFile.ts'

/** A partitioned export: the years that it is about, and how the file of one is made. */
export interface Partitions {
  /** The years that are held. */
  readonly years: { readonly first: number; readonly last: number } | null
  /** Whether a year is requested, held or not. */
  readonly isWanted: (year: number) => boolean
  /** Writes the values of a year into a new file; answers how many. */
  readonly write: (year: number, file: string) => Promise<number>
  readonly form: ExportForm
  readonly overwrite: boolean
  readonly sources: readonly string[]
}

const partition = (folder: string, year: number): string => join(folder, `year=${String(year).padStart(4, '0')}`)

/** The years that have a partition in a folder. */
const yearsIn = (folder: string): number[] =>
  readdirSync(folder).flatMap((name) => {
    const [, year] = /^year=(\d{4})$/.exec(name) ?? []
    return year === undefined ? [] : [Number(year)]
  })

/** The files of a partition that this export replaces or takes away; refuses existing files without `--overwrite`. */
function claimYear(
  folder: string,
  year: number,
  { overwrite, sources }: Partitions,
  forms: readonly ExportForm[] = EXPORT_FORMS,
) {
  const place = partition(folder, year)
  const there = lstatSync(place, { throwIfNoEntry: false })
  if (there && !there.isDirectory())
    throw new InputError(`${place} is not a folder of this export.`, {
      hint: 'It was not touched. Move it away, or name another folder.',
      code: 'target-exists',
    })
  return forms
    .filter((form) => there && existsSync(join(place, `data.${form}`)))
    .map((form) => claimExport(join(place, `data.${form}`), overwrite, sources))
}

/** Removes a folder that is empty. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // Other files in it stay.
  }
}

/** Takes away what an earlier export left of a year. */
function removeYear(folder: string, year: number, partitions: Partitions, kept: ExportForm | null): void {
  const others = EXPORT_FORMS.filter((form) => form !== kept)
  for (const { file } of claimYear(folder, year, partitions, others)) rmSync(file)
  if (kept === null) removeEmpty(partition(folder, year))
}

/**
 * A folder a year, `year=2025/data.csv`, as DuckDB, pandas and Arrow read it. All files are made first, then each is put in
 * its place; the years requested are replaced, and everything else in the folder stays.
 */
export async function exportYears(path: string, partitions: Partitions): Promise<number> {
  const { years, isWanted, write, form, overwrite, sources } = partitions
  try {
    const { folder, made } = openTargetFolder(path, 'an export by year')
    const staging = partFileOf(join(folder, 'export'))
    let total = 0
    try {
      removeStaleParts(join(folder, 'export'), Date.now())
      const old = yearsIn(folder).filter(isWanted)
      const held = years ? Array.from({ length: years.last - years.first + 1 }, (_, i) => years.first + i) : []
      const all = [...new Set([...old, ...held.filter(isWanted)])].sort((a, b) => a - b)
      for (const year of all) claimYear(folder, year, partitions)
      mkdirSync(staging)
      const full: number[] = []
      for (const year of held.filter(isWanted)) {
        const rows = await write(year, join(staging, `${year}`))
        if (rows > 0) full.push(year)
        total += rows
      }
      for (const year of full) {
        mkdirSync(partition(folder, year), { recursive: true })
        const target = claimExport(join(partition(folder, year), `data.${form}`), overwrite, sources)
        moveIntoPlace(join(staging, `${year}`), target)
        removeYear(folder, year, partitions, form)
      }
      for (const year of old) if (!full.includes(year)) removeYear(folder, year, partitions, null)
      return total
    } finally {
      rmSync(staging, { recursive: true, force: true })
      if (made && total === 0) removeEmpty(folder)
    }
  } catch (error) {
    throw asWriteError(error, path)
  }
}
