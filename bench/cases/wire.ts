import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { type Measured, measure, median } from '../measure.ts'
import { serving } from '../serving.ts'

const here = join(import.meta.dirname, '..')
const KEY = 'k'.repeat(64)

/** Twelve series of 1,000 days, an answer a week: 840 values each. */
const READY = `name: bench
pace: { concurrency: 4 }
series:
  - indicators: [600, 601, 602, 603, 604, 605, 606, 607, 608, 609, 610, 611]
    window: { from: 2015-01-01, to: 2017-09-27 }
    chunk: 7d
`
/** The embedded service makes its answers while they are asked. */
const EMULATED = `name: bench
pace: { concurrency: 4 }
series:
  - indicators: [600]
    window: { from: 2015-01-01, to: 2020-01-01 }
    chunk: 28d
`

interface Synced {
  readonly seconds: number
  readonly rows: number
  readonly requests: number
}

/** From requests over loopback, packed with brotli, to committed rows. */
export async function wire({ folder, runs, say }: Bench): Promise<Section[]> {
  const rows: string[][] = []
  for (const { name, yaml, file, args } of [
    { name: 'prepared answers', yaml: READY, file: 'service.ts', args: ['ready'] },
    {
      name: 'the emulator',
      yaml: EMULATED,
      file: 'children/emulator.ts',
      args: [KEY],
    },
  ]) {
    const job = join(folder, 'wire.yaml')
    writeFileSync(job, yaml)
    const service = await serving(file, args)
    const measured: Measured[] = []
    // The first run makes the answers ready, and does not count.
    for (let run = 0; run <= runs; run++) {
      say(`wire, ${name}: run ${run} of ${runs}`)
      const database = join(folder, 'wire.db')
      const done = await measure(process.execPath, [join(here, 'children/sync.ts'), database, service.url, job, KEY])
      if (run > 0) measured.push(done)
      for (const end of ['', '-wal', '-shm']) rmSync(database + end, { force: true })
    }
    await service.stop()
    const all = measured.map(({ last }) => JSON.parse(last) as Synced)
    rows.push([
      name,
      grouped(all[0]!.requests),
      grouped(all[0]!.rows),
      grouped(median(all.map((one) => one.rows / one.seconds))),
      fixed(median(measured.map(({ peakMb }) => peakMb ?? 0)), 0),
    ])
  }
  return [
    {
      title: 'End to end',
      about: 'HTTP and brotli, without a pace.',
      head: ['service', 'requests', 'values', 'values per second', 'peak MB'],
      rows,
    },
  ]
}
