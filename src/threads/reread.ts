import { DamagedError, SchemaError } from '../base/errors.ts'
import type { StoredReply } from '../state/replies.ts'
import type { Rows } from '../tables/rows.ts'
import { transformPacked } from '../transform/transform.ts'
import { createWorkerClient } from './client.ts'

/** What became of a stored reply: its rows, null where it still cannot be read, or that its body is damaged. */
export type Again = Rows | null | 'damaged'

/** The rows of a stored reply. One that was refused whole is believed only when nothing is wrong in it now. */
export function reread({ planned, outcome, packed, size }: StoredReply): Again {
  try {
    const rows = transformPacked(packed, size, planned)
    return outcome === 'shape' && rows.rejects.length > 0 ? null : rows
  } catch (error) {
    if (error instanceof DamagedError) return 'damaged'
    if (error instanceof SchemaError) return null
    throw error
  }
}

/** What another thread made of a reply. */
export interface RereadAnswer {
  readonly rows: Again
}

const client = createWorkerClient<StoredReply, RereadAnswer>(import.meta.url, 'rereadWorker')

/** Smaller bodies are not worth the way to the other thread. */
const WORTH = 16 * 1024

/** A stored reply with no more of the service's declaration than reading it takes: all of it is copied for the other thread. */
function lean(stored: StoredReply): StoredReply {
  const { planned } = stored
  const { service, route } = planned
  const routes = { [route]: service.routes[route]! }
  return { ...stored, planned: { ...planned, service: { ...service, routes, changes: [] } } }
}

/** Reads a stored reply in another thread, while this one writes the rows of those before. Without one it is read here: slower, and the same. */
export async function rereadInWorker(stored: StoredReply): Promise<Again> {
  if (stored.size < WORTH) return reread(stored)
  const answer = await client.ask(lean(stored))
  return answer ? answer.rows : reread(stored)
}
