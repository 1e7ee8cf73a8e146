import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { KeyError, type RequestSummary, type SyncError, TransientError } from '../../util/errors.ts'
import { oneLine } from '../../util/text.ts'
import { type AttemptFailure, classifyResponse } from '../classify.ts'
import { type Client, hasFailed, type OnRetry } from '../client.ts'
import { send } from '../http.ts'
import { type DownloadResponse, receive } from '../receive.ts'
import { DownloadError, type LinkPolicy, refusedDownload, refuseForeign, resolveLink } from './links.ts'
import { dropParts, findPart, type PartialFile } from './partialFiles.ts'

/** Where downloads go, and over what. */
export interface DownloadOptions {
  readonly client: Client
  /** Nothing is ever written outside of it. */
  readonly folder: string
  readonly maxBytes: number
  /** Other hosts than the service's whose links are followed: `host` or `host:port`. */
  readonly allowHosts?: readonly string[]
  /** Whether the key was accepted for another file: then a refusal is about this file. */
  readonly keyIsGood?: boolean
  /** Called for every attempt that is retried. */
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

const MAX_REDIRECTS = 5
/** A file may take longer than a response, because its download is resumed. */
const TOTAL_MS = 60 * 60_000

const linkPolicy = ({ client, allowHosts = [] }: DownloadOptions): LinkPolicy => ({
  baseUrl: client.baseUrl,
  allowHosts,
})

/**
 * Downloads a file to a path made of its checksum; resumes an earlier download where the server allows it. Returns why this file
 * did not come where the next one may; throws what ends the run.
 */
export async function download(url: string, options: DownloadOptions): Promise<Downloaded | SyncError> {
  try {
    const result = await options.client.retry(() => followRedirects(url, options), { onRetry: options.onRetry })
    return hasFailed(result) ? result.error : result
  } catch (error) {
    // A file is refused in the middle of reading it, which only throwing ends.
    if (error instanceof DownloadError) return error
    throw error
  }
}

/** Follows an address to its file, once. */
async function followRedirects(url: string, options: DownloadOptions): Promise<Downloaded> {
  let to = resolveLink(url, options.client.baseUrl)
  refuseForeign(to, linkPolicy(options))
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const { part, headers, next } = await requestDownload(to, url, options)
    if (part) {
      refuseOther(part, headers, options.folder, url)
      return moveToChecksum(part.file, options.folder, url, headers)
    }
    to = next!
  }
  throw refusedDownload(`more than ${MAX_REDIRECTS} redirects`)
}

/** Sends one request of a download: to the service with the key, to others without. */
function requestDownload(to: URL, url: string, options: DownloadOptions): Promise<DownloadResponse> {
  const { client, folder, maxBytes } = options
  const own = to.origin === new URL(client.baseUrl).origin
  const before = findPart(folder, url)
  const headers = {
    ...client.headers(own),
    'Accept-Encoding': 'identity',
    ...(before ? { Range: `bytes=${before.bytes}-`, 'If-Range': before.validator! } : {}),
  }
  const links = linkPolicy(options)
  return client.call(
    { route: 'download', url: to.href },
    (sending) => {
      const limits = { ...sending.limits, totalMs: Math.max(TOTAL_MS, sending.limits.totalMs), graceMs: 0, maxBytes }
      const { redactor } = sending
      return send({ ...sending, limits, url: to, headers }, (opened) =>
        receive(opened, to, before, { url, folder, maxBytes, redactor, links }),
      )
    },
    (response, summary, now) => classifyDownload(response, summary, now, own && !options.keyIsGood),
  )
}

/** The error of a response; `ofKey`: whether a refusal is about the key. That of another host is not. */
function classifyDownload(
  response: DownloadResponse,
  summary: RequestSummary,
  now: number,
  ofKey: boolean,
): AttemptFailure | undefined {
  if (response.broken !== undefined) {
    const error = new TransientError(`${summary.route}: ${response.broken}.`, { code: 'bad-part', request: summary })
    return { error, maxAttempts: 4, coolDownMs: 0, response, alive: true }
  }
  if (response.part || response.next) return undefined
  const failure = classifyResponse(response, summary, now)
  if (failure && (failure.error instanceof TransientError || (ofKey && failure.error instanceof KeyError)))
    return failure
  return {
    error: refusedDownload(`the response has status ${response.status}`),
    maxAttempts: 1,
    coolDownMs: 0,
    response,
  }
}

/** A message of the service is not longer. */
const MAX_MESSAGE_BYTES = 4096

/** What the service says in place of a file, as `{"message":"No values for specified archive"}`. */
function messageIn({ file, bytes }: PartialFile): string | null {
  if (bytes > MAX_MESSAGE_BYTES) return null
  try {
    const { message, ...others } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    return typeof message === 'string' && Object.keys(others).every((key) => /^status$/i.test(key)) ? message : null
  } catch {
    return null
  }
}

/** Refuses what the service responses with status 200 in place of a file: it would be stored for good. */
function refuseOther(part: PartialFile, headers: Readonly<Record<string, string>>, folder: string, url: string): void {
  const message = messageIn(part)
  const why =
    part.bytes === 0
      ? 'the response is empty'
      : /^text\/html\b/i.test(headers['content-type'] ?? '')
        ? 'the response is a web page instead of a file'
        : message !== null
          ? `the service sent the message ${JSON.stringify(oneLine(message).slice(0, 200))} instead of a file`
          : null
  if (why === null) return
  dropParts(folder, url)
  throw refusedDownload(why)
}

/** Moves a complete file to the path of its checksum; equal files are kept once. */
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
    fileName: nameIn(headers['content-disposition'] ?? ''),
  }
}

/** The name that a response gives its file, for people only: no folder of it survives. */
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
