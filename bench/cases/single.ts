import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { type Measured, measure, median } from '../measure.ts'
import { serving } from '../serving.ts'

const here = join(import.meta.dirname, '..')
const KEY = 'k'.repeat(64)
/** 4,166 days of five geos, hour by hour, asked at once. */
const JOB = `name: bench
series:
  - indicators: [600]
    window: { from: 2005-01-01, to: 2016-05-29 }
    chunk: 20y
`

/** One answer that is larger than any should be. */
export async function single({ folder, runs, say }: Bench): Promise<Section[]> {
  const job = join(folder, 'single.yaml')
  writeFileSync(job, JOB)
  const service = await serving('service.ts', ['ready'])
  const all: (Measured & { rows: number })[] = []
  for (let run = 0; run <= runs; run++) {
    say(`single: run ${run} of ${runs}`)
    const database = join(folder, 'single.db')
    const done = await measure(
      process.execPath,
      [join(here, '../src/cli/bin.js'), ...['sync', job, '--database', database, '--base-url', service.url, '--json']],
      { INDICATOR_SYNC_API_KEY: KEY },
    )
    // The first run makes the answer ready, and does not count.
    if (run > 0) all.push({ ...done, rows: Number(/"rows_new": ?(\d+)/.exec(done.out)?.[1]) })
    for (const end of ['', '-wal', '-shm']) rmSync(database + end, { force: true })
  }
  await service.stop()
  return [
    {
      title: 'One large response',
      about: '`sync` of one response: eleven years of five geos.',
      head: ['rows written', 'seconds', 'peak MB'],
      rows: [
        [
          grouped(all[0]!.rows),
          fixed(median(all.map(({ seconds }) => seconds))),
          fixed(median(all.map(({ peakMb }) => peakMb ?? 0)), 0),
        ],
      ],
    },
  ]
}
