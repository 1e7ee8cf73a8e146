import type { Store } from '../db/store.ts'
import type { archive_row } from '../db/tables/content.ts'
import type { RowOf } from '../db/tables/declare.ts'

type ArchiveRow = Omit<RowOf<typeof archive_row>, 'kind' | 'id' | 'date'>

/** An edition of an archive whose file lies in the folder of downloads. */
interface Edition {
  readonly kind: string
  readonly id: number
  readonly date: string
  readonly url: string
  readonly sha256: string
}

const ROWS_A_STATEMENT = 1_000

/**
 * Replaces the rows of an edition in one transaction, and notes which version of its file they are of; none if it has no rows, so
 * that the next load names it again.
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
    let some: (ArchiveRow & typeof edition)[] = []
    const insert = async () => {
      if (some.length > 0) await tx.insertInto('archive_row').values(some).execute()
      some = []
    }
    for (const row of rows()) {
      some.push({ kind, id, date, ...row })
      count++
      if (some.length === ROWS_A_STATEMENT) await insert()
    }
    await insert()
    await tx
      .updateTable('archive_file')
      .set({ loaded_sha256: count > 0 ? sha256 : null })
      .where('url', '=', url)
      .execute()
    return count
  })
