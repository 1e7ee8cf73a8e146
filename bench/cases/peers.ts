import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { isInstalled, type Measured, measure, measurePeer, median, medianOf } from '../measure.ts'
import { startServing } from '../serving.ts'

const bench = join(import.meta.dirname, '..')
const FROM = '2015-01-01'
const TO = '2024-12-31'
const JOB = `name: bench
pace: { perSecond: 50, concurrency: 4 }
series:
  - indicators: [600]
    window: { from: ${FROM}, to: 2025-01-01 }
    chunk: 180d
`
/** A contender that takes longer runs once. */
const SLOW_S = 10

/** A process that fetches ten years of an indicator into a database. */
interface Contender {
  readonly name: string
  readonly command: string
  readonly args: (address: string, database: string, job: string) => readonly string[]
}

const PRODUCT: Contender = {
  name: 'indicator-sync',
  command: process.execPath,
  args: (address, database, job) => [
    join(bench, '../src/cli/bin.js'),
    'sync',
    job,
    '--database',
    database,
    '--base-url',
    address,
    '--json',
  ],
}
const PEERS = [
  { name: 'python-esios, to_sql', module: 'esios', file: 'esios_to_sql.py', install: 'python-esios==2.4.2' },
  {
    name: 'dlt, merge into SQLite',
    module: 'dlt, sqlalchemy',
    file: 'dlt_merge.py',
    install: '"dlt[sqlalchemy]==1.31"',
  },
] as const

/** Measures ten years of an indicator over HTTP into SQLite, as whole processes. */
export async function peers(input: Bench): Promise<Section> {
  const { folder, runs, say, skip } = input
  const contenders: Contender[] = [PRODUCT]
  for (const { name, module, file, install } of PEERS)
    if (await isInstalled('python3', ['-c', `import ${module}`]))
      contenders.push({
        name,
        command: 'python3',
        args: (address, database) => [join(bench, 'peers', file), address, database, FROM, TO],
      })
    else skip(`${name} is not installed (python3 -m pip install ${install}).`)
  const job = join(folder, 'peers.yaml')
  writeFileSync(job, JOB)
  const service = await startServing('service.ts', ['ready'])
  const measured = new Map<string, Measured[]>()
  const failed = new Set<string>()
  // The first run fills the service's cache and does not count.
  for (let run = 0; run <= runs; run++)
    for (const { name, command, args } of contenders) {
      const earlier = measured.get(name) ?? []
      if (failed.has(name) || earlier.some(({ seconds }) => seconds > SLOW_S)) continue
      say(`peers, ${name}: run ${run} of ${runs}`)
      const database = join(folder, 'peers.db')
      const process = [command, args(service.url, database, job), { INDICATOR_SYNC_API_KEY: 'k'.repeat(64) }] as const
      const result = name === PRODUCT.name ? await measure(...process) : await measurePeer(name, input, ...process)
      if (!result) failed.add(name)
      else if (run > 0 || result.seconds > SLOW_S) measured.set(name, [...earlier, result])
      for (const end of ['', '-wal', '-shm']) rmSync(database + end, { force: true })
    }
  await service.stop()
  const countRows = ({ stdout }: Measured): number => Number(/"rows(?:_new)?": ?(\d+)/.exec(stdout)?.[1])
  const ours = median(measured.get(PRODUCT.name)!.map(({ seconds }) => seconds))
  return {
    title: 'Ten years of an indicator over HTTP',
    command: 'npm run bench -- peers',
    about: 'whole processes, 21 responses from the same machine, into SQLite.',
    head: ['program', 'values', 'seconds', '× indicator-sync', 'CPU s', 'peak MB'],
    rows: contenders.flatMap(({ name }) => {
      const results = measured.get(name)
      if (!results) return []
      const seconds = median(results.map((result) => result.seconds))
      const processor = medianOf(results, ({ cpuS }) => cpuS)
      const peak = medianOf(results, ({ peakMb }) => peakMb)
      const values = grouped(countRows(results[0]!))
      return [[name, values, fixed(seconds), fixed(seconds / ours, 1), fixed(processor), fixed(peak, 0)]]
    }),
  }
}
