import type { Socket } from 'node:net'
import { Agent, buildConnector, type Dispatcher, request } from 'undici'
import type { Redactor } from '../util/redact.ts'
import { DeadlineError, type Deadlines, type DeadlineTimer, startDeadlines } from './deadlines.ts'
import { decode, type SizeLimits, tooLarge } from './decode.ts'

/** A response as it came, success or not. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** After content decoding; of an error only the beginning. */
  readonly body: Buffer
}

/** Limits of one sending. */
export interface Limits extends Deadlines, SizeLimits {}

/** The live service takes up to 40 s for its catalogue. 100 MB hold 600,000 values, which need 400 MB of memory in all. */
export const HTTP_LIMITS: Limits = {
  timeoutMs: 60_000,
  totalMs: 600_000,
  minRate: { bytes: 16_384, ms: 30_000 },
  graceMs: 3_000,
  maxBytes: 100 * 1024 * 1024,
  maxRatio: 500,
}

/** Milliseconds to connect: at most, a service out of reach is known within a minute. */
const CONNECT_MS = 10_000

/** How much of the body of an error is read: the reason is at its beginning. */
const ERROR_BODY_BYTES = 64 * 1024

const CARRIAGE_RETURN = 13
const LINE_FEED = 10
const [ZERO, ONE, TWO] = Buffer.from('012')
/** Where the three digits of the status stand in `HTTP/1.1 200`. */
const STATUS_AT = 9

/**
 * Turns interim responses `100 Continue`, which a server may send unasked, into `102 Processing`: undici ends a connection on the
 * first, and passes the second on to `onInfo`.
 */
function passContinue(socket: Socket): void {
  let inHead = false
  /** The place in the head of a response, its status so far, and the line ends in a row. */
  let [at, status, ends] = [0, '', 0]
  const begin = (): void => {
    inHead = true
    ;[at, status, ends] = [0, '', 0]
  }
  const passed = (bytes: Buffer): void => {
    for (let i = 0; i < bytes.length && inHead; i++, at++) {
      const byte = bytes[i]!
      if (at >= STATUS_AT && at < STATUS_AT + 3) status += String.fromCharCode(byte)
      if (at === STATUS_AT && byte !== ONE) inHead = false
      if (at === STATUS_AT + 2 && byte === ZERO && status === '100') bytes[i] = TWO!
      if (byte !== CARRIAGE_RETURN) ends = byte === LINE_FEED ? ends + 1 : 0
      if (ends === 2) {
        begin()
        at = -1
      }
    }
  }
  const { write, read } = socket
  // A request begins with a write, and the next bytes that are read are its response.
  socket.write = ((...given: Parameters<typeof write>) => {
    begin()
    return write.apply(socket, given)
  }) as typeof write
  socket.read = (size?: number) => {
    const bytes: unknown = read.call(socket, size)
    if (inHead && Buffer.isBuffer(bytes)) passed(bytes)
    return bytes
  }
}

/** Keeps connections open between requests; redirects are never followed by themselves, so the key goes to one host only. Time is watched for every sending. */
export function createAgent(
  { timeoutMs }: Pick<Limits, 'timeoutMs'>,
  connections: number,
  stop: AbortSignal,
): Dispatcher {
  const connect = buildConnector({ timeout: Math.min(timeoutMs, CONNECT_MS) })
  return new Agent({
    connections,
    // A connection that is not made yet carries no request: it ends with the run, even in the middle of a handshake.
    connect(options, done) {
      const socket = connect(options, (error, made) => {
        stop.removeEventListener('abort', end)
        if (error) done(error, null)
        else {
          passContinue(made)
          done(null, made)
        }
      }) as unknown as Socket
      const end = (): void => void socket.destroy(new DeadlineError('STOPPED', 'stopped by a signal'))
      if (stop.aborted) end()
      else stop.addEventListener('abort', end, { once: true })
      return socket
    },
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 64 * 1024,
  })
}

/** Calls `onSend` when a connection is there and the request is about to be written. */
const calling =
  (onSend: () => void): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) =>
    dispatch(
      options,
      Object.assign(Object.create(handler) as typeof handler, {
        onRequestStart(...[controller, context]: Parameters<NonNullable<typeof handler.onRequestStart>>) {
          onSend()
          handler.onRequestStart?.(controller, context)
        },
      }),
    )

/** What is sent, over which connections, within which limits. */
export interface SendOptions {
  readonly dispatcher: Dispatcher
  readonly url: string | URL
  readonly headers: Readonly<Record<string, string>>
  readonly limits: Limits
  /** Removes the key from everything that comes back, before anything else reads it. */
  readonly redactor: Redactor
  /** Ends the run, and this sending soon after. */
  readonly stop: AbortSignal
}

/** A response whose headers have arrived and whose body has not been read. */
export interface OpenResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Dispatcher.ResponseData['body']
  readonly watch: DeadlineTimer
}

/** Sends one GET and lets `read` consume the response, within the deadlines. Throws network errors, DeadlineError or BodyError. */
export async function send<T>(
  sending: SendOptions,
  read: (opened: OpenResponse, sending: SendOptions) => Promise<T>,
): Promise<T> {
  const { url, headers, limits, redactor, stop } = sending
  const watch = startDeadlines(limits, stop)
  const dispatcher = sending.dispatcher.compose(calling(watch.sent))
  let body: Dispatcher.ResponseData['body'] | undefined
  try {
    const response = await request(url, { dispatcher, headers, signal: watch.signal, onInfo: watch.infoReceived })
    body = response.body
    watch.headReceived()
    const flat = Object.entries(response.headers).map(([name, value]) => [
      name,
      redactor.text(Array.isArray(value) ? value.join(', ') : (value ?? '')),
    ])
    return await read({ status: response.statusCode, headers: Object.fromEntries(flat), body, watch }, sending)
  } catch (error) {
    // Whatever was thrown after a deadline had passed, the deadline is the reason.
    throw watch.signal.aborted ? watch.signal.reason : error
  } finally {
    watch.end()
    // The rest of a response that was not read to its end is discarded.
    if (body && !body.readableEnded) body.on('error', () => undefined).destroy()
  }
}

/** Reads a body of at most `maxBytes`; a longer one is an error, or with `cut` is read only so far. */
async function readAll({ body, headers, watch }: OpenResponse, maxBytes: number, cut: boolean): Promise<Buffer> {
  const announced = Number(headers['content-length'] ?? Number.NaN)
  if (announced > maxBytes && !cut) throw tooLarge(maxBytes)
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of body as AsyncIterable<Buffer>) {
    bytes += piece.length
    watch.received(piece.length)
    pieces.push(piece)
    if (bytes <= maxBytes) continue
    if (cut) break
    throw tooLarge(maxBytes)
  }
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}

/** Reads a whole response; the key is removed wherever the service repeats it. */
export async function readResponse(
  opened: OpenResponse,
  { limits, redactor }: Pick<SendOptions, 'limits' | 'redactor'>,
): Promise<HttpResponse> {
  const { status, headers, watch } = opened
  const good = status === 200
  const wire = await readAll(opened, good ? limits.maxBytes : ERROR_BODY_BYTES, !good)
  const bounds = good ? limits : { ...limits, maxBytes: 16 * ERROR_BODY_BYTES }
  const body = await decode(wire, headers['content-encoding'], bounds, watch.signal).catch((error: unknown) => {
    if (good) throw error
    // The status is enough.
    return Buffer.alloc(0)
  })
  return { status, headers, body: redactor.bytes(body) }
}

/** The header by which this program names itself to a service, and to the receivers of notifications. */
export const userAgentHeader = (version: string): Readonly<Record<string, string>> => ({
  'User-Agent': `indicator-sync/${version}`,
})
