import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openReader } from '../../test/store.ts'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { type Measured, measure, median } from '../measure.ts'
import { serving } from '../serving.ts'

const here = join(import.meta.dirname, '..')
const KEY = 'k'.repeat(64)
const SERIES = 2_000

/** Bytes of the database that differ from what they were, page by page. */
function changed(before: Buffer, after: Buffer, page = 4096): number {
  let pages = 0
  for (let at = 0; at < after.length; at += page)
    if (!before.subarray(at, at + page).equals(after.subarray(at, at + page))) pages++
  return pages * page
}

/** A night on which nothing is due: the command of 2,000 series that are settled. */
export async function night({ folder, runs, say }: Bench): Promise<Section[]> {
  const job = join(folder, 'night.yaml')
  const database = join(folder, 'night.db')
  const ids = Array.from({ length: SERIES }, (_, i) => 600 + i)
  writeFileSync(
    job,
    `name: bench\nseries:\n  - indicators: [${ids.join(', ')}]\n    window: { from: 2024-01-01, to: 2024-01-03 }\n`,
  )
  const service = await serving('service.ts', ['fresh'])
  say('night: filling')
  await measure(process.execPath, [join(here, 'children/sync.ts'), database, service.url, job, KEY])
  const all: (Measured & { written: number; requests: number })[] = []
  for (let run = 1; run <= runs; run++) {
    say(`night: run ${run} of ${runs}`)
    const before = readFileSync(database)
    const done = await measure(
      process.execPath,
      [join(here, '../src/cli/bin.js'), 'sync', job, '--database', database, '--base-url', service.url, '--json'],
      { INDICATOR_SYNC_API_KEY: KEY },
    )
    const reader = openReader(database)
    const requests = reader.get('select requests from _run order by id desc limit 1') as number
    await reader.close()
    all.push({ ...done, written: changed(before, readFileSync(database)), requests })
  }
  await service.stop()
  return [
    {
      title: 'Nothing to do',
      about: `\`sync\` of ${grouped(SERIES)} final series.`,
      head: ['requests', 'seconds', 'bytes written', 'file size', 'peak MB'],
      rows: [
        [
          String(Math.max(...all.map(({ requests }) => requests))),
          fixed(median(all.map(({ seconds }) => seconds))),
          grouped(median(all.map(({ written }) => written))),
          grouped(statSync(database).size),
          fixed(median(all.map(({ peakMb }) => peakMb ?? 0)), 0),
        ],
      ],
    },
  ]
}
