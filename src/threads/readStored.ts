import { DamagedError, SchemaError } from '../base/errors.ts'
import type { StoredReply } from '../state/replies.ts'
import type { Rows } from '../tables/rows.ts'
import { transformPacked } from '../transform/transform.ts'
import { createWorkerClient } from './client.ts'

/** The rows of a stored reply; null where it still cannot be parsed, `damaged` where its body is. */
export type StoredRows = Rows | null | 'damaged'

/** Parses a stored reply. A reply that was quarantined as a whole has rows only if this version understands all of it. */
export function readStored({ planned, outcome, packed, size }: StoredReply): StoredRows {
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
export interface StoredAnswer {
  readonly rows: StoredRows
}

const client = createWorkerClient<StoredReply, StoredAnswer>(import.meta.url, 'readStoredWorker')

/** Smaller bodies are not worth a message to the worker. */
const MIN_WORKER_SIZE = 16 * 1024

/** A stored reply with only the part of the service's declaration that is needed to parse it: all of it is copied for the worker. */
function withOneRoute(stored: StoredReply): StoredReply {
  const { planned } = stored
  const { service, route } = planned
  const routes = { [route]: service.routes[route]! }
  return { ...stored, planned: { ...planned, service: { ...service, routes, changes: [] } } }
}

/** Parses a stored reply in another thread, while this thread writes the rows of earlier ones. Without a worker it is parsed here: slower, with the same result. */
export async function readStoredInWorker(stored: StoredReply): Promise<StoredRows> {
  if (stored.size < MIN_WORKER_SIZE) return readStored(stored)
  const answer = await client.request(withOneRoute(stored))
  return answer ? answer.rows : readStored(stored)
}
