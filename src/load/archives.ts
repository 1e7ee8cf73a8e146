import type { Store } from '../db/store.ts'
import type { archive_row } from '../db/tables/content.ts'
import type { RowOf } from '../db/tables/declare.ts'
import { formatMillis } from '../util/time/instant.ts'

/** A file of an archive that lies in the folder of downloads now. */
export interface ArchiveFile {
  readonly url: string
  readonly sha256: string
  readonly bytes: number
  readonly contentType: string | null
  readonly fileName: string | null
  readonly path: string
}

/** Records a downloaded file; a newer one of the same address takes its place. */
export function recordFile(store: Store, file: ArchiveFile, ms: number): Promise<void> {
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

/** An edition of an archive with a downloaded file. */
interface Edition {
  readonly kind: string
  readonly id: number
  readonly date: string
  readonly url: string
  readonly sha256: string
}

const ROWS_A_STATEMENT = 1_000

/** A file of an archive: its rows, or why it cannot be loaded, or neither. */
interface ReadFile {
  readonly file: string
  readonly rows?: readonly ArchiveRow[]
  readonly fault?: { readonly line: number | null; readonly reason: string }
}

/** What was loaded of a file. */
interface LoadedFile extends Omit<ReadFile, 'rows'> {
  /** The number of rows; null without a known layout. */
  readonly count: number | null
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
    await tx.deleteFrom('archive_row').where('kind', '=', kind).where('id', '=', id).where('date', '=', date).execute()
    const files: LoadedFile[] = []
    for await (const { rows, ...file } of read()) {
      files.push({ ...file, count: rows?.length ?? null })
      for (let i = 0; i < (rows?.length ?? 0); i += ROWS_A_STATEMENT) {
        const batch = rows!.slice(i, i + ROWS_A_STATEMENT).map((row) => ({ kind, id, date, ...row }))
        await tx.insertInto('archive_row').values(batch).execute()
      }
    }
    const isComplete = files.every(({ fault }) => !fault) && files.some(({ count }) => count)
    await tx
      .updateTable('archive_file')
      .set({ loaded_sha256: isComplete ? sha256 : null })
      .where('url', '=', url)
      .execute()
    return files
  })
