import { Worker } from 'node:worker_threads'
import { sha256 } from '../base/json.ts'
import { type Packed, pack, unpack } from '../base/pack.ts'

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

/** What the other thread is asked: to pack the first bytes of a carrier, or to unpack. */
export type Question = { readonly id: number } & (
  | { readonly carrier: ArrayBuffer; readonly length: number }
  | { readonly packed: Packed }
)
/** What it answers; a carrier comes back. */
export type Answer = { readonly id: number } & (
  | {
      readonly packed: Omit<PackedReply, 'bytes'> & { readonly bytes: Uint8Array }
      readonly carrier: ArrayBuffer | null
    }
  | { readonly body: Uint8Array }
)

/** Smaller bodies are not worth the way to the other thread, larger ones not the copy. */
const WORTH = { from: 16 * 1024, to: 8 * 1024 * 1024 }
const isWorth = (bytes: number): boolean => bytes >= WORTH.from && bytes <= WORTH.to

interface Waiting {
  readonly resolve: (answer: Answer | Promise<Answer>) => void
  /** The same in this thread. */
  readonly here: () => Promise<Answer>
}

let worker: Worker | null = null
let next = 0
const waiting = new Map<number, Waiting>()

/** Starts the other thread; one is enough for a process, and it does not keep the process alive. */
function start(): Worker {
  const file = import.meta.url.endsWith('.ts') ? './packing.ts' : './packing.js'
  const started = new Worker(new URL(file, import.meta.url))
  started.on('message', (answer: Answer) => {
    waiting.get(answer.id)?.resolve(answer)
    waiting.delete(answer.id)
    if (waiting.size === 0) started.unref()
  })
  // Without another thread it is done here: slower, and the same.
  const giveUp = (): void => {
    worker = null
    for (const { resolve, here } of waiting.values()) resolve(here())
    waiting.clear()
  }
  started.on('error', giveUp)
  started.on('exit', giveUp)
  return started
}

function ask(question: Question, transfer: ArrayBuffer[], here: () => Promise<Answer>): Promise<Answer> {
  worker ??= start()
  worker.ref()
  worker.postMessage(question, transfer)
  return new Promise((resolve) => waiting.set(question.id, { resolve, here }))
}

/** Buffers go to the other thread and come back, for what is thrown away there is long in memory. */
const carriers: ArrayBuffer[] = []
const CARRIERS = 8

function takeCarrier(length: number): ArrayBuffer {
  const fits = carriers.findIndex(({ byteLength }) => byteLength >= length)
  const [carrier] = carriers.splice(fits >= 0 ? fits : 0, 1)
  // Some larger than needed, for the next body is a little longer as likely as not.
  return carrier && fits >= 0 ? carrier : new ArrayBuffer(Math.ceil(length * 1.25))
}

/** Hashes and packs a body in another thread, while this one reads it and writes its rows. */
export async function packAside(body: Buffer): Promise<PackedReply> {
  if (!isWorth(body.length)) return packReply(body)
  const id = next++
  const carrier = takeCarrier(body.length)
  body.copy(new Uint8Array(carrier))
  const question = { id, carrier, length: body.length }
  const here = async (): Promise<Answer> => ({ id, packed: packReply(body), carrier: null })
  const answer = (await ask(question, [carrier], here)) as Extract<Answer, { packed: unknown }>
  if (answer.carrier && carriers.length < CARRIERS) carriers.push(answer.carrier)
  return { ...answer.packed, bytes: bufferOf(answer.packed.bytes) }
}

/** Unpacks a body of a known size in another thread, while this one writes the rows of those before. */
export async function unpackAside(packed: Packed, size: number): Promise<Buffer> {
  if (!isWorth(size)) return unpack(packed)
  const id = next++
  const answer = await ask({ id, packed }, [], async () => ({ id, body: unpack(packed) }))
  const { body } = answer as { body: Uint8Array }
  return bufferOf(body)
}
