import { release } from '../base/bytes/bytes.ts'
import type { Interval } from '../base/time/interval.ts'
import { declaredRoute, type PlannedRequest } from '../job/plannedRequest.ts'
import type { ParsedReply } from '../load/load.ts'
import type { PackedReply } from '../load/replies/packer.ts'
import { transform, transformScanned } from '../transform/transform.ts'
import { receivedOf, type SentScanned } from './sentValues.ts'
import { createWorkerClient } from './workerClient.ts'

/** A body, as the first bytes of a buffer, to be hashed and packed for the reply store. */
export interface ReadRequest {
  readonly buffer: ArrayBuffer
  readonly length: number
  /** The window of values to read, null for all, and the key that has them; undefined for bodies without values. */
  readonly values: { readonly window: Interval | null; readonly root: string } | undefined
}

/** The same buffer with the packed body as its first bytes, and the values that were read from it. */
export interface ReadAnswer extends Pick<PackedReply, 'hash' | 'form'> {
  readonly buffer: ArrayBuffer
  readonly length: number
  readonly scanned: SentScanned | null
}

/** One thread is enough for a process. */
const client = createWorkerClient<ReadRequest, ReadAnswer>(import.meta.url, 'readWorker')

/** Smaller bodies are not worth a message to the worker, larger ones not the copy. */
const WORKER_SIZES = { from: 16 * 1024, to: 32 * 1024 * 1024 }

/** The two bodies that were sent last: one is read while the other waits there, and a copy of more would only take memory. */
let sent: readonly [Promise<unknown>, Promise<unknown>] = [Promise.resolve(), Promise.resolve()]

/** Buffers that came back from the worker and are used again: memory that the worker frees stays allocated for long. */
const spareBuffers: ArrayBuffer[] = []
const MAX_SPARE_BUFFERS = 2
/** A larger one is not kept. */
const MAX_SPARE_BYTES = 8 * 1024 * 1024

/** A buffer that is large enough for a body and for its packed form, which may be longer by 1 in 256 and a few bytes. */
function takeBuffer(bodyLength: number): ArrayBuffer {
  const length = bodyLength + (bodyLength >> 7) + 1024
  const fits = spareBuffers.findIndex(({ byteLength }) => byteLength >= length)
  // Where none is large enough, the first one is replaced by a larger one, with room to spare for the next body.
  const [buffer] = spareBuffers.splice(Math.max(0, fits), 1)
  return buffer && fits >= 0 ? buffer : new ArrayBuffer(Math.ceil(length * 1.25))
}

/**
 * Parses a body and packs it for the reply store in another thread, while this thread fetches and writes others. Without a worker,
 * or where no reply store is wanted, it is parsed here: slower, with the same result. Throws SchemaError as `transform` does.
 */
export async function readReply(body: Buffer, planned: PlannedRequest, stored = true): Promise<ParsedReply> {
  const here = (packed?: PackedReply): ParsedReply => ({ rows: transform(body, planned), packed })
  if (!stored || body.length < WORKER_SIZES.from || body.length > WORKER_SIZES.to) return here()
  const { root, shape } = declaredRoute(planned)
  const values = shape === 'series' ? { window: planned.window, root } : undefined
  const [earlier, latest] = sent
  const answering = earlier.then(() => {
    const buffer = takeBuffer(body.length)
    body.copy(new Uint8Array(buffer))
    return client.request({ buffer, length: body.length, values }, [buffer])
  })
  sent = [latest, answering.catch(() => undefined)]
  const answer = await answering
  if (!answer) return here()
  const { hash, form, length, scanned } = answer
  // A copy: the buffer is used again.
  const packed = { hash, form, bytes: Buffer.from(new Uint8Array(answer.buffer, 0, length)) }
  if (spareBuffers.length < MAX_SPARE_BUFFERS && answer.buffer.byteLength <= MAX_SPARE_BYTES)
    spareBuffers.push(answer.buffer)
  // Freed at once: the garbage collector would wait until there are several.
  else release(Buffer.from(answer.buffer))
  return scanned ? { rows: transformScanned(receivedOf(scanned), planned), packed } : here(packed)
}
