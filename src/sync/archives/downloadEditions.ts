import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '../../db/store.ts'
import { type DownloadOptions, download, prepareFolder } from '../../fetch/files/download.ts'
import { FORBIDDEN } from '../../fetch/files/links.ts'
import { recordFile } from '../../load/archives.ts'
import { StoppedError, SyncError } from '../../util/errors.ts'
import type { EmitEvent } from '../../util/events.ts'
import type { Edition } from './editions.ts'

/** The maximum size of a downloaded file. */
const MAX_BYTES = 100_000_000

/** How editions are downloaded. */
export interface DownloadEditionsOptions extends Pick<DownloadOptions, 'client' | 'folder' | 'allowHosts'> {
  /** The maximum number of files; 0 for all. */
  readonly limit: number
  /** Whether existing files are downloaded again. */
  readonly isRefresh: boolean
  /** Called when the service first refuses a file. Throws if the reason is the key. */
  readonly checkKey: () => Promise<void>
  readonly emit: EmitEvent
}

/** The result of a download. */
export interface DownloadSummary {
  /** The number of downloaded files, and their size. */
  readonly files: number
  readonly bytes: number
  /** The number of files that existed already. */
  readonly stored: number
  readonly failed: readonly { readonly url: string; readonly reason: string }[]
  /** Why not all files were requested; null if they were. */
  readonly earlyEnd: StoppedError | null
}

/**
 * Downloads the missing files of editions, one after the other and each URL once, and records them. A failure of one file does not stop
 * the next; an error that ends a run is thrown.
 */
export async function downloadEditions(
  store: Store,
  editions: readonly Edition[],
  { client, folder, allowHosts = [], limit, isRefresh, checkKey, emit }: DownloadEditionsOptions,
): Promise<DownloadSummary> {
  await prepareFolder(folder)
  const failed: { url: string; reason: string }[] = []
  const urls = new Map(editions.flatMap(({ url, path }) => (url === null ? [] : [[url, path]])))
  const missing = [...urls].filter(([, path]) => isRefresh || path === null || !existsSync(join(folder, path)))
  const selected = (limit > 0 ? missing.slice(0, limit) : missing).map(([url]) => url)
  const summary = { files: 0, bytes: 0, stored: urls.size - missing.length, failed }
  let isKeyGood = false
  for (const url of selected) {
    const began = performance.now()
    try {
      const file = await download(url, {
        client,
        folder,
        allowHosts,
        maxBytes: MAX_BYTES,
        onRetry: ({ error: { code, message: reason }, response }, attempt) => {
          const status = response?.status ?? null
          emit('request.retried', { route: 'download', url, attempt, status, code, reason })
        },
      })
      if (file instanceof SyncError) {
        const { message: reason, code } = file
        failed.push({ url, reason })
        emit('download.failed', { url, code, reason })
        if (code === FORBIDDEN && !isKeyGood) await checkKey()
        isKeyGood ||= code === FORBIDDEN
        continue
      }
      await recordFile(store, { url, ...file }, Date.now())
      summary.files++
      summary.bytes += file.bytes
      emit('download.done', { url, ms: Math.round(performance.now() - began), bytes: file.bytes })
    } catch (error) {
      if (error instanceof StoppedError) return { ...summary, earlyEnd: error }
      throw error
    }
  }
  return { ...summary, earlyEnd: null }
}
