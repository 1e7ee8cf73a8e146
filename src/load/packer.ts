import { Worker } from 'node:worker_threads'
import { sha256 } from '../base/json.ts'
import { type Packed, pack, unpack } from '../base/pack.ts'

/** A body as it goes on the tape. */
export interface PackedReply extends Packed {
  /** SHA-256 of the body, hex. */
  readonly hash: string
}

/** Hashes and packs a body. */
export const packReply = (body: Uint8Array): PackedReply => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
  return { hash: sha256(bytes), ...pack(bytes) }
}

/** What the other thread is asked, and answers. */
export type Question = { readonly id: number } & ({ readonly body: Uint8Array } | { readonly packed: Packed })
export type Answer = { readonly id: number } & ({ readonly packed: PackedReply } | { readonly body: Uint8Array })

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

/** Hashes and packs a body in another thread, while this one reads it and writes its rows. */
export async function packAside(body: Buffer): Promise<PackedReply> {
  if (!isWorth(body.length)) return packReply(body)
  const id = next++
  const copy = new Uint8Array(body)
  const answer = await ask({ id, body: copy }, [copy.buffer], async () => ({ id, packed: packReply(body) }))
  const { packed } = answer as { packed: PackedReply }
  return { ...packed, bytes: Buffer.from(packed.bytes) }
}

/** Unpacks a body of a known size in another thread, while this one writes the rows of those before. */
export async function unpackAside(packed: Packed, size: number): Promise<Buffer> {
  if (!isWorth(size)) return unpack(packed)
  const id = next++
  const answer = await ask({ id, packed }, [], async () => ({ id, body: unpack(packed) }))
  const { body } = answer as { body: Uint8Array }
  return Buffer.from(body.buffer, body.byteOffset, body.length)
}
