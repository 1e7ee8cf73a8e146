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

/**
 * Replaces the rows of an edition in one transaction, and records the hash of its file. Without rows it records none, so that the
 * next load reports the file again.
 */
export const replaceArchiveRows = (
  store: Store,
  { url, sha256, ...edition }: Edition,
  rows: () => Iterable<ArchiveRow>,
): Promise<number> =>
  store.write(async (tx) => {
    const { kind, id, date } = edition
    await tx.deleteFrom('archive_row').where('kind', '=', kind).where('id', '=', id).where('date', '=', date).execute()
    let count = 0
    let batch: (ArchiveRow & typeof edition)[] = []
    const insert = async () => {
      if (batch.length > 0) await tx.insertInto('archive_row').values(batch).execute()
      batch = []
    }
    for (const row of rows()) {
      batch.push({ kind, id, date, ...row })
      count++
      if (batch.length === ROWS_A_STATEMENT) await insert()
    }
    await insert()
    await tx
      .updateTable('archive_file')
      .set({ loaded_sha256: count > 0 ? sha256 : null })
      .where('url', '=', url)
      .execute()
    return count
  })
