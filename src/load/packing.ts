/** The other thread of `packer.ts`. */
import { parentPort } from 'node:worker_threads'
import { unpack } from '../base/pack.ts'
import { type Answer, packReply, type Question } from './packer.ts'

function answer(question: Question): [Answer, ArrayBuffer[]] {
  const { id } = question
  if ('carrier' in question) {
    const { carrier, length } = question
    const packed = packReply(new Uint8Array(carrier, 0, length))
    // A copy without the room that was left over.
    const bytes = new Uint8Array(packed.bytes)
    return [{ id, packed: { ...packed, bytes }, carrier }, [carrier, bytes.buffer]]
  }
  const { form, bytes } = question.packed
  const body = unpack({ form, bytes: Buffer.from(bytes) })
  return [{ id, body }, [body.buffer as ArrayBuffer]]
}

parentPort?.on('message', (question: Question) => {
  const [answered, moved] = answer(question)
  parentPort?.postMessage(answered, moved)
})
