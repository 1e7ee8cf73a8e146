import type { Store } from '../db/store.ts'
import type { archive_i90_row, archive_row } from '../db/tables/content.ts'
import type { RowOf } from '../db/tables/declare.ts'
import { formatMillis } from '../util/time/instant.ts'

/** A file of an archive that lies in the folder of downloads now. */
export interface DownloadedFile {
  readonly url: string
  readonly sha256: string
  readonly bytes: number
  readonly contentType: string | null
  readonly fileName: string | null
  readonly path: string
}

/** Records a downloaded file; a newer one of the same address takes its place. */
export function recordFile(store: Store, file: DownloadedFile, ms: number): Promise<void> {
  const { url, contentType, fileName, ...rest } = file
  const row = { ...rest, content_type: contentType, file_name: fileName, fetched_at: formatMillis(ms) }
  return store.write(async (tx) => {
    await tx
      .insertInto('archive_file')
      .values({ url, ...row })
      .onConflict((conflict) => conflict.column('url').doUpdateSet(row))
      .execute()
  })
}

type ArchiveRow = Omit<RowOf<typeof archive_row>, 'kind' | 'id' | 'date'>
type I90Row = Omit<RowOf<typeof archive_i90_row>, 'kind' | 'id' | 'date'>

/** An edition of an archive with a downloaded file. */
interface Edition {
  readonly kind: string
  readonly id: number
  readonly date: string
  readonly url: string
  readonly sha256: string
}

const ROWS_A_STATEMENT = 1_000

/** A file of an archive: its rows, or why it cannot be loaded, or neither. Of a workbook, a sheet. */
interface ReadFile {
  readonly file: string
  readonly sheet?: string
  readonly rows?: readonly ArchiveRow[]
  readonly i90Rows?: readonly I90Row[]
  /** The local day of a workbook. */
  readonly day?: string
  /** Why a sheet is not understood. Its cells are in `rows`. */
  readonly misfit?: string
  readonly fault?: { readonly line: number | null; readonly reason: string }
}

/** What was loaded of a file. */
interface LoadedFile extends Omit<ReadFile, 'rows' | 'i90Rows' | 'day'> {
  /** The number of rows; null without a known layout. */
  readonly count: number | null
}

/** Divides rows by statements. */
function* batches<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let i = 0; i < rows.length; i += ROWS_A_STATEMENT) yield rows.slice(i, i + ROWS_A_STATEMENT)
}

/** Leaves out workbooks of another day than their edition, and all but the first of its day: their values would count twice. */
async function* refuseRepeated(files: AsyncIterable<ReadFile>, date: string): AsyncGenerator<Omit<ReadFile, 'day'>> {
  const refused = new Set<string>()
  let first: string | undefined
  for await (const { day, ...file } of files) {
    if (day === date) first ??= file.file
    if (day === undefined || (day === date && file.file === first)) yield file
    else if (!refused.has(file.file)) {
      refused.add(file.file)
      const reason = day === date ? `${first} is of the same day` : `it is of ${day}, but the edition is of ${date}`
      yield { file: file.file, fault: { line: null, reason } }
    }
  }
}

/**
 * Replaces the rows of an edition in one transaction, and records the hash of its file. Without rows, or if a file cannot be loaded,
 * it records none, so that the next load reports the file again. `read` is called again if the transaction is repeated.
 */
export const replaceArchiveRows = (
  store: Store,
  { url, sha256, ...edition }: Edition,
  read: () => AsyncIterable<ReadFile>,
): Promise<readonly LoadedFile[]> =>
  store.write(async (tx) => {
    const { kind, id, date } = edition
    for (const table of ['archive_row', 'archive_i90_row'] as const)
      await tx.deleteFrom(table).where('kind', '=', kind).where('id', '=', id).where('date', '=', date).execute()
    const files: LoadedFile[] = []
    for await (const { rows, i90Rows = [], ...file } of refuseRepeated(read(), date)) {
      files.push({ ...file, count: rows ? rows.length + i90Rows.length : null })
      for (const batch of batches(rows ?? []))
        await tx
          .insertInto('archive_row')
          .values(batch.map((row) => ({ kind, id, date, ...row })))
          .execute()
      for (const batch of batches(i90Rows))
        await tx
          .insertInto('archive_i90_row')
          .values(batch.map((row) => ({ kind, id, date, ...row })))
          .execute()
    }
    const isComplete = files.every(({ fault }) => !fault) && files.some(({ count }) => count)
    await tx
      .updateTable('archive_file')
      .set({ loaded_sha256: isComplete ? sha256 : null })
      .where('url', '=', url)
      .execute()
    return files
  })
