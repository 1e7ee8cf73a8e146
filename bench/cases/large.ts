import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { measure } from '../measure.ts'
import { serving } from '../serving.ts'
import { measureViews, VALUES_A_SERIES } from './views.ts'

const here = join(import.meta.dirname, '..')
const KEY = 'k'.repeat(64)
/** A long backfill by the command, as fast as a job may ask; then every view on what it made. */
export async function large(bench: Bench): Promise<Section[]> {
  const { folder, rows, say } = bench
  const series = Math.max(1, Math.round(rows / VALUES_A_SERIES))
  const job = join(folder, 'large.yaml')
  const database = join(folder, 'large.db')
  const ids = Array.from({ length: series }, (_, i) => 600 + i)
  writeFileSync(
    job,
    `name: bench\npace: { perSecond: 50, concurrency: 4 }\nseries:\n  - indicators: [${ids.join(', ')}]\n    window: { from: 2015-01-01, to: 2017-04-14 }\n`,
  )
  const service = await serving('service.ts', ['fresh'])
  say(`large: a backfill of ${grouped(series * VALUES_A_SERIES)} values`)
  const filled = await measure(
    process.execPath,
    [join(here, '../src/cli/bin.js'), 'sync', job, '--database', database, '--base-url', service.url, '--json'],
    { INDICATOR_SYNC_API_KEY: KEY },
  )
  await service.stop()
  const size = statSync(database).size
  const views = await measureViews(bench, database, series)
  for (const end of ['', '-wal', '-shm']) rmSync(database + end, { force: true })
  return [
    {
      title: 'A long backfill',
      about: '`sync` at 50 requests per second, the maximum.',
      head: ['values', 'seconds', 'peak MB', 'bytes per value'],
      rows: [
        [
          grouped(series * VALUES_A_SERIES),
          fixed(filled.seconds, 0),
          fixed(filled.peakMb, 0),
          fixed(size / series / VALUES_A_SERIES, 1),
        ],
      ],
    },
    views,
  ]
}
