import { createAside } from '../base/aside.ts'
import { sha256 } from '../base/json.ts'
import { compress, type Packed, pack } from '../base/pack.ts'

/** A body as it goes on the tape. */
export interface PackedReply extends Packed {
  /** SHA-256 of the body, hex. */
  readonly hash: string
}

/** Hashes and packs a body. */
export const packReply = (body: Buffer): PackedReply => ({ hash: sha256(body), ...pack(body) })

/** The first bytes of a carrier: a body, to be hashed and arranged. */
export interface Carried {
  readonly carrier: ArrayBuffer
  readonly length: number
}

/** The same carrier, with what is to be compressed as its first bytes. */
export type Arranged = Carried & Pick<PackedReply, 'hash' | 'form'>

/** One thread is enough for a process. */
const aside = createAside<Carried, Arranged>(import.meta.url, 'packing')

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

/** Hashes and packs a body in another thread, while this one reads it and writes its rows. Without one it is done here: slower, and the same. */
export async function packAside(body: Buffer): Promise<PackedReply> {
  if (body.length < WORTH.from || body.length > WORTH.to) return packReply(body)
  const carrier = takeCarrier(body.length)
  body.copy(new Uint8Array(carrier))
  const arranged = await aside.ask({ carrier, length: body.length }, [carrier])
  if (!arranged) return packReply(body)
  const { hash, form, length } = arranged
  // Compressing is the least of it, and the memory that it takes is better taken here.
  const packed = compress({ form, bytes: Buffer.from(arranged.carrier, 0, length) })
  if (carriers.length < CARRIERS && arranged.carrier.byteLength <= KEPT) carriers.push(arranged.carrier)
  return { hash, ...packed }
}
