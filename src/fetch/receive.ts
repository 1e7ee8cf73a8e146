import { open } from 'node:fs/promises'
import type { HttpResponse } from '../service/request.ts'
import { InputError, StoreError } from '../util/errors.ts'
import type { Redactor } from '../util/redact.ts'
import { oneLine } from '../util/text.ts'
import { DownloadError, type LinkPolicy, refusedDownload, resolveRedirect } from './files/links.ts'
import { beginPart, dropParts, type PartialFile } from './files/partialFiles.ts'
import type { OpenResponse } from './http.ts'

/** A download and its limits. */
export interface ReceiveOptions {
  /** The address of the file as the listing has it. */
  readonly url: string
  readonly folder: string
  readonly maxBytes: number
  readonly links: LinkPolicy
  readonly redactor: Redactor
}

/** The response to one request of a download: a redirect, a file that is whole, or neither. */
export interface DownloadResponse extends HttpResponse {
  readonly next?: URL
  readonly part?: PartialFile
  /** Why the download must be tried again. */
  readonly broken?: string
}

const STATUS_OK = 200
const STATUS_PARTIAL = 206
const STATUS_RANGE_NOT_SATISFIABLE = 416
/** How much is kept of a response that is not a file: enough to classify it. */
const EVIDENCE_BYTES = 2048

/** Reads the response to one request. `before`: the part that earlier attempts saved. Throws DownloadError if the file is refused. */
export async function receive(
  opened: OpenResponse,
  from: URL,
  before: PartialFile | null,
  options: ReceiveOptions,
): Promise<DownloadResponse> {
  const { status, headers, body } = opened
  const { folder, url, maxBytes } = options
  const nothing: DownloadResponse = { status, headers, body: Buffer.alloc(0) }
  const { location } = headers
  if (status >= 300 && status < 400 && location)
    return { ...nothing, next: resolveRedirect(location, from, options.links) }
  const broken = (why: string): DownloadResponse => {
    dropParts(folder, url)
    return { ...nothing, broken: why }
  }
  if (status === STATUS_RANGE_NOT_SATISFIABLE)
    return broken('it is shorter than the part downloaded before; it is downloaded again')
  if (status !== STATUS_OK && status !== STATUS_PARTIAL) {
    for await (const piece of body as AsyncIterable<Buffer>)
      return { ...nothing, body: piece.subarray(0, EVIDENCE_BYTES) }
    return nothing
  }
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity')
    throw refusedDownload(`its Content-Encoding ${oneLine(encoding).slice(0, 40)} is not supported`)
  const validator = validatorIn(headers)
  let total = Number(headers['content-length'] ?? Number.NaN)
  if (status === STATUS_PARTIAL) {
    const [, first, last, whole] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(headers['content-range'] ?? '') ?? []
    if (!before || Number(first) !== before.bytes) return broken('the server sent another range than requested')
    if (validator !== null && validator !== before.validator) return broken('it changed during the download')
    total = whole === '*' ? Number(last) + 1 : Number(whole)
    if (Number(last) !== total - 1) return broken('the server sent only part of the requested range')
  }
  if (total > maxBytes) {
    dropParts(folder, url)
    throw refusedDownload(`it has ${total} bytes (limit ${maxBytes})`)
  }
  const part = status === STATUS_PARTIAL ? before! : await toDisk(async () => beginPart(folder, url, validator), folder)
  const bytes = await append(opened, part, options)
  if (!Number.isNaN(total) && bytes !== total) return broken(`received ${bytes} of ${total} bytes`)
  return { ...nothing, part: { ...part, bytes } }
}

/** The validator that shows that two parts are of the same file: a strong ETag, or a date of change well before the response. */
function validatorIn({ etag, 'last-modified': changed, date }: Readonly<Record<string, string>>): string | null {
  if (etag !== undefined) return etag.startsWith('"') ? etag : null
  // Within a minute of the response it may change again under the same date (RFC 9110, 8.8.2.2).
  return changed !== undefined && Date.parse(date ?? '') - Date.parse(changed) >= 60_000 ? changed : null
}

/** How many characters of the previous piece are searched again: the key may be split between two pieces, with escapes. */
const OVERLAP = 16 * 1024

/** Appends the body to the part, and returns how many bytes it has then. Throws DownloadError where it is too large or holds the key. */
async function append(
  opened: OpenResponse,
  part: PartialFile,
  { url, folder, maxBytes, redactor }: ReceiveOptions,
): Promise<number> {
  let bytes = part.bytes
  let tail = ''
  const file = await toDisk(() => open(part.file, part.bytes > 0 ? 'a' : 'w'), part.file)
  try {
    for await (const piece of opened.body as AsyncIterable<Buffer>) {
      opened.watch.received(piece.length)
      bytes += piece.length
      if (bytes > maxBytes) throw refusedDownload(`it has more than ${maxBytes} bytes`)
      const text = tail + piece.toString('latin1')
      if (redactor.isIn(text)) throw refusedDownload('it contains the API key')
      tail = text.slice(-OVERLAP)
      await toDisk(() => file.writeFile(piece), part.file)
    }
  } catch (error) {
    if (error instanceof DownloadError || part.validator === null) dropParts(folder, url)
    throw error
  } finally {
    await file.close()
  }
  return bytes
}

/** Turns an error of the disk into a StoreError with a hint. */
async function toDisk<T>(work: () => Promise<T>, file: string): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { code } = (error instanceof InputError ? error.cause : error) as NodeJS.ErrnoException
    throw new StoreError(`Cannot write ${file}: ${code}.`, {
      hint: 'Free disk space, check the permissions of the directory, or choose another one with --output.',
      code: 'no-download-folder',
      cause: error,
    })
  }
}
