import type { Transform } from 'node:stream'
import {
  brotliDecompressSync,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  gunzipSync,
  inflateRawSync,
  inflateSync,
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
export const tooLarge = (maxBytes: number): BodyError =>
  new BodyError(
    'BODY_TOO_LARGE',
    `limit: ${maxBytes < MIB ? `${maxBytes} bytes` : `${Math.floor(maxBytes / MIB)} MiB`}`,
  )

/** How large a body may be. */
export interface SizeLimits {
  /** The largest body, on the wire and decoded. */
  readonly maxBytes: number
  /**
   * How many times its size on the wire a body may become. Values pack to a twentieth, and the best packers reach a hundredth.
   */
  readonly maxRatio: number
}

interface Options {
  readonly maxOutputLength?: number
  readonly chunkSize: number
}

/** One content encoding: decoded at once, which is faster, or piece by piece, which needs no room for the whole. */
interface Coding {
  readonly whole: (body: Buffer, options: Options) => Buffer
  readonly pieces: (options: Options) => Transform
}

// A frame may request a window of 128 MB; RFC 9659 allows 8 MB on the web.
const ZSTD = { params: { [constants.ZSTD_d_windowLogMax]: 23 } }
const GZIP: Coding = { whole: gunzipSync, pieces: createGunzip }
const CODINGS: Readonly<Record<string, Coding>> = {
  br: { whole: brotliDecompressSync, pieces: createBrotliDecompress },
  gzip: GZIP,
  'x-gzip': GZIP,
  deflate: { whole: inflateSync, pieces: createInflate },
  zstd: {
    whole: (body, options) => zstdDecompressSync(body, { ...options, ...ZSTD }),
    pieces: (options) => createZstdDecompress({ ...options, ...ZSTD }),
  },
}
/** `deflate` without the header of zlib, as some servers send it. */
const RAW: Coding = { whole: inflateRawSync, pieces: createInflateRaw }

/** How many encodings may be nested; more is an attack. */
const MOST_CODINGS = 3
/** By what factor responses usually grow at most when they are decompressed. */
const USUAL_RATIO = 32
/** A body that becomes larger than this is measured before room is made for it. */
const SMALL = 8 * MIB
/** A smaller body is never taken for a decompression bomb, whatever its ratio. */
const HARMLESS = 32 * MIB
const DECODED_CHUNK = 64 * 1024

const findCoding = (name: string, body: Buffer): Coding => {
  const coding = CODINGS[name]
  if (!coding) throw new BodyError('BODY_ENCODING', JSON.stringify(name.slice(0, 40)))
  return name === 'deflate' && (body[0]! & 0x0f) !== 8 ? RAW : coding
}

/** The most bytes that a body may decompress to, by its size on the wire. */
const mostBytes = (wire: number, { maxBytes, maxRatio }: SizeLimits): number =>
  Math.min(maxBytes, Math.max(HARMLESS, wire * maxRatio))

const tooMuch = (wire: number, { maxBytes, maxRatio }: SizeLimits): BodyError =>
  mostBytes(wire, { maxBytes, maxRatio }) < maxBytes
    ? new BodyError('BODY_BOMB', `the body decompresses to more than ${maxRatio} times its size`)
    : tooLarge(maxBytes)

/** How many bytes a packed body becomes, found without making room for them; throws when they are more than `most`. */
function measure(body: Buffer, coding: Coding, most: number, stop: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    let bytes = 0
    const unpacking = coding.pieces({ chunkSize: DECODED_CHUNK })
    const end = (): void =>
      void unpacking.destroy(new BodyError('BODY_DAMAGED', 'stopped while the body was decompressed'))
    stop.addEventListener('abort', end, { once: true })
    unpacking.on('data', ({ length }: Buffer) => {
      bytes += length
      if (bytes > most) unpacking.destroy(new RangeError('too much'))
    })
    unpacking.on('end', () => resolve(bytes))
    unpacking.on('error', reject)
    unpacking.on('close', () => stop.removeEventListener('abort', end))
    unpacking.end(body)
  })
}

async function decodeContent(
  body: Buffer,
  name: string,
  wire: number,
  bounds: SizeLimits,
  stop: AbortSignal,
): Promise<Buffer> {
  const coding = findCoding(name, body)
  const most = mostBytes(wire, bounds)
  const likely = Math.max(DECODED_CHUNK, body.length * USUAL_RATIO)
  try {
    // In one piece: several would have to be joined, which needs twice the memory. Room that stays unused costs nothing.
    if (likely <= SMALL)
      try {
        return coding.whole(body, { maxOutputLength: Math.min(most, SMALL), chunkSize: Math.min(most, likely) })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw error
      }
    const bytes = await measure(body, coding, most, stop)
    return coding.whole(body, { chunkSize: Math.max(DECODED_CHUNK, bytes) })
  } catch (error) {
    if (error instanceof BodyError) throw error
    if (error instanceof RangeError) throw tooMuch(wire, bounds)
    throw new BodyError('BODY_DAMAGED', `the ${name} body is truncated or damaged`, error)
  }
}

/**
 * Undoes the content encodings of a body, the last one first. Throws BodyError when it is damaged or too large, before room is
 * made for it.
 */
export async function decode(
  body: Buffer,
  encoding: string | undefined,
  bounds: SizeLimits,
  stop: AbortSignal,
): Promise<Buffer> {
  const names = (encoding ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
  if (names.length > MOST_CODINGS) throw new BodyError('BODY_ENCODING', `the body is compressed ${names.length} times`)
  let decoded = body
  for (const name of names.reverse())
    if (decoded.length > 0) decoded = await decodeContent(decoded, name, body.length, bounds, stop)
  return decoded
}
