import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** A body as `_reply` stores it. */
export interface StoredBody {
  /** SHA-256 of the body before compression, hex. */
  readonly hash: string
  /** The body compressed by zstd. */
  readonly compressed: Buffer
}

/** As fast as zstd's level 5, but 8.7 instead of 10 bytes a value: its tables fit into the processor's cache. */
const PARAMS = {
  [constants.ZSTD_c_compressionLevel]: 5,
  [constants.ZSTD_c_strategy]: constants.ZSTD_lazy2,
  [constants.ZSTD_c_windowLog]: 18,
  [constants.ZSTD_c_hashLog]: 14,
  [constants.ZSTD_c_chainLog]: 14,
  [constants.ZSTD_c_searchLog]: 1,
  [constants.ZSTD_c_minMatch]: 6,
  // Detects damage on the disk.
  [constants.ZSTD_c_checksumFlag]: 1,
}

const MIN_CHUNK = 16 * 1024
const MAX_CHUNK = 128 * 1024 * 1024

/** Hashes a body, and compresses it on another thread. The body must not change meanwhile. */
export async function compressBody(body: Buffer): Promise<StoredBody> {
  // Each chunk takes a turn of the event loop. Most compressed bodies fit into one.
  const chunkSize = Math.max(MIN_CHUNK, body.length >> 3)
  const compressing = compress(body, { params: PARAMS, pledgedSrcSize: body.length, chunkSize })
  return { hash: hash('sha256', body), compressed: await compressing }
}

/** Restores a body of `size` bytes. Throws if it was damaged. */
export const decompressBody = (compressed: Buffer, size: number): Promise<Buffer> =>
  // Larger than the body, so that one turn of the event loop is enough. A damaged size must not take all memory.
  decompress(compressed, { chunkSize: Math.min(size + MIN_CHUNK, MAX_CHUNK) })
