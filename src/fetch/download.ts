import { createHash } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Dispatcher, request } from 'undici'
import { InputError } from '../base/errors.ts'

/** Where downloads go, and whom the key is told. */
export interface DownloadOptions {
  readonly baseUrl: string
  readonly key: string
  readonly userAgent: string
  /** Nothing is ever written outside of it. */
  readonly folder: string
  readonly maxBytes: number
  readonly dispatcher: Dispatcher
  readonly signal: AbortSignal
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

/** Why a file did not come; the next one may. */
export class DownloadError extends Error {
  readonly status: number | null
  constructor(message: string, status: number | null = null) {
    super(message)
    this.status = status
  }
}

const MAX_REDIRECTS = 5
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The address of a file: the service writes it as a path below its own. */
export function addressOf(url: string, baseUrl: string): URL {
  const address = url.startsWith('/') && !url.startsWith('//') ? URL.parse(`${baseUrl}${url}`) : URL.parse(url)
  if (!address || !['http:', 'https:'].includes(address.protocol))
    throw new DownloadError(`${JSON.stringify(url.slice(0, 100))} is no address of a file`)
  return address
}

/** Whether a file is the service's own, and so may be told the key. */
export function isOwn(url: string, baseUrl: string): boolean {
  try {
    return addressOf(url, baseUrl).origin === new URL(baseUrl).origin
  } catch {
    return false
  }
}

/** The name that an answer gives its file, for people only: no folder of it survives. */
function nameIn(disposition: string): string | null {
  const [, encoded, plain] = /filename\*=UTF-8''([^;]+)|filename="?([^";]+)"?/i.exec(disposition) ?? []
  try {
    const name = encoded ? decodeURIComponent(encoded) : plain
    return name?.split(/[\\/]/).at(-1)?.replaceAll(/\p{C}/gu, '').slice(0, 200) || null
  } catch {
    return null
  }
}

/** What came of a file before, and what shows that it is still the same one. */
interface Part {
  readonly file: string
  readonly bytes: number
  readonly validator: string | null
}

function partOf(folder: string, url: string): Part {
  const file = join(folder, 'parts', sha256(url))
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  try {
    return { file, bytes, validator: bytes > 0 ? readFileSync(`${file}.validator`, 'utf8') : null }
  } catch {
    return { file, bytes, validator: null }
  }
}

/** Follows redirects by hand: the key goes to the service alone, to whatever host they lead. */
async function open(address: URL, part: Part, options: DownloadOptions): Promise<Dispatcher.ResponseData> {
  const own = new URL(options.baseUrl).origin
  let to = address
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const headers = {
      'User-Agent': options.userAgent,
      ...(to.origin === own ? { 'x-api-key': options.key } : {}),
      ...(part.validator ? { Range: `bytes=${part.bytes}-`, 'If-Range': part.validator } : {}),
    }
    const answer = await request(to, { dispatcher: options.dispatcher, headers, signal: options.signal })
    const { location } = answer.headers
    if (answer.statusCode < 300 || answer.statusCode >= 400 || typeof location !== 'string') return answer
    await answer.body.dump()
    const next: URL | null = URL.parse(location, to.href)
    if (!next || !['http:', 'https:'].includes(next.protocol))
      throw new DownloadError('it leads to an address that is none', answer.statusCode)
    if (to.protocol === 'https:' && next.protocol === 'http:')
      throw new DownloadError('it leads from an encrypted address to one that is not', answer.statusCode)
    to = next
  }
  throw new DownloadError(`it leads on and on, over ${MAX_REDIRECTS} times`)
}

const text = (value: string | string[] | undefined): string | null => (typeof value === 'string' ? value : null)

/** Lets so many bytes through and no more. */
function limit(already: number, maxBytes: number): Transform {
  let bytes = already
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      bytes += piece.length
      done(bytes > maxBytes ? new DownloadError(`it is over ${maxBytes} bytes`) : null, piece)
    },
  })
}

/** Downloads a file to a place that its checksum names; what an earlier try left is gone on with where the server can. */
export async function download(url: string, options: DownloadOptions): Promise<Downloaded> {
  const { folder, maxBytes, signal } = options
  const part = partOf(folder, url)
  const answer = await open(addressOf(url, options.baseUrl), part, options)
  const { statusCode, headers, body } = answer
  const resumes = statusCode === 206 && part.validator !== null
  if (statusCode !== 200 && !resumes) {
    await body.dump()
    if (statusCode === 416) rmSync(part.file, { force: true })
    throw new DownloadError(`the answer has status ${statusCode}`, statusCode)
  }
  const already = resumes ? part.bytes : 0
  const announced = Number(text(headers['content-length']) ?? Number.NaN)
  if (already + announced > maxBytes) {
    body.destroy()
    throw new DownloadError(`it has ${already + announced} bytes, and ${maxBytes} are allowed`)
  }
  mkdirSync(join(folder, 'parts'), { recursive: true })
  const validator = text(headers.etag) ?? text(headers['last-modified'])
  if (validator && !validator.startsWith('W/')) writeFileSync(`${part.file}.validator`, validator)
  else rmSync(`${part.file}.validator`, { force: true })
  try {
    await pipeline(body, limit(already, maxBytes), createWriteStream(part.file, { flags: resumes ? 'a' : 'w' }), {
      signal,
    })
  } catch (error) {
    if (error instanceof DownloadError) rmSync(part.file, { force: true })
    throw error
  }
  return settle(part.file, folder, {
    contentType: text(headers['content-type']),
    fileName: nameIn(text(headers['content-disposition']) ?? ''),
  })
}

/** Puts a whole file where its checksum says; equal files are kept once. */
async function settle(
  file: string,
  folder: string,
  about: Pick<Downloaded, 'contentType' | 'fileName'>,
): Promise<Downloaded> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(file)) hash.update(piece as Buffer)
  const sum = hash.digest('hex')
  const path = `${sum.slice(0, 2)}/${sum}`
  mkdirSync(join(folder, sum.slice(0, 2)), { recursive: true })
  const bytes = statSync(file).size
  renameSync(file, join(folder, path))
  rmSync(`${file}.validator`, { force: true })
  return { sha256: sum, bytes, path, ...about }
}

/** A number of bytes as people write it: 500kB, 100MB, 2GB, or plain. */
export function parseBytes(written: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)\s*(k|M|G)?B?$/i.exec(written.trim()) ?? []
  const factor = { k: 1e3, m: 1e6, g: 1e9 }[(unit ?? '').toLowerCase()] ?? 1
  if (number === undefined)
    throw new InputError(`${JSON.stringify(written)} is no size.`, {
      hint: 'Write 500kB, 100MB or 2GB.',
      code: 'bad-size',
    })
  return Number(number) * factor
}
