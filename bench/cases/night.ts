import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openReader } from '../../test/support/testStore.ts'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { type Measured, measure, median, medianOf } from '../measure.ts'
import { startServing } from '../serving.ts'

const bench = join(import.meta.dirname, '..')
const KEY = 'k'.repeat(64)
const SERIES = 2_000

/** Counts the bytes of the changed pages of a database. */
function countChanged(before: Buffer, after: Buffer, page = 4096): number {
  let pages = 0
  for (let at = 0; at < after.length; at += page)
    if (!before.subarray(at, at + page).equals(after.subarray(at, at + page))) pages++
  return pages * page
}

/** Measures a `sync` of 2,000 final series, for which nothing is to be fetched. */
export async function night({ folder, runs, say }: Bench): Promise<Section> {
  const job = join(folder, 'night.yaml')
  const database = join(folder, 'night.db')
  const ids = Array.from({ length: SERIES }, (_, i) => 600 + i)
  writeFileSync(
    job,
    `name: bench\nseries:\n  - indicators: [${ids.join(', ')}]\n    window: { from: 2024-01-01, to: 2024-01-03 }\n`,
  )
  const service = await startServing('service.ts', ['fresh'])
  say('night: filling')
  await measure(process.execPath, [join(bench, 'children/sync.ts'), database, service.url, job, KEY])
  const results: (Measured & { written: number; requests: number })[] = []
  for (let run = 1; run <= runs; run++) {
    say(`night: run ${run} of ${runs}`)
    const before = readFileSync(database)
    const result = await measure(
      process.execPath,
      [join(bench, '../src/cli/bin.js'), 'sync', job, '--database', database, '--base-url', service.url, '--json'],
      { INDICATOR_SYNC_API_KEY: KEY },
    )
    const reader = openReader(database)
    const requests = reader.get('select requests from _run order by id desc limit 1') as number
    await reader.close()
    results.push({ ...result, written: countChanged(before, readFileSync(database)), requests })
  }
  await service.stop()
  return {
    title: 'Nothing to do',
    command: 'npm run bench -- night',
    about: `\`sync\` of ${grouped(SERIES)} final series.`,
    head: ['requests', 'seconds', 'bytes written', 'file size', 'peak MB'],
    rows: [
      [
        String(Math.max(...results.map(({ requests }) => requests))),
        fixed(median(results.map(({ seconds }) => seconds))),
        grouped(median(results.map(({ written }) => written))),
        grouped(statSync(database).size),
        fixed(
          medianOf(results, ({ peakMb }) => peakMb),
          0,
        ),
      ],
    ],
  }
}
