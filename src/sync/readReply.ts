import type { Rows } from '../db/tables/rows.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { ParsedReply } from '../load/load.ts'
import type { Reply } from '../service/request.ts'
import type { StoredReply } from '../state/replies.ts'
import { transform } from '../transform/transform.ts'
import { release } from '../util/bytes.ts'
import { SchemaError } from '../util/errors.ts'
import { compressBody, decompressBody } from '../util/storedBody.ts'

/** Parses a reply. If `isStored`, its body is compressed for the reply store, a large one on another thread meanwhile. Throws SchemaError. */
export async function readReply(reply: Reply, planned: PlannedRequest, isStored = true): Promise<ParsedReply> {
  const compressing = isStored ? compressBody(reply.body) : undefined
  try {
    const rows = transform(reply.body, planned)
    return { ...reply, rows, storedBody: await compressing }
  } finally {
    // The caller may release the body as soon as this function ends.
    await compressing
  }
}

/** The rows of a stored reply; null if it cannot be parsed, `damaged` if its body cannot be decompressed. */
export type StoredRows = Rows | null | 'damaged'

/** Parses a stored reply. If the whole reply was quarantined, it has rows only if this version can parse all of it. */
export async function readStored({ planned, outcome, compressed, size }: StoredReply): Promise<StoredRows> {
  const body = await decompressBody(compressed, size).catch(() => null)
  if (body?.length !== size) return 'damaged'
  try {
    const rows = transform(body, planned)
    return outcome === 'shape' && rows.rejects.length > 0 ? null : rows
  } catch (error) {
    if (error instanceof SchemaError) return null
    throw error
  } finally {
    release(body)
  }
}
