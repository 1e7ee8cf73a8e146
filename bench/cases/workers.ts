import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { sendAll } from '../../src/cluster/distribute.ts'
import { openQueue } from '../../src/cluster/queue.ts'
import { openStore } from '../../src/db/open.ts'
import { startEmulator } from '../../src/emulator/emulator.ts'
import { parseHost } from '../../src/fetch/hosts.ts'
import { EMPTY_STATE } from '../../src/job/plannerState.ts'
import { readJob } from '../../src/job/read.ts'
import { planJob } from '../../src/plan/planJob.ts'
import { SERVICES } from '../../src/service/services.ts'
import { beginRun } from '../../src/sync/record.ts'
import { KEY, machine } from '../../test/cluster/machines.ts'
import { createDatabase } from '../../test/postgres/create.ts'
import { type Server, startServer } from '../../test/postgres/server.ts'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { measure, median } from '../measure.ts'

const LATENCY_MS = 200
/** Answers for each worker in a run. */
const ANSWERS = 120
const NOW = Math.floor(Date.parse('2025-11-04T12:00:00Z') / 1000)

/** So many calls a second with so many workers, each with one request at a time: those between the first and the last tenth are counted. */
async function callsASecond(server: Server, workers: number): Promise<number> {
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
    // Faster than a job may be: it is the workers that are measured.
    const fast = { ...job, pace: { ...job.pace, perSecond: 1_000 } }
    const run = await beginRun(store, { command: 'sync', job: job.name, version: 'bench', now: '2025-11-04T12:00:00Z' })
    await sendAll(queue, fast, run, requests.slice(0, workers * ANSWERS), NOW)
    while (arrivals.length < workers * ANSWERS) await sleep(100)
    const [from, to] = [Math.floor(arrivals.length * 0.1), Math.floor(arrivals.length * 0.9)]
    return (to - from) / ((arrivals[to]! - arrivals[from]!) / 1000)
  } finally {
    for (const { child } of machines) child.kill('SIGTERM')
    await Promise.all(machines.map(({ ended }) => ended))
    await queue.stop()
    await store.close()
    await emulator.close()
    await drop()
  }
}

/** Seconds of processor that a server and all its connections that ended took so far (Linux only). */
const serverWork = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
  return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) / 100
}

async function queueing(server: Server, { runs, say }: Bench): Promise<Section> {
  const all: { sent: number; seconds: number; claimMs: number; claimP99Ms: number; cpu: number; server: number }[] = []
  for (let run = 1; run <= runs; run++) {
    say(`workers: a plan of 240,000 requests, run ${run} of ${runs}`)
    const { url, drop } = await createDatabase(server.url)
    const before = serverWork(server.pid())
    const { last } = await measure(process.execPath, [`${import.meta.dirname}/../children/handOut.ts`, url])
    all.push({ ...JSON.parse(last), server: serverWork(server.pid()) - before })
    await drop()
  }
  const of = (name: keyof (typeof all)[number]): number => median(all.map((one) => one[name]))
  return {
    title: 'A plan for workers',
    about: 'Queue ten years of 2,000 series by month, then fetch 300 requests.',
    head: ['requests', 'seconds', 'planner CPU s', 'server CPU s', 'ms per fetch', 'p99 ms'],
    rows: [
      [
        ...[grouped(of('sent')), fixed(of('seconds'), 1), fixed(of('cpu'), 1), fixed(of('server'), 1)],
        ...[fixed(of('claimMs'), 1), fixed(of('claimP99Ms'), 1)],
      ],
    ],
  }
}

/** Workers that share a slow service, and how long a plan takes to queue. */
export async function workers(bench: Bench): Promise<Section[]> {
  const server = await startServer({ shared_buffers: '128MB', max_wal_size: '2GB' })
  try {
    const rates = new Map<number, number[]>([1, 2, 4, 8].map((count) => [count, []]))
    for (let run = 1; run <= bench.runs; run++)
      for (const [count, found] of rates) {
        bench.say(`workers: ${count}, run ${run} of ${bench.runs}`)
        found.push(await callsASecond(server, count))
      }
    const one = median(rates.get(1)!)
    return [
      {
        title: 'Workers',
        about: `One request each; a service that responds in ${LATENCY_MS} ms; a local PostgreSQL.`,
        head: ['workers', 'calls per second', 'of linear', 'of maximum'],
        rows: [...rates].map(([count, found]) => {
          const rate = median(found)
          return [`${count}`, fixed(rate, 1), fixed(rate / (one * count)), fixed(rate / ((count * 1000) / LATENCY_MS))]
        }),
      },
      await queueing(server, bench),
    ]
  } finally {
    await server.close()
  }
}
