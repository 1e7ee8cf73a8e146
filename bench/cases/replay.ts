import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { copyInto } from '../../src/reports/publishCopy.ts'
import { openStore } from '../../test/store.ts'
import { SHAPES, type ShapeName, valuesOf, writeAnswers } from '../answers.ts'
import { type Bench, fixed, type Section } from '../bench.ts'
import { measure, median } from '../measure.ts'
import { buildFloor } from './load.ts'

const here = join(import.meta.dirname, '..')

/** What a database of nothing but observations and their bookkeeping needs, and its replies. */
async function sizes(database: string, folder: string): Promise<{ row: number; tape: number }> {
  const copy = join(folder, 'small.db')
  const store = await openStore(database)
  const count = store.get('select count(*) from observation') as number
  const tape = (store.get('select sum(length(body)) from _reply') as number) / count
  await copyInto(store, copy)
  await store.close()
  const without = await openStore(copy)
  without.run('update _fetch set reply_hash = null', [])
  without.run('delete from _reply', [])
  without.run('vacuum', [])
  without.tidy()
  await without.close()
  const row = statSync(copy).size / count
  rmSync(copy)
  return { row, tape }
}

/** A database made anew from its stored replies; and what it weighs. */
export async function replay(bench: Bench): Promise<Section[]> {
  const { folder, runs, say } = bench
  const floor = await buildFloor(bench)
  const weights: string[][] = []
  const speeds: string[][] = []
  for (const name of Object.keys(SHAPES) as ShapeName[]) {
    const answers = join(folder, 'replay.bin')
    const database = join(folder, `replay-${name}.db`)
    writeAnswers(answers, SHAPES[name], 0, 0)
    await measure(process.execPath, [join(here, 'children/load.ts'), name, database, answers])
    const { row, tape } = await sizes(database, folder)
    weights.push([name, fixed(row, 1), fixed(tape, 1)])
    const ours: number[] = []
    const floors: number[] = []
    let peak = 0
    for (let run = 1; run <= runs; run++) {
      say(`replay ${name}: run ${run} of ${runs}`)
      const seconds = (text: string): number => (JSON.parse(text) as { seconds: number }).seconds
      if (floor) {
        const out = join(folder, 'floor.db')
        floors.push(seconds((await measure(floor, [answers, out])).last))
        for (const end of ['', '-wal', '-shm']) rmSync(out + end, { force: true })
      }
      const { last, peakMb } = await measure(process.execPath, [join(here, 'children/replay.ts'), database])
      ours.push(seconds(last))
      peak = Math.max(peak, peakMb ?? 0)
    }
    const { answers: count } = SHAPES[name]
    speeds.push([
      name,
      fixed((median(ours) * 1e6) / (count * valuesOf(SHAPES[name]))),
      floor ? fixed(median(floors.map((one, i) => one / ours[i]!))) : '–',
      fixed(peak, 0),
    ])
    for (const file of [answers, database]) rmSync(file, { force: true })
  }
  return [
    {
      title: 'Replay',
      about: 'Rebuild everything from stored responses.',
      head: ['responses', 'µs per row', '× C floor', 'peak MB'],
      rows: speeds,
    },
    {
      title: 'Size',
      about: 'Bytes per value',
      head: ['responses', 'database', 'stored responses'],
      rows: weights,
    },
  ]
}
