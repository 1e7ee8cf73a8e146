import { PermanentError } from '../../util/errors.ts'
import { isPrivateAddress } from '../../util/host.ts'
import { REDACTED } from '../../util/redact.ts'
import { oneLine } from '../../util/text.ts'

/* Follows addresses of the service, and others only if the service redirects there or the user allows them. */

/** A file is refused for good. Other files may still be downloaded. */
export class DownloadError extends PermanentError {}

/** The hosts whose links are followed. */
export interface LinkPolicy {
  readonly baseUrl: string
  /** Other hosts than the service's whose links are followed: `host` or `host:port`. */
  readonly allowHosts: readonly string[]
}

/** The code of a file that the service refused (401 or 403): by the key, or for this file alone. */
export const FORBIDDEN = 'download-forbidden'

export const createDownloadError = (message: string, code = 'download-refused'): DownloadError =>
  new DownloadError(message, { code })

/** The error of a redirect into a private network, by its address or by what its name resolves to. */
export const createPrivateError = (host: string): DownloadError =>
  createDownloadError(`it redirects to a private network; to follow it, pass --allow-host ${host}`)

const isHttp = (url: URL | null): url is URL => url !== null && ['http:', 'https:'].includes(url.protocol)
const isAllowed = ({ host, hostname }: URL, { allowHosts }: LinkPolicy): boolean =>
  allowHosts.includes(host) || allowHosts.includes(hostname)

/** Resolves the address of a file, which may be a path below the address of the service. */
export function resolveLink(url: string, baseUrl: string): URL {
  const address = url.startsWith('/') && !url.startsWith('//') ? URL.parse(`${baseUrl}${url}`) : URL.parse(url)
  if (!isHttp(address))
    throw createDownloadError(`${JSON.stringify(oneLine(url).slice(0, 100))} is not a valid file address`)
  return address
}

/** Refuses a link of a listing to another host than the service's, unless it is allowed. */
export function refuseForeign(address: URL, policy: LinkPolicy): void {
  const service = new URL(policy.baseUrl)
  if (address.origin === service.origin) return
  if (!isAllowed(address, policy))
    throw createDownloadError(`it is on another host; to follow such links, pass --allow-host ${address.host}`)
  if (isDowngrade(service, address)) throw createDownloadError('its address is http, but the service uses https')
}

const isDowngrade = (from: URL, to: URL): boolean => from.protocol === 'https:' && to.protocol === 'http:'

/** Resolves the target of a redirect. The service may redirect to storage elsewhere, which does not get the key. */
export function resolveRedirect(location: string, from: URL, policy: LinkPolicy): URL {
  // The key is redacted in headers.
  if (location.includes(REDACTED)) throw createDownloadError('it redirects to an address that contains the key')
  const next = URL.parse(location, from.href)
  if (!isHttp(next)) throw createDownloadError('it redirects to an invalid address')
  if (isDowngrade(from, next)) throw createDownloadError('it redirects from https to http')
  const service = new URL(policy.baseUrl)
  if (next.origin === service.origin) return next
  if (next.username !== '' || next.password !== '')
    throw createDownloadError('it redirects to an address with a password')
  if (isPrivateAddress(next) && isPublicOnly(next, policy)) throw createPrivateError(next.host)
  return next
}

/** Whether the host of a link must be public. The service, and hosts that the user allows, may be in a private network. */
export function isPublicOnly(address: URL, policy: LinkPolicy): boolean {
  const service = new URL(policy.baseUrl)
  return address.origin !== service.origin && !isPrivateAddress(service) && !isAllowed(address, policy)
}
