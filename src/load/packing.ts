/** The other thread of `packer.ts`. */
import { parentPort } from 'node:worker_threads'
import { packReply } from './packer.ts'

parentPort?.on('message', ({ id, body }: { id: number; body: Uint8Array }) => {
  parentPort?.postMessage({ id, ...packReply(body) })
})
