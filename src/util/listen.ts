import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'

/** A server that listens. */
export interface ListeningServer {
  /** Its URL, without a trailing slash: that of the network if it listens on all addresses. */
  readonly url: string
  /** Stops listening and ends all connections. */
  close(): Promise<void>
}

/** Starts a server; port 0 is any free one. Throws the error of the system if it cannot. */
export async function listen(
  server: Server,
  address: { readonly host: string; readonly port: number },
): Promise<ListeningServer> {
  server.listen(address)
  await once(server, 'listening')
  const { address: ip, family, port } = server.address() as AddressInfo
  // Other computers reach a server on all addresses by one of the network.
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  const outside = all.find((one) => one.family === 'IPv4' && !one.internal)?.address
  const wildcards: Readonly<Record<string, string>> = { '0.0.0.0': outside ?? '127.0.0.1', '::': outside ?? '[::1]' }
  const host = wildcards[ip] ?? (family === 'IPv6' ? `[${ip}]` : ip)
  return {
    url: `http://${host}:${port}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Checks the percent-encoding of a path. */
export function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url.split('?', 1)[0]!)
    return true
  } catch {
    return false
  }
}
