import { setTimeout as sleep } from 'node:timers/promises'
import { sendAll } from '../../src/cluster/distribute.ts'
import { openQueue } from '../../src/cluster/queue.ts'
import { openStore } from '../../src/db/open.ts'
import { startEmulator } from '../../src/emulator/startEmulator.ts'
import { parseHost } from '../../src/fetch/hosts.ts'
import { readJob } from '../../src/job/read.ts'
import { planJob } from '../../src/plan/planJob.ts'
import { EMPTY_STATE } from '../../src/plan/plannerState.ts'
import { SERVICES } from '../../src/service/services.ts'
import { openRun } from '../../src/sync/record.ts'
import { KEY, machine } from '../../test/cluster/machines.ts'
import { createDatabase } from '../../test/postgres/create.ts'
import { type Server, startServer } from '../../test/postgres/server.ts'
import { type Bench, fixed, type Section } from '../bench.ts'
import { median } from '../measure.ts'

const LATENCY_MS = 200
/** Responses per worker and run. */
const RESPONSES = 120
const NOW = Math.floor(Date.parse('2025-11-04T12:00:00Z') / 1000)

/** Measures calls per second of some workers with one request each, without the first and last tenth. */
async function measureRate(server: Server, workers: number): Promise<number> {
  const { url, drop } = await createDatabase(server.url)
  const arrivals: number[] = []
  const emulator = await startEmulator({
    key: KEY,
    now: NOW,
    latencyMs: LATENCY_MS,
    log: () => void arrivals.push(performance.now()),
  })
  const job = readJob(
    `name: bench
pace: { perSecond: 50, concurrency: 16 }
series:
  - { indicators: [600], geoIds: [3], window: { from: 2024-01-01, to: 2025-11-01 }, chunk: 1d }
`,
    'bench.yaml',
  )
  const store = await openStore(url)
  const host = parseHost(emulator.url)
  const queue = await openQueue(store, host, () => undefined)
  const machines = Array.from({ length: workers }, () =>
    machine(url, emulator.url, ['worker', '--service', 'generic', '--concurrency', '1', '--quiet']),
  )
  try {
    await sleep(2_000 + 500 * workers)
    const requests = [...planJob({ job, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW, options: {} })]
    // Faster than a job may be, so that only the workers are measured.
    const fast = { ...job, pace: { ...job.pace, perSecond: 1_000 } }
    const { id: run } = await openRun({ store, nowMs: Date.now }, { command: 'sync', job })
    await sendAll(queue, fast, run, requests.slice(0, workers * RESPONSES), NOW)
    while (arrivals.length < workers * RESPONSES) await sleep(100)
    const from = Math.floor(arrivals.length * 0.1)
    const to = Math.floor(arrivals.length * 0.9)
    return (to - from) / ((arrivals[to]! - arrivals[from]!) / 1000)
  } finally {
    for (const { child } of machines) child.kill('SIGTERM')
    await Promise.all(machines.map(({ ended }) => ended))
    await queue.close()
    await store.close()
    await emulator.close()
    await drop()
  }
}

/** Measures workers that share a slow service. */
export async function workers({ runs, say }: Bench): Promise<Section> {
  const server = await startServer({ shared_buffers: '128MB', max_wal_size: '2GB' })
  try {
    const rates = new Map<number, number[]>([1, 2, 4, 8].map((count) => [count, []]))
    for (let run = 1; run <= runs; run++)
      for (const [count, measured] of rates) {
        say(`workers: ${count}, run ${run} of ${runs}`)
        measured.push(await measureRate(server, count))
      }
    const single = median(rates.get(1)!)
    return {
      title: 'Workers',
      command: 'npm run bench -- workers',
      about: `one request each; a service that responds in ${LATENCY_MS} ms; a local PostgreSQL.`,
      head: ['workers', 'calls per second', 'of linear', 'of maximum'],
      rows: [...rates].map(([count, measured]) => {
        const rate = median(measured)
        return [`${count}`, fixed(rate, 1), fixed(rate / (single * count)), fixed(rate / ((count * 1000) / LATENCY_MS))]
      }),
    }
  } finally {
    await server.close()
  }
}
