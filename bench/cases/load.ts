import { existsSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { isInstalled, type Measured, measure, measurePeer, median, medianOf } from '../measure.ts'
import { countValues, SHAPES, type ShapeName, writeResponses } from '../responses.ts'

const bench = join(import.meta.dirname, '..')

/** A program that loads files of responses into a database, one file after the other. */
interface Contender {
  readonly command: string
  readonly args: (input: Input) => readonly string[]
  readonly steps: readonly Step[]
  readonly isPeer?: true
}

/** A file that is loaded. */
interface Step {
  /** The name in the report; null if the step only prepares the next one. */
  readonly name: string | null
  /** Index of the file: the first values, the same again, all values changed. */
  readonly file: 0 | 1 | 2
  /** The name of the step that it is compared with. */
  readonly floor: string
}

interface Input {
  readonly shape: ShapeName
  readonly responses: string
  readonly database: string
}

/** How the values and the update time of each file differ from those of the first one. */
const FILES = [
  { salt: 0, stamp: 0 },
  { salt: 0, stamp: 1 },
  { salt: 1, stamp: 2 },
]

/** Builds the C floor with the installed SQLite or with that of better-sqlite3. Returns null without a compiler. */
export async function buildFloor({ folder, skip }: Bench): Promise<string | null> {
  const out = join(folder, 'floor')
  if (existsSync(out)) return out
  const source = join(bench, 'floor.c')
  if (await isInstalled('cc', ['-O2', '-o', out, source, '-lsqlite3'])) return out
  const driver = dirname(createRequire(import.meta.url).resolve('better-sqlite3/package.json'))
  const amalgamation = join(driver, 'deps/sqlite3')
  const sources = [`-I${amalgamation}`, '-o', out, source, join(amalgamation, 'sqlite3.c')]
  if (existsSync(amalgamation) && (await isInstalled('cc', ['-O2', ...sources, '-lm', '-ldl', '-lpthread']))) return out
  skip('the C floor: no C compiler (cc), or no SQLite to build with.')
  return null
}

const FLOOR = 'C floor'
const ONE_CORE = 'C floor, one core'
const REVISED = 'C floor with history, revised values'
const PEERS = [
  ['pandas', 'pandas', 'pandas_upsert.py'],
  ['sqlite-utils', 'sqlite_utils', 'sqlite_utils_upsert.py'],
] as const

/** Lists the contenders that can run here. */
async function listContenders(input: Bench): Promise<Contender[]> {
  const floor = await buildFloor(input)
  const contenders: Contender[] = []
  const pin = (await isInstalled('taskset', ['-c', '0', 'true'])) ? ['-c', '0'] : null
  const loadArgs = ({ shape, database, responses }: Input) => [
    join(bench, 'children/load.ts'),
    shape,
    database,
    responses,
  ]
  if (floor)
    contenders.push({
      command: floor,
      args: ({ responses, database }) => [responses, database],
      steps: [{ name: FLOOR, file: 0, floor: FLOOR }],
    })
  contenders.push({
    command: process.execPath,
    args: loadArgs,
    steps: [
      { name: 'indicator-sync', file: 0, floor: FLOOR },
      { name: 'indicator-sync, unchanged values', file: 1, floor: FLOOR },
      { name: 'indicator-sync, revised values', file: 2, floor: REVISED },
    ],
  })
  if (floor)
    contenders.push({
      command: floor,
      args: ({ responses, database }) => [responses, database, 'history'],
      steps: [
        { name: null, file: 0, floor: REVISED },
        { name: REVISED, file: 2, floor: REVISED },
      ],
    })
  if (floor && pin)
    contenders.push({
      command: 'taskset',
      args: ({ responses, database }) => [...pin, floor, responses, database],
      steps: [{ name: ONE_CORE, file: 0, floor: ONE_CORE }],
    })
  if (pin)
    contenders.push({
      command: 'taskset',
      args: (input) => [...pin, process.execPath, ...loadArgs(input)],
      steps: [{ name: 'indicator-sync, one core', file: 0, floor: ONE_CORE }],
    })
  for (const [name, module, file] of PEERS)
    if (await isInstalled('python3', ['-c', `import ${module}`]))
      contenders.push({
        command: 'python3',
        args: ({ responses, database }) => [join(bench, 'peers', file), responses, database],
        steps: [{ name, file: 0, floor: FLOOR }],
        isPeer: true,
      })
    else input.skip(`${name} is not installed (python3 -m pip install ${name}).`)
  return contenders
}

/** What a process printed about its load, without its start. */
interface Timed {
  readonly seconds: number
  /** Processor time in seconds; not printed by all contenders. */
  readonly cpu?: number
  readonly rows: number
  /** Responses whose values are read by JSON.parse instead of by the scanner. */
  readonly unscanned?: number
}

const parseTimed = ({ last }: Measured): Timed => JSON.parse(last)
const microseconds = (run: Measured): number => (parseTimed(run).seconds * 1e6) / parseTimed(run).rows
const processorMicroseconds = (run: Measured): number | null => {
  const { cpu, rows } = parseTimed(run)
  return cpu === undefined ? null : (cpu * 1e6) / rows
}

const removeDatabase = (database: string): void => {
  for (const end of ['', '-wal', '-shm']) rmSync(database + end, { force: true })
}

/** Measures one shape: the runs of each step, by name. */
async function measureShape(
  input: Bench,
  contenders: readonly Contender[],
  shape: ShapeName,
): Promise<{ readonly measured: Map<string, Measured[]>; readonly floors: Map<string, string> }> {
  const { folder, runs, say } = input
  const files = FILES.map(({ salt, stamp }, i) => {
    const file = join(folder, `${shape}-${i}.bin`)
    writeResponses(file, SHAPES[shape], salt, stamp)
    return file
  })
  const measured = new Map<string, Measured[]>()
  const floors = new Map<string, string>()
  const database = join(folder, 'load.db')
  for (let run = 1; run <= runs; run++) {
    say(`load ${shape}: run ${run} of ${runs}`)
    for (const { command, args, steps, isPeer } of contenders) {
      if (isPeer && run > 1) continue
      removeDatabase(database)
      for (const { name, file, floor } of steps) {
        const process = [command, args({ shape, responses: files[file]!, database })] as const
        const result = isPeer ? await measurePeer(name!, input, ...process) : await measure(...process)
        const unscanned = result && parseTimed(result).unscanned
        if (unscanned) input.skip(`the scanner, for ${unscanned} of ${SHAPES[shape].responses} ${shape} responses`)
        if (name === null || !result) continue
        measured.set(name, [...(measured.get(name) ?? []), result])
        floors.set(name, floor)
      }
      removeDatabase(database)
    }
  }
  for (const file of files) rmSync(file)
  return { measured, floors }
}

/** Measures the load from raw bytes to committed rows. */
export async function load(input: Bench): Promise<Section> {
  const contenders = await listContenders(input)
  const cells = new Map<string, string[]>()
  for (const shape of Object.keys(SHAPES) as ShapeName[]) {
    const { measured, floors } = await measureShape(input, contenders, shape)
    for (const [name, runs] of measured) {
      const floor = measured.get(floors.get(name)!)
      // Contenders run in turn, so each run is compared with its neighbour.
      const ratio = floor ? median(runs.map((run, i) => microseconds(floor[i]!) / microseconds(run))) : null
      cells.set(name, [
        ...(cells.get(name) ?? []),
        fixed(median(runs.map(microseconds))),
        fixed(medianOf(runs, processorMicroseconds)),
        fixed(ratio),
      ])
    }
  }
  const shapes = Object.values(SHAPES).map(
    (shape) => `${grouped(shape.responses)} responses of ${grouped(countValues(shape))} values`,
  )
  return {
    title: 'Loading',
    command: 'npm run bench -- load',
    about: `from raw bytes to committed rows, ${shapes.join(', then ')}. Only indicator-sync stores revisions, coverage and responses.`,
    head: ['program', ...shapes.flatMap(() => ['µs per value', 'CPU µs', '× floor'])],
    rows: [...cells].map(([name, figures]) => [name, ...figures]),
  }
}
