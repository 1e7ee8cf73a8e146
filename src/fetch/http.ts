import { type Dispatcher, request } from 'undici'
import type { HttpResponse } from '../service/request.ts'
import { version } from '../util/package.ts'
import { LONGEST_SECRET, type Redactor } from '../util/redact.ts'
import { type Deadlines, type DeadlineTimer, startDeadlines } from './deadlines.ts'
import { createTooLargeError, decode, type SizeLimits } from './decode.ts'

/** Limits of one call. */
export interface Limits extends Deadlines, SizeLimits {}

/** The live service takes up to 40 s for its catalogue. A body of 100 MB needs 400 MB of memory. */
export const HTTP_LIMITS: Limits = {
  timeoutMs: 60_000,
  totalMs: 600_000,
  minRate: { bytes: 16_384, ms: 30_000 },
  graceMs: 3_000,
  maxBytes: 100 * 1024 * 1024,
  maxRatio: 500,
}

/** The part of an error's body that is read: the reason is at its beginning. */
const ERROR_BODY_BYTES = 64 * 1024

/** Calls `onSend` when the connection is open and the request is about to be written. */
const notifySend =
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

/** A GET request, its connections and its limits. */
export interface SendOptions {
  readonly dispatcher: Dispatcher
  readonly url: string | URL
  readonly headers: Readonly<Record<string, string>>
  readonly limits: Limits
  /** Removes the key from everything that is received, before anything else reads it. */
  readonly redactor: Redactor
  /** Ends the run, and this call soon after. */
  readonly signal: AbortSignal
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
  const { url, headers, limits, redactor, signal } = sending
  const watch = startDeadlines(limits, signal)
  const dispatcher = sending.dispatcher.compose(notifySend(watch.sent))
  let body: Dispatcher.ResponseData['body'] | undefined
  try {
    const response = await request(url, { dispatcher, headers, signal: watch.signal })
    body = response.body
    watch.headReceived()
    const flatHeaders = Object.entries(response.headers).map(([name, value]) => [
      name,
      redactor.text(Array.isArray(value) ? value.join(', ') : (value ?? '')),
    ])
    return await read({ status: response.statusCode, headers: Object.fromEntries(flatHeaders), body, watch }, sending)
  } catch (error) {
    // After a deadline, the deadline is the reason of every error.
    throw watch.signal.aborted ? watch.signal.reason : error
  } finally {
    watch.end()
    // Discards the unread rest of a response.
    if (body && !body.readableEnded) body.on('error', () => undefined).destroy()
  }
}

/** Reads a body of at most `maxBytes`. A longer one is an error, or with `mayCut` is read only so far. */
async function readAll({ body, headers, watch }: OpenResponse, maxBytes: number, mayCut: boolean): Promise<Buffer> {
  const announced = Number(headers['content-length'] ?? Number.NaN)
  if (announced > maxBytes && !mayCut) throw createTooLargeError(maxBytes)
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of body as AsyncIterable<Buffer>) {
    bytes += piece.length
    watch.received(piece.length)
    pieces.push(piece)
    if (bytes <= maxBytes) continue
    if (mayCut) break
    throw createTooLargeError(maxBytes)
  }
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}

/** Reads the beginning of a body. More is read than returned, so that a secret at its end is whole when it is removed. */
export async function readBeginning(opened: OpenResponse, bytes: number, redactor: Redactor): Promise<Buffer> {
  const beginning = await readAll(opened, bytes + LONGEST_SECRET, true)
  return redactor.bytes(beginning).subarray(0, bytes)
}

/** Reads a whole response, and removes the key wherever the service repeats it. */
export async function readResponse(
  opened: OpenResponse,
  { limits, redactor }: Pick<SendOptions, 'limits' | 'redactor'>,
): Promise<HttpResponse> {
  const { status, headers } = opened
  const isOk = status === 200
  const wire = await readAll(opened, isOk ? limits.maxBytes : ERROR_BODY_BYTES + LONGEST_SECRET, !isOk)
  const sizeLimits = isOk ? limits : { ...limits, maxBytes: 16 * ERROR_BODY_BYTES }
  let body: Buffer
  try {
    body = decode(wire, headers['content-encoding'], sizeLimits)
  } catch (error) {
    if (isOk) throw error
    // The status of an error is enough.
    body = Buffer.alloc(0)
  }
  const clean = redactor.bytes(body)
  return { status, headers, body: isOk ? clean : clean.subarray(0, ERROR_BODY_BYTES) }
}

/** The header by which this program identifies itself. */
export const userAgentHeader = (): Readonly<Record<string, string>> => ({ 'User-Agent': `indicator-sync/${version()}` })
