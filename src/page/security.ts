import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { parse } from 'hono/utils/cookie'
import { sha256 } from '../util/checksum.ts'
import type { Words } from './words/words.ts'

/** Who may send requests. */
export interface Door {
  /** Further host names by which the page may be reached without a token. */
  readonly names: readonly string[]
  /** The token that every request needs; null if only this machine can connect. */
  readonly token: string | null
}

/** Why a request is refused. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 405
  readonly reason: keyof Words['common']['refusals']
}

/** Headers of every response: other sites cannot run in the page, frame it, read it, or learn its address. */
export const SECURITY_HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
} as const

const HERE = ['localhost', '127.0.0.1', '[::1]']

/**
 * Whether a Host header names this server. The name of another site can lead to this machine (DNS rebinding), which would let it
 * read responses. With a token it could not, because the browser has none for that name.
 */
function isOwnHost(host: string, { names, token }: Door): boolean {
  const [, written] = /^([\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.exec(host) ?? []
  const name = written?.toLowerCase().replace(/\.$/, '')
  if (name === undefined) return false
  return token !== null || HERE.includes(name) || names.includes(name)
}

/** Whether two texts are equal, in constant time. */
const isEqual = (a: string, b: string): boolean => timingSafeEqual(Buffer.from(sha256(a)), Buffer.from(sha256(b)))

/** The name of the cookie that holds a token; a browser sends it to all servers of a host. */
export const tokenCookie = (token: string): string => `indicator_sync_${sha256(token).slice(0, 8)}`

export const readCookie = ({ cookie = '' }: IncomingHttpHeaders, name: string): string | undefined =>
  parse(cookie, name)[name]

/** Whether a request shows the token: in a cookie, as a bearer, or in its address. */
function hasToken({ headers, url = '' }: IncomingMessage, token: string): boolean {
  const [, bearer] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? []
  const shown = [
    readCookie(headers, tokenCookie(token)),
    bearer,
    URL.parse(url, 'http://here')?.searchParams.get('token'),
  ]
  return shown.some((text) => typeof text === 'string' && isEqual(text, token))
}

/** Whether another site caused the request; pages cannot change this header. */
export const isForeign = (headers: IncomingHttpHeaders): boolean =>
  ['cross-site', 'same-site'].includes(String(headers['sec-fetch-site']))

/** Why a request is refused; undefined if it is accepted. Checked first. */
export function refusal(request: IncomingMessage, door: Door): Refusal | undefined {
  const { method, headers, headersDistinct, url = '' } = request
  const hosts = headersDistinct.host ?? []
  if (hosts.length !== 1 || !isOwnHost(hosts[0]!, door)) return { status: 403, reason: 'host' }
  if (!url.startsWith('/')) return { status: 400, reason: 'path' }
  // A URL parser reads a backslash as a slash, and the rest as a host.
  if (url.includes('\\')) return { status: 400, reason: 'backslash' }
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, reason: 'method' }
  // A link opens a page; pictures, frames and data are refused.
  const isOpened =
    headers['sec-fetch-mode'] === 'navigate' && /^(document|undefined)$/.test(String(headers['sec-fetch-dest']))
  if (isForeign(headers) && !isOpened) return { status: 403, reason: 'foreign' }
  if (door.token !== null && !hasToken(request, door.token)) return { status: 401, reason: 'token' }
  return undefined
}
