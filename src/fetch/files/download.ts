import { createHash } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readSync, renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { findNotFile, MAX_MESSAGE_BYTES } from '../../service/notFile.ts'
import type { HttpResponse } from '../../service/request.ts'
import {
  InputError,
  KeyError,
  type RequestSummary,
  StoreError,
  type SyncError,
  TransientError,
} from '../../util/errors.ts'
import { partFileName, removeStaleParts } from '../../util/files/partFiles.ts'
import { makeFolder } from '../../util/files/targetFolder.ts'
import { LONGEST_SECRET, type Redactor } from '../../util/redact.ts'
import { oneLine } from '../../util/text.ts'
import { type AttemptFailure, classifyResponse } from '../classify.ts'
import type { Client, OnRetry } from '../client.ts'
import { type OpenResponse, readBeginning } from '../http.ts'
import {
  createDownloadError,
  DownloadError,
  FORBIDDEN,
  isPublicOnly,
  type LinkPolicy,
  refuseForeign,
  resolveLink,
  resolveRedirect,
} from './links.ts'

/** Where downloads go, and which links are followed. */
export interface DownloadOptions {
  readonly client: Client
  /** Nothing is ever written outside of it. */
  readonly folder: string
  readonly maxBytes: number
  /** Other hosts than the service's whose links are followed: `host` or `host:port`. */
  readonly allowHosts?: readonly string[]
  /** Called for every attempt that is retried. */
  readonly onRetry?: OnRetry
}

/** A complete file. */
export interface Downloaded {
  readonly sha256: string
  readonly bytes: number
  readonly contentType: string | null
  readonly fileName: string | null
  /** Below the folder: the first two digits of the checksum, then the checksum. */
  readonly path: string
}

/** The response to one request of a download: a redirect, a stored file, or neither. */
interface DownloadResponse extends HttpResponse {
  readonly next?: URL
  readonly file?: Downloaded
}

const MAX_REDIRECTS = 5
/** Milliseconds. A file may take longer than a reply. */
const TOTAL_MS = 60 * 60_000
/** How much is kept of a response that is not a file: enough to classify it. */
const EVIDENCE_BYTES = 2048

/** The beginning of the name of a file that is being downloaded. */
const unfinished = (folder: string): string => join(folder, 'download')

/** Creates the folder for downloads, and deletes unfinished files of killed processes. Throws StoreError if it cannot be written. */
export const prepareFolder = (folder: string): Promise<void> =>
  toDisk(async () => {
    makeFolder(folder)
    removeStaleParts(unfinished(folder))
  }, folder)

/**
 * Downloads a file to a path made of its checksum. Returns the error of this file if the next one may succeed; throws errors that end
 * the run.
 */
export async function download(url: string, options: DownloadOptions): Promise<Downloaded | SyncError> {
  const { client, onRetry } = options
  try {
    const result = await client.retry(() => followRedirects(url, options), { onRetry })
    return 'error' in result ? result.error : result
  } catch (error) {
    // A file is refused while it is read, which only throwing ends.
    if (error instanceof DownloadError) return error
    throw error
  }
}

/** Follows an address to its file: one attempt. */
async function followRedirects(url: string, options: DownloadOptions): Promise<Downloaded> {
  const { client, allowHosts = [] } = options
  const links: LinkPolicy = { baseUrl: client.baseUrl, allowHosts }
  let address = resolveLink(url, client.baseUrl)
  refuseForeign(address, links)
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const { file, next } = await requestFile(address, links, options)
    if (file) return file
    address = next!
  }
  throw createDownloadError(`more than ${MAX_REDIRECTS} redirects`)
}

/** Sends one request of a download. Only the service gets the key. */
function requestFile(
  address: URL,
  links: LinkPolicy,
  { client, folder, maxBytes }: DownloadOptions,
): Promise<DownloadResponse> {
  const isService = address.origin === new URL(client.baseUrl).origin
  const headers = { ...client.headers(isService), 'Accept-Encoding': 'identity' }
  return client.call({
    route: 'download',
    url: address.href,
    headers,
    isPublicOnly: isPublicOnly(address, links),
    limits: { totalMs: TOTAL_MS, graceMs: 0, maxBytes },
    read: (opened, { redactor }) => receive(opened, address, links, { folder, maxBytes, redactor }),
    classify: (response, summary, now) => classifyDownload(response, summary, now, isService),
  })
}

/** Classifies a response of a download; undefined for a file or a redirect. */
function classifyDownload(
  response: DownloadResponse,
  summary: RequestSummary,
  now: number,
  isService: boolean,
): AttemptFailure | undefined {
  if (response.file || response.next) return undefined
  const failure = classifyResponse(response, summary, now)
  const { error } = failure ?? {}
  if (error instanceof TransientError) return failure
  const isForbidden = isService && error instanceof KeyError
  const refused = createDownloadError(`the response has status ${response.status}`, isForbidden ? FORBIDDEN : undefined)
  return { error: refused, maxAttempts: 1, coolDownMs: 0, response }
}

/** The target of a file and its limits. */
interface SaveOptions {
  readonly folder: string
  readonly maxBytes: number
  readonly redactor: Redactor
}

/** Reads the response to one request. Throws DownloadError if the file is refused. */
async function receive(
  opened: OpenResponse,
  from: URL,
  links: LinkPolicy,
  options: SaveOptions,
): Promise<DownloadResponse> {
  const { status, headers } = opened
  const nothing: DownloadResponse = { status, headers, body: Buffer.alloc(0) }
  const { location } = headers
  if (status >= 300 && status < 400 && location) return { ...nothing, next: resolveRedirect(location, from, links) }
  if (status !== 200) {
    return { ...nothing, body: await readBeginning(opened, EVIDENCE_BYTES, options.redactor) }
  }
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity')
    throw createDownloadError(`its Content-Encoding ${oneLine(encoding).slice(0, 40)} is not supported`)
  const announced = Number(headers['content-length'])
  if (announced > options.maxBytes) throw createDownloadError(`it has ${announced} bytes (limit ${options.maxBytes})`)
  return { ...nothing, file: await save(opened, options) }
}

/** Saves a file under its checksum, so that equal files are stored once. An incomplete or refused file is deleted. */
async function save(opened: OpenResponse, options: SaveOptions): Promise<Downloaded> {
  const { folder } = options
  const { 'content-type': type, 'content-disposition': disposition = '' } = opened.headers
  const part = partFileName(unfinished(folder))
  try {
    const { bytes, sha256 } = await writePart(opened, part, options)
    refuseMessage(part, bytes, type ?? '')
    const path = `${sha256.slice(0, 2)}/${sha256}`
    mkdirSync(join(folder, sha256.slice(0, 2)), { recursive: true })
    renameSync(part, join(folder, path))
    const contentType = type === undefined ? null : oneLine(type).slice(0, 200)
    return { sha256, bytes, path, contentType, fileName: parseFileName(disposition) }
  } finally {
    rmSync(part, { force: true })
  }
}

/** Writes the body to a file. Throws DownloadError where it is too large or holds the key. */
async function writePart(
  opened: OpenResponse,
  part: string,
  { folder, maxBytes, redactor }: SaveOptions,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash('sha256')
  let bytes = 0
  let tail = ''
  const file = await toDisk(() => open(part, 'w'), folder)
  try {
    for await (const piece of opened.body as AsyncIterable<Buffer>) {
      opened.watch.received(piece.length)
      bytes += piece.length
      if (bytes > maxBytes) throw createDownloadError(`it has more than ${maxBytes} bytes`)
      const text = tail + piece.toString('latin1')
      if (redactor.isIn(text)) throw createDownloadError('it contains the API key')
      // The key may be split between two pieces.
      tail = text.slice(-LONGEST_SECRET)
      hash.update(piece)
      await toDisk(() => file.writeFile(piece), part)
    }
  } finally {
    await file.close()
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** Turns an error of the disk into a StoreError with a hint. */
async function toDisk<T>(work: () => Promise<T>, file: string): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { code } = (error instanceof InputError ? error.cause : error) as NodeJS.ErrnoException
    throw new StoreError(`Cannot write ${file}: ${code}.`, {
      hint: 'Free disk space, check the permissions of the folder, or choose another one with --output.',
      code: 'no-download-folder',
      cause: error,
    })
  }
}

/** Refuses a response with status 200 that is not a file, because it would be stored for good. Content types are unreliable. */
function refuseMessage(file: string, bytes: number, contentType: string): void {
  const reason = findNotFile(bytes, readStart(file, MAX_MESSAGE_BYTES), contentType)
  if (reason !== null) throw createDownloadError(reason)
}

/** The beginning of a file as text. */
function readStart(file: string, bytes: number): string {
  const handle = openSync(file, 'r')
  try {
    const start = Buffer.alloc(bytes)
    return start.toString('utf8', 0, readSync(handle, start))
  } finally {
    closeSync(handle)
  }
}

/** The file name in a response, without folders. It is only shown to people. */
function parseFileName(disposition: string): string | null {
  const [, encoded, plain] = /filename\*=UTF-8''([^;]+)|filename="?([^";]+)"?/i.exec(disposition) ?? []
  try {
    const name = encoded ? decodeURIComponent(encoded) : plain
    const last = name?.split(/[\\/]/).at(-1)?.replaceAll(/\p{C}/gu, '').slice(0, 200)
    return last && !/^\.*$/.test(last) ? last : null
  } catch {
    return null
  }
}
