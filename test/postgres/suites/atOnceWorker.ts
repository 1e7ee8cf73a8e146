import { type MessagePort, workerData } from 'node:worker_threads'
import type pg from 'pg'
import { connectAlone } from '../../../src/db/postgres/connection/connection.ts'
import type { Answer, Question } from './atOnce.ts'

const { port, signal } = workerData as { port: MessagePort; signal: Int32Array }
const clients = new Map<string, pg.Client>()

async function answer({ address, sql }: Question): Promise<Answer> {
  for (let attempts = 0; ; attempts++)
    try {
      const client = clients.get(address) ?? (await connectAlone(address))
      clients.set(address, client)
      const { rows, fields, rowCount } = await client.query(sql)
      return { rows, columns: fields.map(({ name }) => name), count: rowCount ?? 0 }
    } catch (error) {
      const lost = !('severity' in (error as object)) || /^57P/.test(String((error as { code?: unknown }).code))
      clients.delete(address)
      if (!lost || attempts > 0) return { error: (error as Error).message }
    }
}

port.on('message', async (question: Question) => {
  port.postMessage(await answer(question))
  Atomics.store(signal, 0, 1)
  Atomics.notify(signal, 0)
})
