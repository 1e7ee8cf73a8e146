/** The other thread of `read.ts`. */

import { sha256 } from '../base/json.ts'
import { arrange } from '../base/pack.ts'
import { scanColumns } from '../transform/columns.ts'
import { serveRequests } from './client.ts'
import type { ReadAnswer, ReadRequest } from './read.ts'

serveRequests(({ buffer, length, window }: ReadRequest): { payload: ReadAnswer; transfer: ArrayBuffer[] } => {
  const body = Buffer.from(buffer, 0, length)
  const hash = sha256(body)
  const { form, bytes } = arrange(body)
  const scanned = form === 'columns' && window !== undefined ? scanColumns(bytes, window) : null
  // What is arranged is no longer than the body, and goes back in the same buffer.
  if (bytes !== body) new Uint8Array(buffer).set(bytes)
  return { payload: { buffer, hash, form, length: bytes.length, scanned }, transfer: [buffer] }
})
