import { DamagedError, SchemaError } from '../base/errors.ts'
import type { StoredReply } from '../state/replies.ts'
import type { Rows } from '../tables/rows.ts'
import { transformPacked } from '../transform/transform.ts'
import { createWorkerClient } from './client.ts'

/** The outcome of reading a stored reply: its rows, null where it still cannot be read, or that its body is damaged. */
export type RereadRows = Rows | null | 'damaged'

/** The rows of a stored reply. One that was rejected as a whole counts only when this version understands all of it. */
export function reread({ planned, outcome, packed, size }: StoredReply): RereadRows {
  try {
    const rows = transformPacked(packed, size, planned)
    return outcome === 'shape' && rows.rejects.length > 0 ? null : rows
  } catch (error) {
    if (error instanceof DamagedError) return 'damaged'
    if (error instanceof SchemaError) return null
    throw error
  }
}

/** The answer of the worker. */
export interface RereadAnswer {
  readonly rows: RereadRows
}

const client = createWorkerClient<StoredReply, RereadAnswer>(import.meta.url, 'rereadWorker')

/** Smaller bodies are not worth a message to the worker. */
const MIN_WORKER_SIZE = 16 * 1024

/** A stored reply with only the part of the service's declaration that is needed to read it, for all of it is copied for the worker. */
function withOneRoute(stored: StoredReply): StoredReply {
  const { planned } = stored
  const { service, route } = planned
  const routes = { [route]: service.routes[route]! }
  return { ...stored, planned: { ...planned, service: { ...service, routes, changes: [] } } }
}

/** Reads a stored reply in another thread, while this one writes the rows of those before. Without one it is read here: slower, and the same. */
export async function rereadInWorker(stored: StoredReply): Promise<RereadRows> {
  if (stored.size < MIN_WORKER_SIZE) return reread(stored)
  const answer = await client.ask(withOneRoute(stored))
  return answer ? answer.rows : reread(stored)
}
