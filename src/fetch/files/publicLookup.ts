import dns from 'node:dns'
import type { LookupFunction } from 'node:net'
import { isPrivateAddress, isPrivateIp } from '../../util/host.ts'
import { createPrivateError } from './links.ts'

/** Resolves a name for a connection. Refuses it if any of its addresses is on this machine or in a private network. */
export const lookupPublic: LookupFunction = (name, options, done) => {
  dns.lookup(name, { ...options, all: true }, (error, addresses) => {
    if (error) return done(error, [])
    if (addresses.some(({ address }) => isPrivateIp(address))) return done(createPrivateError(name), [])
    const [first] = addresses
    return options.all || !first ? done(null, addresses) : done(null, first.address, first.family)
  })
}

/** Names without a dot, and domains of private networks. Source: RFC 6762, appendix G; RFC 8375. */
const PRIVATE_NAME = /^[^.]+\.?$|\.(?:local|localhost|internal|intranet|private|corp|home|lan|home\.arpa)\.?$/i

/**
 * Refuses a host in a private network by its address or name. A name that a proxy resolves cannot be judged by its address: this
 * machine may not resolve it, or to another address.
 */
export function refusePrivateName(url: URL): void {
  const isName = !/^\[|^[\d.]+$/.test(url.hostname)
  if (isPrivateAddress(url) || (isName && PRIVATE_NAME.test(url.hostname))) throw createPrivateError(url.host)
}
