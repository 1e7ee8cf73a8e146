import { formatMillis } from '../base/instant.ts'
import type { Store } from '../db/open.ts'

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
  return store.write(async () => {
    store.run(
      `insert into archive_file (url, sha256, bytes, content_type, file_name, path, fetched_at) values (?, ?, ?, ?, ?, ?, ?)
       on conflict (url) do update set sha256 = excluded.sha256, bytes = excluded.bytes, content_type = excluded.content_type,
         file_name = excluded.file_name, path = excluded.path, fetched_at = excluded.fetched_at`,
      [file.url, file.sha256, file.bytes, file.contentType, file.fileName, file.path, formatMillis(ms)],
    )
  })
}
