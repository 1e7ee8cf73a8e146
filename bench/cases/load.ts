import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { transform } from '../../src/transform/transform.ts'
import { askOf, readAnswers, SHAPES, type Shape, type ShapeName, valuesOf, writeAnswers } from '../answers.ts'
import { type Bench, fixed, type Section } from '../bench.ts'
import { isThere, type Measured, measure, median } from '../measure.ts'

const here = join(import.meta.dirname, '..')

/** Who takes part: what it is called, and the process that loads a file of answers into a database. */
interface Contender {
  readonly name: string
  readonly command: string
  readonly args: (input: Input) => string[]
}

interface Input {
  readonly shape: ShapeName
  readonly answers: string
  readonly csv: string
  readonly database: string
}

/** Builds the floor against the SQLite that is installed, or else against the one that the product brings along; null without a compiler. */
export async function buildFloor({ folder, skip }: Bench): Promise<string | null> {
  const out = join(folder, 'floor')
  if (existsSync(out)) return out
  const source = join(here, 'floor.c')
  if (await isThere('cc', ['-O2', '-o', out, source, '-lsqlite3'])) return out
  const amalgamation = join(
    dirname(createRequire(import.meta.url).resolve('better-sqlite3/package.json')),
    'deps/sqlite3',
  )
  const own = [
    '-O2',
    `-I${amalgamation}`,
    '-o',
    out,
    source,
    join(amalgamation, 'sqlite3.c'),
    '-lm',
    '-ldl',
    '-lpthread',
  ]
  if (existsSync(amalgamation) && (await isThere('cc', own))) return out
  skip('the C floor, for there is no C compiler (cc), or no SQLite to build with.')
  return null
}

/** Those of the contenders that can run here. */
async function contenders(bench: Bench): Promise<Contender[]> {
  const floor = await buildFloor(bench)
  const product: Contender = {
    name: 'indicator-sync',
    command: process.execPath,
    args: ({ shape, database, answers }) => [join(here, 'children/load.ts'), shape, database, answers],
  }
  const found: Contender[] = floor
    ? [{ name: 'C floor', command: floor, args: ({ answers, database }) => [answers, database] }, product]
    : [product]
  if (await isThere('sqlite3', ['--version']))
    found.push({
      name: 'sqlite3 .import (JSON not read)',
      command: process.execPath,
      args: ({ csv, database }) => [join(here, 'peers/shell.ts'), csv, database],
    })
  else bench.skip('the sqlite3 shell is not installed.')
  for (const [name, module, file] of [
    ['pandas', 'pandas', 'pandas_upsert.py'],
    ['sqlite-utils', 'sqlite_utils', 'sqlite_utils_upsert.py'],
  ] as const)
    if (await isThere('python3', ['-c', `import ${module}`]))
      found.push({
        name,
        command: 'python3',
        args: ({ answers, database }) => [join(here, 'peers', file), answers, database],
      })
    else bench.skip(`${name} is not installed (python3 -m pip install ${name}).`)
  return found
}

/** What the shell imports: the values, read and in key order. */
function writeCsv(file: string, answers: string, shape: Shape): void {
  const lines: string[] = []
  for (const [n, body] of readAnswers(answers).entries()) {
    const planned = askOf(n, shape)
    const { at, geoIds, values } = transform(body, planned).observations!
    for (let i = 0; i < at.length; i++)
      lines.push(`${planned.series!.indicatorId},${geoIds[i]},${at[i]},${values[i]},3600,${n}`)
  }
  writeFileSync(file, `${lines.join('\n')}\n`)
}

/** Microseconds a row, as the process itself timed it: its start is not counted. */
const perRow = ({ last }: Measured): number => {
  const { seconds, rows } = JSON.parse(last) as { seconds: number; rows: number }
  return (seconds * 1e6) / rows
}

const fresh = (database: string): void => {
  for (const end of ['', '-wal', '-shm']) rmSync(database + end, { force: true })
}

/** Values that changed, or did not, are loaded by the product only: no other keeps what they were before. */
const AGAIN = [
  { name: 'indicator-sync, identical values again', salt: 0, stamp: 1 },
  { name: 'indicator-sync, every value revised', salt: 1, stamp: 2 },
]

/** From raw bytes to committed rows. */
export async function load(bench: Bench): Promise<Section[]> {
  const { folder, runs, say } = bench
  const all = await contenders(bench)
  const sections: Section[] = []
  for (const name of Object.keys(SHAPES) as ShapeName[]) {
    const shape = SHAPES[name]
    const files = [{ salt: 0, stamp: 0 }, ...AGAIN].map(({ salt, stamp }, i) => {
      const file = join(folder, `${name}-${i}.bin`)
      writeAnswers(file, shape, salt, stamp)
      return file
    })
    const csv = join(folder, `${name}.csv`)
    writeCsv(csv, files[0]!, shape)
    const measured = new Map<string, Measured[]>()
    const one = async ({ name: who, command, args }: Contender, answers: string, database: string): Promise<void> => {
      const done = await measure(command, args({ shape: name, answers, csv, database }))
      measured.set(who, [...(measured.get(who) ?? []), done])
    }
    for (let run = 1; run <= runs; run++) {
      say(`load ${name}: run ${run} of ${runs}`)
      for (const contender of all) {
        const database = join(folder, 'load.db')
        fresh(database)
        await one(contender, files[0]!, database)
        if (contender.name === 'indicator-sync')
          for (const [i, again] of AGAIN.entries())
            await one({ ...contender, name: again.name }, files[i + 1]!, database)
        fresh(database)
      }
    }
    const floor = measured.get('C floor')
    const product = measured.get('indicator-sync')!
    // Contenders ran in turn, so a run is compared with its neighbour.
    const ratio = (a: readonly Measured[] | undefined, b: readonly Measured[]): string =>
      a ? fixed(median(a.map((one, i) => perRow(one) / perRow(b[i]!)))) : '–'
    for (const file of [...files, csv]) rmSync(file)
    sections.push({
      title: `Loading ${shape.answers.toLocaleString('en')} answers of ${valuesOf(shape).toLocaleString('en')} values`,
      about:
        'From raw bytes to committed rows, one transaction an answer. The product keeps revisions, coverage, the reply store and the record of the request; the others keep the value only. The peak counts the input, which all but the shell hold in memory.',
      head: ['way', 'µs a row', 'speed against the C floor', 'indicator-sync is so many times as fast', 'peak MB'],
      rows: [...measured].map(([who, runsOfIt]) => [
        who,
        fixed(median(runsOfIt.map(perRow))),
        ratio(floor, runsOfIt),
        ratio(runsOfIt, product),
        fixed(median(runsOfIt.map(({ peakMb }) => peakMb ?? 0)), 0),
      ]),
    })
  }
  return sections
}
