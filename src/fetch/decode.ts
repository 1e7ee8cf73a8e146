import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  type ZlibOptions,
  zstdDecompressSync,
} from 'node:zlib'

/** Why a body cannot be used, with a code for the classification. */
export class BodyError extends Error {
  readonly code: 'BODY_TOO_LARGE' | 'BODY_DAMAGED' | 'BODY_BOMB' | 'BODY_ENCODING'
  constructor(code: BodyError['code'], message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

const MIB = 1024 * 1024

/** The error of a body over the size limit. */
export const createTooLargeError = (maxBytes: number): BodyError =>
  new BodyError(
    'BODY_TOO_LARGE',
    `limit: ${maxBytes < MIB ? `${maxBytes} bytes` : `${Math.floor(maxBytes / MIB)} MiB`}`,
  )

/** How large a body may be. */
export interface SizeLimits {
  /** The largest body, on the wire and decoded. */
  readonly maxBytes: number
  /** The largest ratio of decoded to compressed size. Values compress to a twentieth, with the best compressors to a hundredth. */
  readonly maxRatio: number
}

type Decoder = (body: Buffer, options: Pick<ZlibOptions, 'chunkSize' | 'maxOutputLength'>) => Buffer

// A frame may request a window of 128 MB; RFC 9659 allows 8 MB on the web.
const ZSTD = { params: { [constants.ZSTD_d_windowLogMax]: 23 } }
const DECODERS: Readonly<Record<string, Decoder>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: (body, options) => {
    // Some servers omit the header of zlib.
    const inflate = (body[0]! & 0x0f) === 8 ? inflateSync : inflateRawSync
    return inflate(body, options)
  },
  zstd: (body, options) => zstdDecompressSync(body, { ...options, ...ZSTD }),
}

/** The maximum number of nested encodings; more is an attack. */
const MAX_ENCODINGS = 3
/** A smaller body is never refused as a decompression bomb, whatever its ratio. */
const HARMLESS_BYTES = 32 * MIB
/** The usual maximum of the ratio. */
const USUAL_RATIO = 32
const MIN_CHUNK_BYTES = 64 * 1024

function decodeOnce(body: Buffer, name: string, wireBytes: number, { maxBytes, maxRatio }: SizeLimits): Buffer {
  const decoder = DECODERS[name]
  if (!decoder) throw new BodyError('BODY_ENCODING', JSON.stringify(name.slice(0, 40)))
  const maxOutputLength = Math.min(maxBytes, Math.max(HARMLESS_BYTES, wireBytes * maxRatio))
  // One chunk need not be joined with others. The part that is not filled takes no memory.
  const chunkSize = Math.max(MIN_CHUNK_BYTES, Math.min(maxOutputLength, body.length * USUAL_RATIO))
  try {
    return decoder(body, { maxOutputLength, chunkSize })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE')
      throw new BodyError('BODY_DAMAGED', `the ${name} body is truncated or damaged`, error)
    throw maxOutputLength < maxBytes
      ? new BodyError('BODY_BOMB', `the body decompresses to more than ${maxRatio} times its size`)
      : createTooLargeError(maxBytes)
  }
}

/** Undoes the content encodings of a body, the last one first. Throws BodyError if it is damaged or too large. */
export function decode(body: Buffer, encoding: string | undefined, limits: SizeLimits): Buffer {
  const names = (encoding ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
  if (names.length > MAX_ENCODINGS) throw new BodyError('BODY_ENCODING', `the body is compressed ${names.length} times`)
  let decoded = body
  for (const name of names.reverse()) if (decoded.length > 0) decoded = decodeOnce(decoded, name, body.length, limits)
  return decoded
}
