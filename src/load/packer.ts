import { Worker } from 'node:worker_threads'
import { sha256 } from '../base/json.ts'
import { compress, type Packed, pack, unpack } from '../base/pack.ts'

/** A body as it goes on the tape. */
export interface PackedReply extends Packed {
  /** SHA-256 of the body, hex. */
  readonly hash: string
}

const bufferOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, length)

/** Hashes and packs a body. */
export const packReply = (body: Uint8Array): PackedReply => {
  const bytes = bufferOf(body)
  return { hash: sha256(bytes), ...pack(bytes) }
}

/** What the other thread is asked: to hash and arrange the first bytes of a carrier, or to unpack. */
export type Question = { readonly id: number } & (
  | { readonly carrier: ArrayBuffer; readonly length: number }
  | { readonly packed: Packed }
)
/** What it answers: the same carrier, with what is to be compressed as its first bytes. */
export type Answer = { readonly id: number } & (
  | (Pick<PackedReply, 'hash' | 'form'> & { readonly carrier: ArrayBuffer; readonly length: number })
  | { readonly body: Uint8Array }
)

/** Smaller bodies are not worth the way to the other thread, larger ones not the copy that goes there. */
const WORTH = { from: 16 * 1024, to: 32 * 1024 * 1024 }

let worker: Worker | null = null
let next = 0
const waiting = new Map<number, (answer: Answer | null) => void>()

/** Starts the other thread; one is enough for a process, and it does not keep the process alive. */
function start(): Worker {
  const file = import.meta.url.endsWith('.ts') ? './packing.ts' : './packing.js'
  const started = new Worker(new URL(file, import.meta.url))
  started.on('message', (answer: Answer) => {
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
    if (waiting.size === 0) started.unref()
  })
  // Without another thread it is done here: slower, and the same.
  const giveUp = (): void => {
    worker = null
    for (const answer of waiting.values()) answer(null)
    waiting.clear()
  }
  started.unref()
  started.on('error', giveUp)
  started.on('exit', giveUp)
  return started
}

/** The answer of the other thread; null when there is none any more. */
function ask(question: Question, moved: ArrayBuffer[] = []): Promise<Answer | null> {
  worker ??= start()
  worker.ref()
  worker.postMessage(question, moved)
  return new Promise((resolve) => waiting.set(question.id, resolve))
}

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

/** Hashes and packs a body in another thread, while this one reads it and writes its rows. */
export async function packAside(body: Buffer): Promise<PackedReply> {
  if (body.length < WORTH.from || body.length > WORTH.to) return packReply(body)
  const id = next++
  const carrier = takeCarrier(body.length)
  body.copy(new Uint8Array(carrier))
  const answer = await ask({ id, carrier, length: body.length }, [carrier])
  if (!answer || !('carrier' in answer)) return packReply(body)
  const { hash, form, length } = answer
  // Compressing is the least of it, and the memory that it takes is better taken here.
  const packed = compress({ form, bytes: Buffer.from(answer.carrier, 0, length) })
  if (carriers.length < CARRIERS && answer.carrier.byteLength <= KEPT) carriers.push(answer.carrier)
  return { hash, ...packed }
}

/** Unpacks a body of a known size in another thread, while this one writes the rows of those before. */
export async function unpackAside(packed: Packed, size: number): Promise<Buffer> {
  if (size < WORTH.from) return unpack(packed)
  if (!worker) {
    // While the other thread begins, which takes as long as a few bodies, the first one is unpacked here.
    worker = start()
    return unpack(packed)
  }
  const answer = await ask({ id: next++, packed })
  return answer && 'body' in answer ? bufferOf(answer.body) : unpack(packed)
}
