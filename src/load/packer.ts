import { Worker } from 'node:worker_threads'
import { sha256 } from '../base/json.ts'
import { type Packed, pack } from '../base/pack.ts'

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

/** Smaller bodies are not worth the way to the other thread, larger ones not the copy. */
const WORTH = { from: 16 * 1024, to: 8 * 1024 * 1024 }

interface Waiting {
  readonly body: Buffer
  readonly resolve: (packed: PackedReply) => void
}

let worker: Worker | null = null
let next = 0
const waiting = new Map<number, Waiting>()

/** Starts the other thread; one is enough for a process, and it does not keep the process alive. */
function start(): Worker {
  const file = import.meta.url.endsWith('.ts') ? './packing.ts' : './packing.js'
  const started = new Worker(new URL(file, import.meta.url))
  started.unref()
  started.on('message', ({ id, ...packed }: PackedReply & { id: number }) => {
    waiting.get(id)?.resolve({ ...packed, bytes: Buffer.from(packed.bytes) })
    waiting.delete(id)
    if (waiting.size === 0) started.unref()
  })
  // Without another thread it is done here: slower, and the same.
  const giveUp = (): void => {
    worker = null
    for (const { body, resolve } of waiting.values()) resolve(packReply(body))
    waiting.clear()
  }
  started.on('error', giveUp)
  started.on('exit', giveUp)
  return started
}

/** Hashes and packs a body in another thread, while this one reads it and writes its rows. */
export function packAside(body: Buffer): Promise<PackedReply> {
  if (body.length < WORTH.from || body.length > WORTH.to) return Promise.resolve(packReply(body))
  worker ??= start()
  worker.ref()
  const id = next++
  const copy = new Uint8Array(body)
  worker.postMessage({ id, body: copy }, [copy.buffer])
  return new Promise((resolve) => waiting.set(id, { body, resolve }))
}
