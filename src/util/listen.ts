import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server that listens. */
export interface Listening {
  /** Its address from this machine, without a slash at the end. */
  readonly url: string
  /** Stops listening and ends all connections. */
  close(): Promise<void>
}

/** Makes a server listen; port 0 is any free one. Throws the error of the system if it cannot. */
export async function listen(
  server: Server,
  where: { readonly host: string; readonly port: number },
): Promise<Listening> {
  server.listen(where)
  await once(server, 'listening')
  const { address, family, port } = server.address() as AddressInfo
  const wildcards: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }
  const host = wildcards[address] ?? (family === 'IPv6' ? `[${address}]` : address)
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
