import type { Interval } from '../base/interval.ts'
import { compress } from '../base/pack.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { ParsedReply } from '../load/load.ts'
import type { PackedReply } from '../load/packer.ts'
import type { Scanned } from '../transform/scan.ts'
import { transformSeries } from '../transform/series.ts'
import { transform } from '../transform/transform.ts'
import { createWorkerClient } from './client.ts'

/** The first bytes of a carrier: a body, to be hashed and arranged for the reply store. */
export interface ReadRequest {
  readonly carrier: ArrayBuffer
  readonly length: number
  /** The window of values that are to be read, null for all; undefined where there are no values. */
  readonly window: Interval | null | undefined
}

/** The same carrier, with what is to be compressed as its first bytes, and the values that were read. */
export interface ReadAnswer extends Pick<PackedReply, 'hash' | 'form'> {
  readonly carrier: ArrayBuffer
  readonly length: number
  readonly scanned: Scanned | null
}

/** One thread is enough for a process. */
const client = createWorkerClient<ReadRequest, ReadAnswer>(import.meta.url, 'readWorker')

/** Smaller bodies are not worth the way to the other thread, larger ones not the copy that goes there. */
const WORTH = { from: 16 * 1024, to: 32 * 1024 * 1024 }

/** Buffers go to the other thread and come back, for what is thrown away there is long in memory. */
const carriers: ArrayBuffer[] = []
const CARRIERS = 4
/** A larger one is not kept. */
const KEPT = 4 * 1024 * 1024

/** Room for a body, and so for what is arranged of it. */
function takeCarrier(length: number): ArrayBuffer {
  const fits = carriers.findIndex(({ byteLength }) => byteLength >= length)
  // Where none is large enough, a larger one takes the place of the first, with room for the next body, too.
  const [carrier] = carriers.splice(Math.max(0, fits), 1)
  return carrier && fits >= 0 ? carrier : new ArrayBuffer(Math.ceil(length * 1.25))
}

/**
 * Reads a body and packs it for the reply store in another thread, while this one fetches and writes others. Without one, or
 * without need of a reply store, it is read here: slower, and the same. Throws SchemaError as `transform` does.
 */
export async function read(body: Buffer, planned: PlannedRequest, stored = true): Promise<ParsedReply> {
  const here = (packed?: PackedReply): ParsedReply => ({ rows: transform(body, planned), packed })
  if (!stored || body.length < WORTH.from || body.length > WORTH.to) return here()
  const carrier = takeCarrier(body.length)
  body.copy(new Uint8Array(carrier))
  const window = planned.service.routes[planned.route]!.shape === 'series' ? planned.window : undefined
  const arranged = await client.ask({ carrier, length: body.length, window }, [carrier])
  if (!arranged) return here()
  const { hash, form, length, scanned } = arranged
  // Compressing is the least of it, and the memory that it takes is better taken here.
  const packed = { hash, ...compress({ form, bytes: Buffer.from(arranged.carrier, 0, length) }) }
  if (carriers.length < CARRIERS && arranged.carrier.byteLength <= KEPT) carriers.push(arranged.carrier)
  return scanned ? { rows: transformSeries(scanned.rest, planned, scanned.values), packed } : here(packed)
}
