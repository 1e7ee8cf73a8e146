import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { installPacked } from '../../test/support/installPacked.ts'
import { type Bench, fixed, type Section } from '../bench.ts'
import { type Measured, measure, median, medianOf } from '../measure.ts'
import { startServing } from '../serving.ts'

const KEY = 'k'.repeat(64)
const JOB = 'name: bench\nseries:\n  - { indicators: [600], window: { from: 2024-01-01, to: 2024-01-03 } }\n'

/** Measures the milliseconds from the start of a sync to its first connection, with an empty database. */
async function measureFirstRequest(folder: string, bin: string, job: string, runs: number): Promise<number> {
  const env = { ...process.env, NODE_OPTIONS: '', INDICATOR_SYNC_API_KEY: KEY }
  const empty = join(folder, 'empty.db')
  await once(spawn(process.execPath, [bin, 'migrate', '--database', empty], { env }), 'exit')
  const server = createServer((socket) => socket.destroy())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const times: number[] = []
  for (let run = 0; run <= runs; run++) {
    // A killed sync leaves a WAL.
    const database = join(folder, `first-${Date.now()}.db`)
    copyFileSync(empty, database)
    const began = performance.now()
    const child = spawn(process.execPath, [bin, 'sync', job, '--database', database, '--base-url', url], { env })
    const ended = once(child, 'exit')
    await once(server, 'connection')
    if (run > 0) times.push(performance.now() - began)
    child.kill('SIGKILL')
    await ended
  }
  server.close()
  return median(times)
}

/** Measures the start of commands. */
export async function start({ folder, runs, say }: Bench): Promise<Section> {
  const database = join(folder, 'start.db')
  const job = join(folder, 'start.yaml')
  writeFileSync(job, JOB)
  say('start: packing and installing')
  const bin = join(installPacked(folder), 'src/cli/bin.js')
  const service = await startServing('service.ts', ['fresh'])
  const env = { NODE_OPTIONS: '', INDICATOR_SYNC_API_KEY: KEY }
  const sync = [bin, 'sync', job, '--database', database, '--base-url', service.url]
  await measure(process.execPath, sync, env)
  const measured = new Map<string, Measured[]>()
  // The first run fills the compile cache and does not count.
  for (let run = 0; run <= 2 * runs; run++) {
    say(`start: run ${run} of ${2 * runs}`)
    for (const [name, args] of [
      ['node -e 0', ['-e', '0']],
      ['--help', [bin, '--help']],
      ['status', [bin, 'status', '--database', database]],
      ['sync, nothing to do', sync],
    ] as const) {
      const result = await measure(process.execPath, args, env)
      if (run > 0) measured.set(name, [...(measured.get(name) ?? []), result])
    }
  }
  await service.stop()
  const firstRequests: string[][] = []
  for (const [name, file] of [
    ['installed package', bin],
    ['clone', resolve('src/cli/bin.js')],
    ['clone, from source', resolve('src/cli/main.ts')],
  ] as const) {
    say(`start: first request, ${name}`)
    const ms = await measureFirstRequest(folder, file, job, 2 * runs)
    firstRequests.push([`sync, first request: ${name}`, fixed(ms, 0), ''])
  }
  return {
    title: 'Start',
    command: 'npm run bench -- start',
    about: 'with a compile cache; the installed package, unless stated otherwise.',
    head: ['command', 'ms', 'peak MB'],
    rows: [
      ...[...measured].map(([name, results]) => [
        name,
        fixed(median(results.map(({ seconds }) => seconds)) * 1000, 0),
        fixed(
          medianOf(results, ({ peakMb }) => peakMb),
          0,
        ),
      ]),
      ...firstRequests,
    ],
  }
}
