import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import { Agent, type Dispatcher, request } from 'undici'

/** One answer, before anybody judges it. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** After content decoding. */
  readonly body: Buffer
}

/** Limits of one sending. */
export interface Limits {
  /** Milliseconds until the headers must have come, and between two pieces of the body. */
  readonly timeoutMs: number
  /** The largest body, on the wire and decoded. */
  readonly maxBytes: number
}

export const LIMITS: Limits = { timeoutMs: 120_000, maxBytes: 512 * 1024 * 1024 }

/** What a body cannot be, with a code for the classification. */
export class BodyError extends Error {
  readonly code: 'BODY_TOO_LARGE' | 'BODY_DAMAGED'
  constructor(code: BodyError['code'], message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

type Decoder = (body: Buffer, options: { maxOutputLength: number; chunkSize: number }) => Buffer
const DECODERS: Readonly<Record<string, Decoder>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
}

/** So many times do answers grow when they are unpacked, at most as a rule: values pack to a twentieth. */
const USUAL_RATIO = 32

/** Undoes the content encoding; at once rather than as a stream, which is faster for bodies of this size. */
function decode(body: Buffer, encoding: string | undefined, maxBytes: number): Buffer {
  const decoder = DECODERS[(encoding ?? '').trim().toLowerCase()]
  if (!decoder || body.length === 0) return body
  try {
    // In one piece, for several would be joined, and need twice the memory; what of it is not filled costs nothing.
    const chunkSize = Math.min(maxBytes, Math.max(64 * 1024, body.length * USUAL_RATIO))
    return decoder(body, { maxOutputLength: maxBytes, chunkSize })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw new BodyError('BODY_TOO_LARGE', `the body is over ${maxBytes} bytes`, error)
    throw new BodyError('BODY_DAMAGED', `the ${encoding} body is truncated or damaged`, error)
  }
}

/** Keeps connections open between requests; redirects are never followed, so the key goes to one host only. */
export const createAgent = ({ timeoutMs }: Limits, connections: number): Dispatcher =>
  new Agent({
    connections,
    connect: { timeout: Math.min(timeoutMs, 20_000) },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  })

/** Sends one GET and reads the whole answer. Throws what the network threw, or BodyError. */
export async function send(
  dispatcher: Dispatcher,
  url: string,
  headers: Readonly<Record<string, string>>,
  { maxBytes }: Limits,
): Promise<Answer> {
  const answer = await request(url, { dispatcher, headers: { 'Accept-Encoding': 'br, gzip', ...headers } })
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of answer.body) {
    bytes += (piece as Buffer).length
    if (bytes > maxBytes) throw new BodyError('BODY_TOO_LARGE', `the body is over ${maxBytes} bytes`)
    pieces.push(piece as Buffer)
  }
  const flat = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  )
  const body = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
  return { status: answer.statusCode, headers: flat, body: decode(body, flat['content-encoding'], maxBytes) }
}
