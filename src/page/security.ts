import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { parse } from 'hono/utils/cookie'
import type { Words } from './words/words.ts'

/** Who may send requests. */
export interface Door {
  /** Further host names by which the page may be reached. */
  readonly names: readonly string[]
  /** The token that every request must show; null where only this machine can connect. */
  readonly token: string | null
}

/** Why a request is refused. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 405
  readonly reason: keyof Words['common']['refusals']
}

/** Headers of every answer: nothing from elsewhere runs in the page, frames it, reads it, or learns its address. */
export const SECURITY_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
} as const

/** The name in a Host header, without the port; undefined where it is illegal. */
function hostName(host: string): string | undefined {
  const [, name] = /^([\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.exec(host) ?? []
  return name?.toLowerCase().replace(/\.$/, '')
}

const HERE = ['localhost', '127.0.0.1', '[::1]']

/**
 * Whether a Host header names this server. A page of another site can make its own name lead to this machine (DNS rebinding),
 * and could then read our answers as its own; the name in the header reveals that. An IP address cannot be redirected like
 * that, so with a token any address is accepted.
 */
function isOwnHost(host: string, { names, token }: Door): boolean {
  const name = hostName(host)
  if (name === undefined) return false
  if (HERE.includes(name) || names.includes(name)) return true
  return token !== null && isIP(name.replace(/^\[|\]$/g, '')) !== 0
}

/** Whether two texts are equal, in constant time. */
function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** The name of the cookie that holds the token. */
export const TOKEN_COOKIE = 'indicator_sync_token'

/** A cookie of a request. */
export const cookieOf = ({ cookie = '' }: IncomingHttpHeaders, name: string): string | undefined =>
  parse(cookie, name)[name]

/** Whether a request shows the token: in a cookie, as a bearer, or in its address. */
function hasToken({ headers, url = '' }: IncomingMessage, token: string): boolean {
  const [, bearer] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? []
  const shown = [cookieOf(headers, TOKEN_COOKIE), bearer, URL.parse(url, 'http://here')?.searchParams.get('token')]
  return shown.some((text) => typeof text === 'string' && isEqual(text, token))
}

/** Whether another site caused the request. Browsers say so in a header that pages cannot change. */
export const isForeign = (headers: IncomingHttpHeaders): boolean =>
  ['cross-site', 'same-site'].includes(String(headers['sec-fetch-site']))

/** Whether it is requested as a page, as by a link; not as a picture, a frame or data. */
const isOpened = (headers: IncomingHttpHeaders): boolean =>
  headers['sec-fetch-mode'] === 'navigate' && ['document', undefined].includes(headers['sec-fetch-dest'] as string)

/** Why a request is refused, whatever it asks for; undefined where it is accepted. Checked first. */
export function refusal(request: IncomingMessage, door: Door): Refusal | undefined {
  const { method, headers, headersDistinct, url = '' } = request
  const hosts = headersDistinct.host ?? []
  if (hosts.length !== 1 || !isOwnHost(hosts[0]!, door)) return { status: 403, reason: 'host' }
  if (!url.startsWith('/')) return { status: 400, reason: 'path' }
  // A URL parser reads it as a slash, and what follows as the name of a host.
  if (url.includes('\\')) return { status: 400, reason: 'backslash' }
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, reason: 'method' }
  if (isForeign(headers) && !isOpened(headers)) return { status: 403, reason: 'foreign' }
  if (door.token !== null && !hasToken(request, door.token)) return { status: 401, reason: 'token' }
  return undefined
}

/** Why data is refused to a request from elsewhere, if only our own pages may request it. */
export const foreignRefusal = (headers: IncomingHttpHeaders): Refusal | undefined =>
  isForeign(headers) ? { status: 403, reason: 'expensive' } : undefined
