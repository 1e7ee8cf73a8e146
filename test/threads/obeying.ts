/** The other thread of a test: it answers, or dies as it is told. */
import { serveRequests } from '../../src/threads/workerClient.ts'

serveRequests((order: string): { payload: string; transfer: ArrayBuffer[] } => {
  if (order === 'throw') throw new Error('as told')
  if (order === 'exit') process.exit(0)
  if (order === 'fill the memory') {
    const held: number[][] = []
    for (;;) held.push(Array.from({ length: 100_000 }, (_, i) => i + held.length))
  }
  if (order === 'never') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
  return { payload: order.toUpperCase(), transfer: [] }
})
