import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { KeyError, type RequestSummary, type SyncError, TransientError } from '../../util/errors.ts'
import { oneLine } from '../../util/text.ts'
import { type AttemptFailure, classifyResponse } from '../classify.ts'
import type { Client, OnRetry, SendCall } from '../client.ts'
import { send } from '../http.ts'
import { type DownloadResponse, receive } from '../receive.ts'
import { DownloadError, type LinkPolicy, refusedDownload, refuseForeign, resolveLink } from './links.ts'
import { dropParts, findPart, type PartialFile } from './partialFiles.ts'

/** Where downloads go, and which links are followed. */
export interface DownloadOptions {
  readonly client: Client
  /** Nothing is ever written outside of it. */
  readonly folder: string
  readonly maxBytes: number
  /** Other hosts than the service's whose links are followed: `host` or `host:port`. */
  readonly allowHosts?: readonly string[]
  /** Whether the key was accepted for another file, so that a refusal is about this file. */
  readonly keyIsGood?: boolean
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

const MAX_REDIRECTS = 5
/** Milliseconds. A file may take longer than a reply, because its download is resumed. */
const TOTAL_MS = 60 * 60_000

/**
 * Downloads a file to a path made of its checksum, and resumes an earlier download if the server allows it. Returns the error of this
 * file if the next one may succeed; throws errors that end the run.
 */
export async function download(url: string, options: DownloadOptions): Promise<Downloaded | SyncError> {
  const { client, onRetry } = options
  try {
    const result = await client.retry((call) => followRedirects(call, url, options), { onRetry })
    return 'error' in result ? result.error : result
  } catch (error) {
    // A file is refused while it is read, which only throwing ends.
    if (error instanceof DownloadError) return error
    throw error
  }
}

/** Follows an address to its file: one attempt. */
async function followRedirects(call: SendCall, url: string, options: DownloadOptions): Promise<Downloaded> {
  const { client, folder, allowHosts = [] } = options
  const links: LinkPolicy = { baseUrl: client.baseUrl, allowHosts }
  let address = resolveLink(url, client.baseUrl)
  refuseForeign(address, links)
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const { part, headers, next } = await requestFile(call, address, url, links, options)
    if (part) {
      refuseMessage(part, headers, folder, url)
      return moveToChecksum(part.file, folder, url, headers)
    }
    address = next!
  }
  throw refusedDownload(`more than ${MAX_REDIRECTS} redirects`)
}

/** Sends one request of a download. Only the service gets the key. */
function requestFile(
  call: SendCall,
  address: URL,
  url: string,
  links: LinkPolicy,
  { client, folder, maxBytes, keyIsGood = false }: DownloadOptions,
): Promise<DownloadResponse> {
  const isService = address.origin === new URL(client.baseUrl).origin
  const before = findPart(folder, url)
  const headers = {
    ...client.headers(isService),
    'Accept-Encoding': 'identity',
    ...(before ? { Range: `bytes=${before.bytes}-`, 'If-Range': before.validator! } : {}),
  }
  return call(
    { route: 'download', url: address.href },
    (sending) => {
      const { redactor } = sending
      const limits = { ...sending.limits, totalMs: Math.max(TOTAL_MS, sending.limits.totalMs), graceMs: 0, maxBytes }
      return send({ ...sending, limits, url: address, headers }, (opened) =>
        receive(opened, address, before, { url, folder, maxBytes, redactor, links }),
      )
    },
    (response, summary, now) => classifyDownload(response, summary, now, isService && !keyIsGood),
  )
}

/** Classifies a response of a download; undefined for a file or a redirect. `isKeyTested`: whether a refusal may be about the key. */
function classifyDownload(
  response: DownloadResponse,
  summary: RequestSummary,
  now: number,
  isKeyTested: boolean,
): AttemptFailure | undefined {
  const { status, broken, part, next } = response
  if (broken !== undefined) {
    const error = new TransientError(`${summary.route}: ${broken}.`, { code: 'bad-part', request: summary })
    return { error, maxAttempts: 4, coolDownMs: 0, response, isHostUp: true }
  }
  if (part || next) return undefined
  const failure = classifyResponse(response, summary, now)
  const { error } = failure ?? {}
  if (error instanceof TransientError || (isKeyTested && error instanceof KeyError)) return failure
  return { error: refusedDownload(`the response has status ${status}`), maxAttempts: 1, coolDownMs: 0, response }
}

/** The longest message of the service. */
const MAX_MESSAGE_BYTES = 4096

/** The message that the service sent instead of a file, such as `{"message":"No values for specified archive"}`. */
function readMessage({ file, bytes }: PartialFile): string | null {
  if (bytes > MAX_MESSAGE_BYTES) return null
  try {
    const { message, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    return typeof message === 'string' && Object.keys(rest).every((key) => /^status$/i.test(key)) ? message : null
  } catch {
    return null
  }
}

/** Refuses a response with status 200 that is no file, because it would be stored for good. */
function refuseMessage(
  part: PartialFile,
  headers: Readonly<Record<string, string>>,
  folder: string,
  url: string,
): void {
  const message = readMessage(part)
  const reason =
    part.bytes === 0
      ? 'the response is empty'
      : /^text\/html\b/i.test(headers['content-type'] ?? '')
        ? 'the response is a web page instead of a file'
        : message !== null
          ? `the service sent the message ${JSON.stringify(oneLine(message).slice(0, 200))} instead of a file`
          : null
  if (reason === null) return
  dropParts(folder, url)
  throw refusedDownload(reason)
}

/** Moves a complete file to the path of its checksum, so that equal files are stored once. */
async function moveToChecksum(
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
    sha256: sum,
    bytes,
    path,
    contentType: type === undefined ? null : oneLine(type).slice(0, 200),
    fileName: parseFileName(headers['content-disposition'] ?? ''),
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
