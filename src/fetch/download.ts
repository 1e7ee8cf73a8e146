import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { KeyError, PermanentError, type RequestSummary, StoreError, TransientError } from '../base/errors.ts'
import { isInside } from '../base/host.ts'
import { MARK } from '../base/redact.ts'
import { oneLine } from '../base/visible.ts'
import { type Failure, judge } from './classify.ts'
import { type Answer, exchange, type Opened } from './http.ts'
import type { Line, OnRetry } from './line.ts'
import { beginPart, dropParts, findPart, type Part } from './parts.ts'

/** Where downloads go, and over what. */
export interface DownloadOptions {
  /** The one way to the network: its pace, its budget, its patience. */
  readonly line: Line
  /** Nothing is ever written outside of it. */
  readonly folder: string
  readonly maxBytes: number
  /** Other hosts than the service's whose links are followed: `host` or `host:port`. */
  readonly allowHosts?: readonly string[]
  /** Whether the key was good for another file: then a refusal is of this file. */
  readonly keyIsGood?: boolean
  /** Told of every attempt that is repeated. */
  readonly onRetry?: OnRetry
}

/** A file that came whole. */
export interface Downloaded {
  readonly sha256: string
  readonly bytes: number
  readonly contentType: string | null
  readonly fileName: string | null
  /** Below the folder: the first two digits of the checksum, then the checksum. */
  readonly path: string
}

/** Why a file did not come, and would not come another time; the next one may. */
export class DownloadError extends PermanentError {}

const MAX_REDIRECTS = 5
/** A file may take longer than an answer: it is gone on with where it broke off. */
const TOTAL_MS = 60 * 60_000

const refuse = (message: string): DownloadError => new DownloadError(message, { code: 'download-refused' })

/** The address of a file: the service writes it as a path below its own. */
export function addressOf(url: string, baseUrl: string): URL {
  const address = url.startsWith('/') && !url.startsWith('//') ? URL.parse(`${baseUrl}${url}`) : URL.parse(url)
  if (!address || !['http:', 'https:'].includes(address.protocol))
    throw refuse(`${JSON.stringify(oneLine(url).slice(0, 100))} is no address of a file`)
  return address
}

/** Refuses a link of a listing that does not lead to the service itself, unless its host is allowed. */
function refuseForeign(address: URL, { line, allowHosts = [] }: DownloadOptions): void {
  const own = new URL(line.baseUrl)
  if (address.origin === own.origin) return
  if (!allowHosts.includes(address.host) && !allowHosts.includes(address.hostname))
    throw refuse(`it lies on another host; to follow such links say --allow-host ${address.host}`)
  refuseWeaker(own, address)
}

/** Refuses to go from an encrypted address to one that is not. */
function refuseWeaker(from: URL, to: URL): void {
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw refuse('it leads from an encrypted address to one that is not')
}

/** Where a redirect leads. Redirects of the service may lead to storage elsewhere, which is not told the key. */
function nextOf(location: string, from: URL, options: DownloadOptions): URL {
  const { line, allowHosts = [] } = options
  // Headers come without the key.
  if (location.includes(MARK)) throw refuse('it leads to an address with the key in it')
  const next = URL.parse(location, from.href)
  if (!next || !['http:', 'https:'].includes(next.protocol)) throw refuse('it leads to an address that is none')
  refuseWeaker(from, next)
  const own = new URL(line.baseUrl)
  if (next.origin === own.origin) return next
  if (next.username !== '' || next.password !== '') throw refuse('it leads to an address with a password')
  if (isInside(next) && !isInside(own) && !allowHosts.includes(next.host) && !allowHosts.includes(next.hostname))
    throw refuse(`it leads into the network of this machine; where that is meant say --allow-host ${next.host}`)
  return next
}

/** The name that an answer gives its file, for people only: no folder of it survives. */
function nameIn(disposition: string): string | null {
  const [, encoded, plain] = /filename\*=UTF-8''([^;]+)|filename="?([^";]+)"?/i.exec(disposition) ?? []
  try {
    const name = encoded ? decodeURIComponent(encoded) : plain
    const last = name?.split(/[\\/]/).at(-1)?.replaceAll(/\p{C}/gu, '').slice(0, 200)
    return last && !/^\.*$/.test(last) ? last : null
  } catch {
    return null
  }
}

/** What one answer of a download was: a redirect, a file that came, or neither. */
interface Came extends Answer {
  readonly next?: URL
  readonly part?: Part
  /** Why what came is no file, and may be one another time. */
  readonly broken?: string
}

/** Downloads a file to a place that its checksum names; what an earlier try left is gone on with where the server can. Throws the error that says why it did not come. */
export async function download(url: string, options: DownloadOptions): Promise<Downloaded> {
  const { line } = options
  const address = addressOf(url, line.baseUrl)
  refuseForeign(address, options)
  return line.persist(
    async () => {
      let to = address
      for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
        const came = await ask(to, url, options)
        if (came.part) return settle(came.part.file, options.folder, url, came.headers)
        to = came.next!
      }
      throw refuse(`it leads on and on, over ${MAX_REDIRECTS} times`)
    },
    ({ tries }) => tries,
    options.onRetry,
  )
}

/** Sends one request of a download: to the service with the key, to others without. */
function ask(to: URL, url: string, options: DownloadOptions): Promise<Came> {
  const { line, folder, maxBytes } = options
  const own = to.origin === new URL(line.baseUrl).origin
  const before = findPart(folder, url)
  const headers = {
    ...line.ourselves,
    ...(own ? line.key : {}),
    'Accept-Encoding': 'identity',
    ...(before ? { Range: `bytes=${before.bytes}-`, 'If-Range': before.validator! } : {}),
  }
  const limits = {
    ...line.sending.limits,
    totalMs: Math.max(TOTAL_MS, line.sending.limits.totalMs),
    graceMs: 0,
    maxBytes,
  }
  const summary = { route: 'download', url: to.href }
  return line.pass(
    summary,
    () =>
      exchange({ ...line.sending, limits, url: to, headers }, (opened) => receive(opened, to, url, before, options)),
    (came, asked, now) => judgeCame(came, asked, now, own && !options.keyIsGood),
  )
}

/** What is wrong with an answer; a refusal of the storage is none of the key. */
function judgeCame(came: Came, summary: RequestSummary, now: number, ofKey: boolean): Failure | undefined {
  if (came.broken !== undefined) {
    const error = new TransientError(`${summary.route}: ${came.broken}.`, { code: 'bad-part', request: summary })
    return { error, tries: 4, coolDownMs: 0, answer: came, alive: true }
  }
  if (came.part || came.next) return undefined
  const failure = judge(came, summary, now)
  if (failure && (failure.error instanceof TransientError || (ofKey && failure.error instanceof KeyError)))
    return failure
  return { error: refuse(`the answer has status ${came.status}`), tries: 1, coolDownMs: 0, answer: came }
}

/** Reads what came of a request. */
async function receive(
  opened: Opened,
  from: URL,
  url: string,
  before: Part | null,
  options: DownloadOptions,
): Promise<Came> {
  const { status, headers, body } = opened
  const { folder } = options
  const nothing: Came = { status, headers, body: Buffer.alloc(0) }
  const { location } = headers
  if (status >= 300 && status < 400 && location) return { ...nothing, next: nextOf(location, from, options) }
  const broken = (why: string): Came => {
    dropParts(folder, url)
    return { ...nothing, broken: why }
  }
  if (status === 416) return broken('it is shorter than what came of it before; it is begun anew')
  if (status !== 200 && status !== 206) {
    const pieces: Buffer[] = []
    for await (const piece of body as AsyncIterable<Buffer>) if (pieces.push(piece) > 0) break
    return { ...nothing, body: Buffer.concat(pieces).subarray(0, 2048) }
  }
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity')
    throw refuse(`it is packed with ${oneLine(encoding).slice(0, 40)}, which was not asked for`)
  const validator = validatorIn(headers)
  let total = Number(headers['content-length'] ?? Number.NaN)
  if (status === 206) {
    const [, first, last, whole] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(headers['content-range'] ?? '') ?? []
    if (!before || Number(first) !== before.bytes) return broken('another part of it came than was asked for')
    if (validator !== null && validator !== before.validator) return broken('it has changed since it was begun')
    total = whole === '*' ? Number(last) + 1 : Number(whole)
    if (Number(last) !== total - 1) return broken('a part of its rest came')
  }
  if (total > options.maxBytes) {
    dropParts(folder, url)
    throw refuse(`it has ${total} bytes, and ${options.maxBytes} are allowed`)
  }
  const begin = async (): Promise<Part> => (status === 206 ? before! : beginPart(folder, url, validator))
  const part = await toDisk(begin(), folder)
  const bytes = await write(opened, part, url, options)
  if (!Number.isNaN(total) && bytes !== total) return broken(`${bytes} of its ${total} bytes came`)
  return { ...nothing, part: { ...part, bytes } }
}

/** What shows that two parts are of the same file: a strong ETag, or a date of change that lies long enough before the answer. */
function validatorIn({ etag, 'last-modified': changed, date }: Readonly<Record<string, string>>): string | null {
  if (etag !== undefined) return etag.startsWith('"') ? etag : null
  // Within a minute of the answer it may change again under the same date (RFC 9110, 8.8.2.2).
  return changed !== undefined && Date.parse(date ?? '') - Date.parse(changed) >= 60_000 ? changed : null
}

/** So much of what came before is looked at again, for the key may lie across two pieces. */
const OVERLAP = 1024

/** Writes what comes behind the part, and answers how many bytes it has then. */
async function write(opened: Opened, part: Part, url: string, options: DownloadOptions): Promise<number> {
  const { redactor } = options.line.sending
  let bytes = part.bytes
  let tail = ''
  const file = await toDisk(open(part.file, part.bytes > 0 ? 'a' : 'w'), part.file)
  try {
    for await (const piece of opened.body as AsyncIterable<Buffer>) {
      opened.watch.came(piece.length)
      bytes += piece.length
      if (bytes > options.maxBytes) throw refuse(`it is over ${options.maxBytes} bytes`)
      const text = tail + piece.toString('latin1')
      if (redactor.found(text)) throw refuse('the key stands in it')
      tail = text.slice(-OVERLAP)
      await toDisk(file.writeFile(piece), part.file)
    }
  } catch (error) {
    if (error instanceof DownloadError || part.validator === null) dropParts(options.folder, url)
    throw error
  } finally {
    await file.close()
  }
  return bytes
}

/** Says in our words what the disk said. */
async function toDisk<T>(doing: Promise<T>, file: string): Promise<T> {
  try {
    return await doing
  } catch (error) {
    throw new StoreError(`${file} cannot be written: ${(error as NodeJS.ErrnoException).code}.`, {
      hint: 'Make room or give this user the right to write, or name another folder with --folder.',
      code: 'no-download-folder',
      cause: error,
    })
  }
}

/** Puts a whole file where its checksum says; equal files are kept once. */
async function settle(
  file: string,
  folder: string,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<Downloaded> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(file)) hash.update(piece as Buffer)
  const sum = hash.digest('hex')
  const path = `${sum.slice(0, 2)}/${sum}`
  mkdirSync(join(folder, sum.slice(0, 2)), { recursive: true })
  const bytes = statSync(file).size
  renameSync(file, join(folder, path))
  rmSync(`${file}.json`, { force: true })
  dropParts(folder, url)
  const type = headers['content-type']
  return {
    ...{ sha256: sum, bytes, path },
    contentType: type === undefined ? null : oneLine(type).slice(0, 200),
    fileName: nameIn(headers['content-disposition'] ?? ''),
  }
}
