/** The other thread of `packer.ts`. */
import { parentPort } from 'node:worker_threads'
import { sha256 } from '../base/json.ts'
import { arrange, unpack } from '../base/pack.ts'
import type { Answer, Question } from './packer.ts'

function answer(question: Question): [Answer, ArrayBuffer[]] {
  const { id } = question
  if ('carrier' in question) {
    const { carrier, length } = question
    const body = Buffer.from(carrier, 0, length)
    const hash = sha256(body)
    const { form, bytes } = arrange(body)
    // What is arranged is no longer than the body, and goes back in the same carrier.
    if (bytes !== body) new Uint8Array(carrier).set(bytes)
    return [{ id, carrier, hash, form, length: bytes.length }, [carrier]]
  }
  const { form, bytes } = question.packed
  const body = unpack({ form, bytes: Buffer.from(bytes) })
  return [{ id, body }, [body.buffer as ArrayBuffer]]
}

parentPort?.on('message', (question: Question) => {
  const [answered, moved] = answer(question)
  parentPort?.postMessage(answered, moved)
})
