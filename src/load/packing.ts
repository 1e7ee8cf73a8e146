/** The other thread of `packer.ts`. */
import { parentPort } from 'node:worker_threads'
import { unpack } from '../base/pack.ts'
import { type Answer, packReply, type Question } from './packer.ts'

parentPort?.on('message', (question: Question) => {
  const { id } = question
  const answer: Answer =
    'body' in question
      ? { id, packed: packReply(question.body) }
      : { id, body: new Uint8Array(unpack({ ...question.packed, bytes: Buffer.from(question.packed.bytes) })) }
  parentPort?.postMessage(answer, 'body' in answer ? [answer.body.buffer as ArrayBuffer] : [])
})
