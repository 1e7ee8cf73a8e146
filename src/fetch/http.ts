import { Agent, type Dispatcher, request } from 'undici'
import type { Redactor } from '../base/redact.ts'
import { BodyError, type Bounds, decode } from './decode.ts'
import { createWatch, type Deadlines, type Watch } from './watch.ts'

/** One answer, before anybody judges it. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** After content decoding; of an answer that is no success only the beginning. */
  readonly body: Buffer
}

/** Limits of one sending. */
export interface Limits extends Deadlines, Bounds {}

/** A catalogue takes the live service 40 s; 100 MB are 600,000 values, and fit into 400 MB of memory with all that becomes of them. */
export const LIMITS: Limits = {
  timeoutMs: 120_000,
  totalMs: 600_000,
  least: { bytes: 16_384, ms: 30_000 },
  graceMs: 3_000,
  maxBytes: 100 * 1024 * 1024,
  maxRatio: 500,
}

/** So much of an answer that is no success is read: what it says of itself stands at its beginning. */
const BEGINNING = 64 * 1024

/** Keeps connections open between requests; redirects are never followed by themselves, so the key goes to one host only. Time is watched for every sending. */
export const createAgent = ({ timeoutMs }: Pick<Limits, 'timeoutMs'>, connections: number): Dispatcher =>
  new Agent({
    connections,
    connect: { timeout: Math.min(timeoutMs, 20_000) },
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 64 * 1024,
  })

/** What goes out, over what, and what ends it. */
export interface Sending {
  readonly dispatcher: Dispatcher
  readonly url: string | URL
  readonly headers: Readonly<Record<string, string>>
  readonly limits: Limits
  /** Takes the key out of whatever comes back, before anybody sees it. */
  readonly redactor: Redactor
  /** Ends the run, and this sending soon after. */
  readonly stop: AbortSignal
}

/** An answer whose head has come. */
export interface Opened {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Dispatcher.ResponseData['body']
  readonly watch: Watch
}

/** Sends one GET, and reads the answer as the reader says, under the deadlines. Throws what the network threw, DeadlineError or BodyError. */
export async function exchange<T>(sending: Sending, read: (opened: Opened) => Promise<T>): Promise<T> {
  const { dispatcher, url, headers, limits, redactor, stop } = sending
  const watch = createWatch(limits, stop)
  let body: Dispatcher.ResponseData['body'] | undefined
  try {
    const answer = await request(url, { dispatcher, headers, signal: watch.signal, onInfo: watch.info })
    body = answer.body
    watch.head()
    const flat = Object.entries(answer.headers).map(([name, value]) => [
      name,
      redactor.text(Array.isArray(value) ? value.join(', ') : (value ?? '')),
    ])
    return await read({ status: answer.statusCode, headers: Object.fromEntries(flat), body, watch })
  } catch (error) {
    // Whatever was thrown once a deadline had passed, the deadline is the reason.
    throw watch.signal.aborted ? watch.signal.reason : error
  } finally {
    watch.end()
    // What was not read to its end is not read any more.
    if (body && !body.readableEnded) body.on('error', () => undefined).destroy()
  }
}

/** Reads a body into one piece of memory, up to a number of bytes; `cut`: what is beyond them is left, and no error. */
async function readAll({ body, headers, watch }: Opened, maxBytes: number, cut: boolean): Promise<Buffer> {
  const announced = Number(headers['content-length'] ?? Number.NaN)
  if (announced > maxBytes && !cut) throw new BodyError('BODY_TOO_LARGE', `the body has ${announced} bytes`)
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of body as AsyncIterable<Buffer>) {
    bytes += piece.length
    watch.came(piece.length)
    pieces.push(piece)
    if (bytes <= maxBytes) continue
    if (cut) break
    throw new BodyError('BODY_TOO_LARGE', `the body is over ${maxBytes} bytes`)
  }
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}

/** Sends one GET and reads the whole answer, without the key wherever the service may have said it. */
export const send = (sending: Sending): Promise<Answer> =>
  exchange({ ...sending, headers: { 'Accept-Encoding': 'br, gzip', ...sending.headers } }, async (opened) => {
    const { limits, redactor } = sending
    const { status, headers, watch } = opened
    const good = status === 200
    const wire = await readAll(opened, good ? limits.maxBytes : BEGINNING, !good)
    const bounds = good ? limits : { ...limits, maxBytes: 16 * BEGINNING }
    const body = await decode(wire, headers['content-encoding'], bounds, watch.signal).catch((error: unknown) => {
      if (good) throw error
      // The status says enough.
      return Buffer.alloc(0)
    })
    return { status, headers, body: redactor.bytes(body) }
  })
