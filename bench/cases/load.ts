import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { transform } from '../../src/transform/transform.ts'
import {
  plannedRequestOf,
  readAnswers,
  SHAPES,
  type Shape,
  type ShapeName,
  valuesOf,
  writeAnswers,
} from '../answers.ts'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { isThere, type Measured, measure, median } from '../measure.ts'

const here = join(import.meta.dirname, '..')

/** Who takes part: the process that loads a file of answers into a database, and which files it loads one after the other. */
interface Contender {
  readonly command: string
  readonly args: (input: Input) => readonly string[]
  readonly steps: readonly Step[]
}

/** A file of answers that is loaded: the first one, then others with the same values, or all of them changed. */
interface Step {
  /** What it is called in the report; null where it only makes ready for the next one. */
  readonly name: string | null
  readonly file: number
  /** The floor that it is compared with. */
  readonly floor: string
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

const FLOOR = 'C floor'
const PRODUCT = 'indicator-sync'
const REVISED = 'C floor with history, revised values'
const [SAME, CHANGED] = [1, 2]

const once = (name: string): readonly Step[] => [{ name, file: 0, floor: FLOOR }]

/** Those of the contenders that can run here. */
async function contenders(bench: Bench): Promise<Contender[]> {
  const built = await buildFloor(bench)
  const floor: Contender | null =
    built === null ? null : { command: built, args: ({ answers, database }) => [answers, database], steps: once(FLOOR) }
  const product: Contender = {
    command: process.execPath,
    args: ({ shape, database, answers }) => [join(here, 'children/load.ts'), shape, database, answers],
    steps: [
      ...once(PRODUCT),
      { name: `${PRODUCT}, unchanged values`, file: SAME, floor: FLOOR },
      { name: `${PRODUCT}, revised values`, file: CHANGED, floor: REVISED },
    ],
  }
  const found: Contender[] = floor ? [floor, product] : [product]
  if (floor)
    found.push({
      ...floor,
      args: (input) => [...floor.args(input), 'history'],
      steps: [
        { name: null, file: 0, floor: REVISED },
        { name: REVISED, file: CHANGED, floor: REVISED },
      ],
    })
  if (await isThere('sqlite3', ['--version']))
    found.push({
      command: process.execPath,
      args: ({ csv, database }) => [join(here, 'peers/shell.ts'), csv, database],
      steps: once('sqlite3 .import (JSON not read)'),
    })
  else bench.skip('the sqlite3 shell is not installed.')
  for (const [name, module, file] of [
    ['pandas', 'pandas', 'pandas_upsert.py'],
    ['sqlite-utils', 'sqlite_utils', 'sqlite_utils_upsert.py'],
  ] as const)
    if (await isThere('python3', ['-c', `import ${module}`]))
      found.push({
        command: 'python3',
        args: ({ answers, database }) => [join(here, 'peers', file), answers, database],
        steps: once(name),
      })
    else bench.skip(`${name} is not installed (python3 -m pip install ${name}).`)
  return found
}

/** What the shell imports: the values, read and in key order. */
function writeCsv(file: string, answers: string, shape: Shape): void {
  const lines: string[] = []
  for (const [n, body] of readAnswers(answers).entries()) {
    const planned = plannedRequestOf(n, shape)
    const { at, geoIds, values } = transform(body, planned).observations!
    for (let i = 0; i < at.length; i++)
      lines.push(`${planned.series!.indicatorId},${geoIds[i]},${at[i]},${values[i]},3600,${n}`)
  }
  writeFileSync(file, `${lines.join('\n')}\n`)
}

interface Timed {
  readonly seconds: number
  /** Seconds of processor; not told by all. */
  readonly cpu?: number
  readonly rows: number
}

const timed = ({ last }: Measured): Timed => JSON.parse(last)
/** Microseconds a row, as the process itself timed it: its start is not counted. */
const perRow = (measured: Measured): number => (timed(measured).seconds * 1e6) / timed(measured).rows
/** The same of the processor, all threads together. */
const worked = (all: readonly Measured[]): number | null => {
  const figures = all.map(timed).flatMap(({ cpu, rows }) => (cpu === undefined ? [] : [(cpu * 1e6) / rows]))
  return figures.length === 0 ? null : median(figures)
}

const fresh = (database: string): void => {
  for (const end of ['', '-wal', '-shm']) rmSync(database + end, { force: true })
}

/** What the values and the stamp of the update of each file differ by from the first one. */
const FILES = [
  { salt: 0, stamp: 0 },
  { salt: 0, stamp: 1 },
  { salt: 1, stamp: 2 },
]

/** From raw bytes to committed rows. */
export async function load(bench: Bench): Promise<Section[]> {
  const { folder, runs, say } = bench
  const all = await contenders(bench)
  const figures = new Map<string, string[]>()
  for (const name of Object.keys(SHAPES) as ShapeName[]) {
    const shape = SHAPES[name]
    const files = FILES.map(({ salt, stamp }, i) => {
      const file = join(folder, `${name}-${i}.bin`)
      writeAnswers(file, shape, salt, stamp)
      return file
    })
    const csv = join(folder, `${name}.csv`)
    writeCsv(csv, files[0]!, shape)
    const measured = new Map<string, Measured[]>()
    const floorOf = new Map<string, string>()
    for (let run = 1; run <= runs; run++) {
      say(`load ${name}: run ${run} of ${runs}`)
      for (const { command, args, steps } of all) {
        const database = join(folder, 'load.db')
        fresh(database)
        for (const step of steps) {
          const done = await measure(command, args({ shape: name, answers: files[step.file]!, csv, database }))
          if (step.name === null) continue
          measured.set(step.name, [...(measured.get(step.name) ?? []), done])
          floorOf.set(step.name, step.floor)
        }
        fresh(database)
      }
    }
    // Contenders ran in turn, so a run is compared with its neighbour.
    const ratio = (a: readonly Measured[] | undefined, b: readonly Measured[]): string =>
      a ? fixed(median(a.map((one, i) => perRow(one) / perRow(b[i]!)))) : '–'
    for (const file of [...files, csv]) rmSync(file)
    for (const [who, runsOfIt] of measured)
      figures.set(who, [
        ...(figures.get(who) ?? []),
        fixed(median(runsOfIt.map(perRow))),
        fixed(worked(runsOfIt)),
        ratio(measured.get(floorOf.get(who)!), runsOfIt),
        fixed(median(runsOfIt.map(({ peakMb }) => peakMb ?? 0)), 0),
      ])
  }
  const shapes = Object.values(SHAPES).map(
    (shape) => `${grouped(shape.answers)} responses of ${grouped(valuesOf(shape))} values`,
  )
  return [
    {
      title: 'Loading',
      about: `From raw bytes to committed rows: ${shapes.join(', then ')}. Only indicator-sync stores revisions, coverage and responses.`,
      head: ['way', ...shapes.flatMap(() => ['µs per row', 'CPU µs', '× C floor', 'peak MB'])],
      rows: [...figures].map(([who, cells]) => [who, ...cells]),
    },
  ]
}
