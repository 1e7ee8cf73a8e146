/** The worker of `readReply.ts`. */

import { arrange, compress } from '../base/bytes/pack.ts'
import { sha256 } from '../base/files/checksum.ts'
import { scanColumns } from '../transform/values/columns.ts'
import type { ReadAnswer, ReadRequest } from './readReply.ts'
import { sentOf } from './sentValues.ts'
import { serveRequests } from './workerClient.ts'

serveRequests(({ buffer, length, values }: ReadRequest): { payload: ReadAnswer; transfer: ArrayBuffer[] } => {
  const body = Buffer.from(buffer, 0, length)
  const hash = sha256(body)
  const { form, bytes } = arrange(body)
  const scanned = form === 'columns' && values ? scanColumns(bytes, values.window, values.root) : null
  const packed = compress({ form, bytes }).bytes
  // The packed body goes back in the same buffer, which is large enough even for a body that does not compress.
  new Uint8Array(buffer).set(packed)
  const { sent = null, transfer = [] } = scanned ? sentOf(scanned) : {}
  return { payload: { buffer, hash, form, length: packed.length, scanned: sent }, transfer: [buffer, ...transfer] }
})
