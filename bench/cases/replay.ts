import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { copyInto } from '../../src/reports/publishCopy.ts'
import { openStore } from '../../test/support/testStore.ts'
import { type Bench, fixed, type Section } from '../bench.ts'
import { measure, median } from '../measure.ts'
import { countValues, SHAPES, type ShapeName, writeResponses } from '../responses.ts'
import { buildFloor } from './load.ts'

const bench = join(import.meta.dirname, '..')

/** Measures the bytes per value of a database without its stored replies, and of these. */
async function measureSizes(
  database: string,
  folder: string,
): Promise<{ readonly value: number; readonly replies: number }> {
  const copy = join(folder, 'small.db')
  const store = await openStore(database)
  const count = store.get('select count(*) from observation') as number
  const replies = (store.get('select sum(length(body)) from _reply') as number) / count
  await copyInto(store, copy)
  await store.close()
  const without = await openStore(copy)
  without.run('update _fetch set reply_hash = null', [])
  without.run('delete from _reply', [])
  without.run('vacuum', [])
  without.tidy()
  await without.close()
  const value = statSync(copy).size / count
  rmSync(copy)
  return { value, replies }
}

/** Measures the rebuild of a database from its stored replies, and its size. */
export async function replay(input: Bench): Promise<Section> {
  const { folder, runs, say } = input
  const floor = await buildFloor(input)
  const rows: string[][] = []
  for (const name of Object.keys(SHAPES) as ShapeName[]) {
    const responses = join(folder, 'replay.bin')
    const database = join(folder, `replay-${name}.db`)
    writeResponses(responses, SHAPES[name], 0, 0)
    await measure(process.execPath, [join(bench, 'children/load.ts'), name, database, responses])
    const sizes = await measureSizes(database, folder)
    const ours: number[] = []
    const ratios: number[] = []
    let peak = 0
    for (let run = 1; run <= runs; run++) {
      say(`replay ${name}: run ${run} of ${runs}`)
      const parseSeconds = (text: string): number => (JSON.parse(text) as { seconds: number }).seconds
      const { last, peakMb } = await measure(process.execPath, [join(bench, 'children/replay.ts'), database])
      ours.push(parseSeconds(last))
      peak = Math.max(peak, peakMb ?? 0)
      if (!floor) continue
      const out = join(folder, 'floor.db')
      ratios.push(parseSeconds((await measure(floor, [responses, out])).last) / ours.at(-1)!)
      for (const end of ['', '-wal', '-shm']) rmSync(out + end, { force: true })
    }
    rows.push([
      name,
      fixed((median(ours) * 1e6) / (SHAPES[name].responses * countValues(SHAPES[name]))),
      floor ? fixed(median(ratios)) : '–',
      fixed(peak, 0),
      fixed(sizes.value, 1),
      fixed(sizes.replies, 1),
    ])
    for (const file of [responses, database]) rmSync(file, { force: true })
  }
  return {
    title: 'Replay and size',
    command: 'npm run bench -- replay',
    about: 'rebuild from stored responses; bytes per value of a database without its responses, and of these.',
    head: ['responses', 'µs per value', '× C floor', 'peak MB', 'database bytes', 'response bytes'],
    rows,
  }
}
