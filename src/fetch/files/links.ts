import { PermanentError } from '../../util/errors.ts'
import { isInside } from '../../util/host.ts'
import { REDACTED } from '../../util/redact.ts'
import { oneLine } from '../../util/text.ts'

/* Which addresses of files are followed: those of the service, and others only where the service or the user leads there. */

/** Why a file was not downloaded and would not be another time. Other files may still be downloaded. */
export class DownloadError extends PermanentError {}

/** Whose links are followed. */
export interface LinkPolicy {
  readonly baseUrl: string
  /** Other hosts than the service's whose links are followed: `host` or `host:port`. */
  readonly allowHosts?: readonly string[]
}

/** The error that refuses a download. */
export const refusedDownload = (message: string): DownloadError =>
  new DownloadError(message, { code: 'download-refused' })

const isHttp = (url: URL | null): url is URL => url !== null && ['http:', 'https:'].includes(url.protocol)
const isAllowed = ({ host, hostname }: URL, { allowHosts = [] }: LinkPolicy): boolean =>
  allowHosts.includes(host) || allowHosts.includes(hostname)

/** The address of a file: the service writes it as a path below its own. */
export function resolveLink(url: string, baseUrl: string): URL {
  const address = url.startsWith('/') && !url.startsWith('//') ? URL.parse(`${baseUrl}${url}`) : URL.parse(url)
  if (!isHttp(address))
    throw refusedDownload(`${JSON.stringify(oneLine(url).slice(0, 100))} is not a valid file address`)
  return address
}

/** Refuses a link of a listing that does not lead to the service itself, unless its host is allowed. */
export function refuseForeign(address: URL, policy: LinkPolicy): void {
  const own = new URL(policy.baseUrl)
  if (address.origin === own.origin) return
  if (!isAllowed(address, policy))
    throw refusedDownload(`it is on another host; to follow such links, pass --allow-host ${address.host}`)
  refuseDowngrade(own, address)
}

/** Refuses to go from an encrypted address to one that is not. */
function refuseDowngrade(from: URL, to: URL): void {
  if (from.protocol === 'https:' && to.protocol === 'http:') throw refusedDownload('it redirects from https to http')
}

/** The target of a redirect. Redirects of the service may lead to storage elsewhere, which does not get the key. */
export function redirectTarget(location: string, from: URL, policy: LinkPolicy): URL {
  // Headers come without the key.
  if (location.includes(REDACTED)) throw refusedDownload('it redirects to an address that contains the key')
  const next = URL.parse(location, from.href)
  if (!isHttp(next)) throw refusedDownload('it redirects to an invalid address')
  refuseDowngrade(from, next)
  const own = new URL(policy.baseUrl)
  if (next.origin === own.origin) return next
  if (next.username !== '' || next.password !== '') throw refusedDownload('it redirects to an address with a password')
  if (isInside(next) && !isInside(own) && !isAllowed(next, policy))
    throw refusedDownload(`it redirects to a private network; to follow it, pass --allow-host ${next.host}`)
  return next
}
