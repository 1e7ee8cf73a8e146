import type { Rows } from '../db/tables/rows.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { ParsedReply } from '../load/load.ts'
import type { StoredReply } from '../reports/replies.ts'
import { transform } from '../transform/transform.ts'
import { release } from '../util/bytes.ts'
import { SchemaError } from '../util/errors.ts'
import { compressBody, decompressBody } from '../util/storedBody.ts'

/**
 * Parses a body; it is compressed for the reply store on another thread meanwhile, unless `isStored` is false. Throws SchemaError
 * as `transform` does.
 */
export async function readReply(body: Buffer, planned: PlannedRequest, isStored = true): Promise<ParsedReply> {
  const compressing = isStored ? compressBody(body) : undefined
  try {
    const rows = transform(body, planned)
    return { rows, stored: await compressing }
  } finally {
    // Whoever is told that the body cannot be parsed may release it.
    await compressing
  }
}

/** The rows of a stored reply; null if it still cannot be parsed, `damaged` if its body is. */
export type StoredRows = Rows | null | 'damaged'

/** Parses a stored reply. A reply that was quarantined as a whole has rows only if this version understands all of it. */
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
