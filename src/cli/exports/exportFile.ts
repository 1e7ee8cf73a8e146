import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import type { Dialect } from '../../reports/cells.ts'
import type { Exported } from '../../reports/export.ts'
import { partFileName, removeStaleParts } from '../../util/files/partFiles.ts'
import { asWriteError, moveIntoPlace, prepareTarget } from '../../util/files/target.ts'
import { version } from '../../util/package.ts'
import type { ExportForm } from '../flags.ts'
import { format } from '../terminal/output.ts'

/** The program name that is written into Parquet files. */
const PROGRAM = `indicator-sync ${version()}`

/** How a file is written. */
export interface FileForm {
  readonly form: ExportForm
  /** Of CSV. */
  readonly dialect: Dialect
}

/** The names of the columns of an export in a text format; a first line has their units. */
const headers = ({ columns }: Pick<Exported, 'columns'>, form: ExportForm): string[] =>
  columns.map(({ name, header = name }) => (form === 'csv' || form === 'tsv' ? header : name))

/** Counts rows on their way. */
export async function* counted(rows: Exported['rows'], count: { rows: number }): Exported['rows'] {
  for await (const block of rows) {
    count.rows += block.length
    yield block
  }
}

/** An export in pieces, for a pipe. */
export async function exportPieces(
  { columns, rows }: Exported,
  { form, dialect }: FileForm,
): Promise<AsyncIterable<string | Uint8Array>> {
  if (form !== 'parquet') return format(form, headers({ columns }, form), rows, dialect)
  const { parquetStream } = await import('./parquet.ts')
  return parquetStream({ columns, rows }, PROGRAM)
}

/** Writes all of some bytes: a pipe may take a part of them. */
function writeBytes(handle: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes, done)
}

/** Writes an open file; answers how many rows. */
async function writeRows(handle: number, exported: Exported, { form, dialect }: FileForm): Promise<number> {
  const count = { rows: 0 }
  const rows = counted(exported.rows, count)
  if (form === 'parquet') {
    const { writeParquet } = await import('./parquet.ts')
    await writeParquet((bytes) => writeBytes(handle, bytes), { ...exported, rows }, PROGRAM)
    return count.rows
  }
  let text = ''
  for await (const piece of format(form, headers(exported, form), rows, dialect)) {
    text += piece
    if (text.length < 1 << 20) continue
    writeBytes(handle, Buffer.from(text))
    text = ''
  }
  writeBytes(handle, Buffer.from(text))
  return count.rows
}

/** Makes a new file that is safe on the disk; answers how many rows it has. The database is queried when the file is open. */
async function writeFile(file: string, make: () => Exported | Promise<Exported>, form: FileForm): Promise<number> {
  const handle = openSync(file, 'wx')
  try {
    const rows = await writeRows(handle, await make(), form)
    fsyncSync(handle)
    return rows
  } finally {
    closeSync(handle)
  }
}

/** What may be replaced by an export. */
const claimExport = (path: string, overwrite: boolean, sources: readonly string[]) =>
  prepareTarget(path, { product: 'an export', overwrite, sources, tidy: removeStaleParts })

/** Makes a file beside its place and puts it there when it is whole; what is not a file, such as a pipe, is written into. */
export async function exportFile(
  path: string,
  make: () => Exported | Promise<Exported>,
  form: FileForm,
  { overwrite, sources }: { readonly overwrite: boolean; readonly sources: readonly string[] },
): Promise<number> {
  try {
    const target = claimExport(path, overwrite, sources)
    if (target.isStream) {
      const handle = openSync(target.file, 'w')
      try {
        return await writeRows(handle, await make(), form)
      } catch (error) {
        // The reader of the pipe has closed it.
        if ((error as NodeJS.ErrnoException).code === 'EPIPE') return 0
        throw error
      } finally {
        closeSync(handle)
      }
    }
    const part = partFileName(target.file)
    try {
      const rows = await writeFile(part, make, form)
      moveIntoPlace(part, target)
      return rows
    } finally {
      rmSync(part, { force: true })
    }
  } catch (error) {
    throw asWriteError(error, path)
  }
}
