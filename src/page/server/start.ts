import { type Listening, listen } from '../../util/listen.ts'
import { buildPageServer } from './server.ts'
import type { Site } from './site.ts'

/** A running server. */
export interface RunningServer extends Listening {
  /** The token that every request must show; null where only this machine can connect. */
  readonly token: string | null
}

/** Serves the pages of a database. Port 0 is any free one. */
export async function startServer(
  site: Site,
  where: { readonly host: string; readonly port: number },
): Promise<RunningServer> {
  return { ...(await listen(buildPageServer(site), where)), token: site.door.token }
}
