import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { isThere, type Measured, measure, measurePeer, median } from '../measure.ts'
import { serving } from '../serving.ts'

const here = join(import.meta.dirname, '..')
const [FROM, TO] = ['2015-01-01', '2024-12-31']
const JOB = `name: bench
pace: { perSecond: 50, concurrency: 4 }
series:
  - indicators: [600]
    window: { from: ${FROM}, to: 2025-01-01 }
    chunk: 180d
`

/** Who takes part: its name, and the process that fetches ten years of an indicator into a database. */
interface Contender {
  readonly name: string
  readonly command: string
  readonly args: (address: string, database: string, job: string) => readonly string[]
}

const PRODUCT: Contender = {
  name: 'indicator-sync',
  command: process.execPath,
  args: (address, database, job) => [
    ...[join(here, '../src/cli/bin.js'), 'sync', job, '--database', database, '--base-url', address, '--json'],
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

/** Ten years of an indicator over the wire into SQLite, beside the programs that are made for it; whole processes. */
export async function peers(bench: Bench): Promise<Section[]> {
  const { folder, runs, say, skip } = bench
  const contenders: Contender[] = [PRODUCT]
  for (const { name, module, file, install } of PEERS)
    if (await isThere('python3', ['-c', `import ${module}`]))
      contenders.push({
        name,
        command: 'python3',
        args: (address, database) => [join(here, 'peers', file), address, database, FROM, TO],
      })
    else skip(`${name} is not installed (python3 -m pip install ${install}).`)
  const job = join(folder, 'peers.yaml')
  writeFileSync(job, JOB)
  const service = await serving('service.ts', ['ready'])
  const measured = new Map<string, Measured[]>()
  const failed = new Set<Contender>()
  // The first run makes the answers ready, and does not count.
  for (let run = 0; run <= runs; run++)
    for (const contender of contenders) {
      if (failed.has(contender)) continue
      const { name, command, args } = contender
      const before = measured.get(name) ?? []
      // What takes long is not made surer by repetition.
      if (before.some(({ seconds }) => seconds > 20)) continue
      say(`peers, ${name}: run ${run} of ${runs}`)
      const database = join(folder, 'peers.db')
      const how = [command, args(service.url, database, job), { INDICATOR_SYNC_API_KEY: 'k'.repeat(64) }] as const
      const done = contender === PRODUCT ? await measure(...how) : await measurePeer(name, bench, ...how)
      if (!done) failed.add(contender)
      else if (run > 0 || done.seconds > 20) measured.set(name, [...before, done])
      for (const end of ['', '-wal', '-shm']) rmSync(database + end, { force: true })
    }
  await service.stop()
  const rowsOf = ({ out }: Measured): number => Number(/"rows(?:_new)?": ?(\d+)/.exec(out)?.[1])
  const ours = median(measured.get(PRODUCT.name)!.map(({ seconds }) => seconds))
  return [
    {
      title: 'Ten years of an indicator',
      about: 'Whole processes; responses from the same machine.',
      head: ['tool', 'values', 'seconds', '× indicator-sync', 'CPU s', 'peak MB'],
      rows: [...measured].map(([name, all]) => {
        const seconds = median(all.map((one) => one.seconds))
        return [
          name,
          grouped(rowsOf(all[0]!)),
          fixed(seconds),
          fixed(seconds / ours, 1),
          fixed(median(all.map(({ cpuS }) => cpuS ?? 0))),
          fixed(median(all.map(({ peakMb }) => peakMb ?? 0)), 0),
        ]
      }),
    },
  ]
}
