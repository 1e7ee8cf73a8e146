import type { Store } from '../db/store.ts'
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
