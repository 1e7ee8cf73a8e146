import { DamagedError, SchemaError } from '../base/errors.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { SERVICE_NAMES, SERVICES, type Service, type ServiceName } from '../services/services.ts'
import type { StoredReply } from '../state/replies.ts'
import type { Rows } from '../tables/rows.ts'
import { transformPacked } from '../transform/transform.ts'
import { createWorkerClient } from './workerClient.ts'

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

/** A stored reply as it is sent to the other thread: a service that is known there, too, by its name only. */
export type SentReply = Omit<StoredReply, 'planned'> & {
  readonly planned: Omit<PlannedRequest, 'service'> & { readonly service: Service | ServiceName }
}

const serviceNameOf = (service: Service): ServiceName | undefined =>
  SERVICE_NAMES.find((name) => SERVICES[name] === service)

const client = createWorkerClient<SentReply, StoredAnswer>(import.meta.url, 'readStoredWorker')

/** Smaller bodies are not worth a message to the worker. */
const MIN_WORKER_SIZE = 16 * 1024

/** Parses a stored reply in another thread, while this thread writes the rows of earlier ones. Without a worker it is parsed here: slower, with the same result. */
export async function readStoredInWorker(stored: StoredReply): Promise<StoredRows> {
  if (stored.size < MIN_WORKER_SIZE) return readStored(stored)
  const { planned } = stored
  const answer = await client.request({
    ...stored,
    planned: { ...planned, service: serviceNameOf(planned.service) ?? planned.service },
  })
  return answer ? answer.rows : readStored(stored)
}
