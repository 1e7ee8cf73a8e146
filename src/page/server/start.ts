import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { buildPageServer } from './server.ts'
import type { Site } from './site.ts'

/** A running server. */
export interface RunningServer {
  /** Where it is reached from this machine, without a slash at the end. */
  readonly url: string
  /** The token that every request must show; null where only this machine can connect. */
  readonly token: string | null
  close(): Promise<void>
}

/** Serves the pages of a database. Port 0 is any free one. */
export async function startServer(
  site: Site,
  where: { readonly host: string; readonly port: number },
): Promise<RunningServer> {
  const server = buildPageServer(site)
  server.listen(where)
  await once(server, 'listening')
  const { address, family, port } = server.address() as AddressInfo
  const wildcards: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }
  const host = wildcards[address] ?? (family === 'IPv6' ? `[${address}]` : address)
  return {
    url: `http://${host}:${port}`,
    token: site.door.token,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
