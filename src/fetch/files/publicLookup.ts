import dns from 'node:dns'
import type { LookupFunction } from 'node:net'
import { isInsideAddress } from '../../util/host.ts'
import { createPrivateError } from './links.ts'

/** Resolves a name for a connection. Refuses it if any of its addresses is on this machine or in a private network. */
export const lookupPublic: LookupFunction = (name, options, done) => {
  dns.lookup(name, { ...options, all: true }, (error, addresses) => {
    if (error) return done(error, [])
    if (addresses.some(({ address }) => isInsideAddress(address))) return done(createPrivateError(name), [])
    const [first] = addresses
    return options.all || !first ? done(null, addresses) : done(null, first.address, first.family)
  })
}
