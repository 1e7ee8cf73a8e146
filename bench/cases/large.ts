import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { VIEWS } from '../../src/tables/views.ts'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { type Measured, measure, median } from '../measure.ts'
import { serving } from '../serving.ts'

const here = join(import.meta.dirname, '..')
const KEY = 'k'.repeat(64)
/** Five geos, 834 days, hour by hour. */
const VALUES_A_SERIES = 100_080
/** A view that takes longer is stopped. */
const PATIENCE_S = 60

/** A long backfill by the command, as fast as a job may ask; then every view on what it made. */
export async function large({ folder, runs, rows, say }: Bench): Promise<Section[]> {
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
  const timings: string[][] = []
  for (const view of Object.keys(VIEWS)) {
    let peak = 0
    const timed = async (scope: 'one' | 'all'): Promise<string> => {
      const all: Measured[] = []
      for (let run = 1; run <= runs; run++) {
        say(`large: ${view}, ${scope}: run ${run} of ${runs}`)
        const args = [join(here, 'children/view.ts'), database, view, scope]
        all.push(await measure(process.execPath, args, {}, PATIENCE_S))
        peak = Math.max(peak, all.at(-1)!.peakMb ?? 0)
        if (all.at(-1)!.last === '') return `over ${PATIENCE_S}`
        // What takes long is not made surer by repetition.
        if (all.at(-1)!.seconds > 20) break
      }
      const answers = all.map(({ last }) => JSON.parse(last) as { seconds: number; rows: number })
      return `${fixed(median(answers.map(({ seconds }) => seconds)), 3)} (${grouped(answers[0]!.rows)} rows)`
    }
    timings.push([view, await timed('one'), await timed('all'), fixed(peak, 0)])
  }
  for (const end of ['', '-wal', '-shm']) rmSync(database + end, { force: true })
  return [
    {
      title: 'A long backfill',
      about: 'The command `sync` at 50 requests a second, the most that a job may ask, over HTTP and brotli.',
      head: ['values', 'seconds', 'peak MB', 'bytes a value, replies and all'],
      rows: [
        [
          grouped(series * VALUES_A_SERIES),
          fixed(filled.seconds, 0),
          fixed(filled.peakMb, 0),
          fixed(size / series / VALUES_A_SERIES, 1),
        ],
      ],
    },
    {
      title: `Views on ${grouped(series * VALUES_A_SERIES)} values`,
      about: `Seconds until the last row is read with all its columns: of one series of ${grouped(VALUES_A_SERIES)} values, and of all ${grouped(series)}.`,
      head: ['view', 'one series', 'all series', 'peak MB'],
      rows: timings,
    },
  ]
}
