import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, zstdCompress, zstdCompressSync, zstdDecompress } from 'node:zlib'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** A body as `_reply` stores it. */
export interface StoredBody {
  /** SHA-256 of the body before compression, hex. */
  readonly hash: string
  /** The body compressed by zstd. */
  readonly compressed: Buffer
}

/** zstd's default level, with a window that saves memory. The checksum reveals damage on the disk. */
const PARAMS = { [constants.ZSTD_c_windowLog]: 18, [constants.ZSTD_c_checksumFlag]: 1 }

const MIN_CHUNK_BYTES = 16 * 1024
const MAX_CHUNK_BYTES = 128 * 1024 * 1024

/** Smaller bodies are compressed at once: to hand one to another thread takes half as long as to compress 143 kB. */
const SMALL_BYTES = 256 * 1024

/** Hashes a body, and compresses a large one on another thread. It must not change meanwhile. */
export async function compressBody(body: Buffer): Promise<StoredBody> {
  if (body.length < SMALL_BYTES)
    return { hash: hash('sha256', body), compressed: zstdCompressSync(body, { params: PARAMS }) }
  // Each chunk takes a turn of the event loop. Most compressed bodies fit into one.
  const chunkSize = Math.max(MIN_CHUNK_BYTES, body.length >> 3)
  const compressing = compress(body, { params: PARAMS, pledgedSrcSize: body.length, chunkSize })
  return { hash: hash('sha256', body), compressed: await compressing }
}

/** Restores a body of `size` bytes. Throws if it was damaged. */
export const decompressBody = (compressed: Buffer, size: number): Promise<Buffer> =>
  // Larger than the body, so that one turn of the event loop is enough. A damaged size must not take all memory.
  decompress(compressed, { chunkSize: Math.min(size + MIN_CHUNK_BYTES, MAX_CHUNK_BYTES) })
