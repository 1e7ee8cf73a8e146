import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Dialect } from '../../reports/cells.ts'
import type { ExportTable } from '../../reports/exportValues.ts'
import { removeStaleParts } from '../../util/files/partFiles.ts'
import { asWriteError, prepareTarget, writeInPlace } from '../../util/files/target.ts'
import type { ExportForm } from '../flags.ts'
import { format, stream } from '../terminal/output.ts'

export interface ExportOptions {
  readonly form: ExportForm
  /** For CSV. */
  readonly dialect: Dialect
  readonly overwrite: boolean
  /** Files that the export reads, so it must not replace them. */
  readonly sources: readonly string[]
}

/** Makes the tables of an export: several for a workbook, else one. */
type MakeTables = () => Promise<readonly ExportTable[]>

/** Makes the pieces of an export. Only a workbook has several tables. */
async function makePieces(
  tables: readonly ExportTable[],
  { form, dialect }: ExportOptions,
): Promise<AsyncIterable<string | Uint8Array>> {
  if (form === 'xlsx') return (await import('./xlsx.ts')).xlsxStream(tables)
  const { columns, rows } = tables[0]!
  if (form === 'parquet') return (await import('./parquet.ts')).parquetStream({ columns, rows })
  const names = columns.map(({ name, header = name }) => (form === 'ndjson' ? name : header))
  return format(form, names, rows, dialect)
}

/** Writes an export to a new file, to a pipe or device, or to stdout (undefined). Returns the number of rows. */
async function writeRows(
  file: string | undefined,
  isStream: boolean,
  make: MakeTables,
  options: ExportOptions,
): Promise<number> {
  let count = 0
  async function* counted(rows: ExportTable['rows']): ExportTable['rows'] {
    for await (const block of rows) {
      count += block.length
      yield block
    }
  }
  const tables = (await make()).map((table) => ({ ...table, rows: counted(table.rows) }))
  const pieces = await makePieces(tables, options)
  if (file === undefined) await stream(pieces)
  else
    await pipeline(Readable.from(pieces), createWriteStream(file, { flags: isStream ? 'w' : 'wx', flush: !isStream }))
  return count
}

/**
 * Exports to stdout (undefined) or to a file, which is written beside its place and moved there when it is complete. Returns the
 * number of rows.
 */
export async function exportTo(path: string | undefined, make: MakeTables, options: ExportOptions): Promise<number> {
  if (path === undefined) return writeRows(path, true, make, options)
  try {
    const { overwrite, sources } = options
    const target = prepareTarget(path, { product: 'an export', overwrite, sources, tidy: removeStaleParts })
    if (target.isStream)
      return await writeRows(target.file, true, make, options).catch((error) => {
        // The reader of the pipe has closed it.
        if (error.code === 'EPIPE') return 0
        throw error
      })
    return await writeInPlace(target, (part) => writeRows(part, false, make, options))
  } catch (error) {
    throw asWriteError(error, path)
  }
}
