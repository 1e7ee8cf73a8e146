import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { type Measured, measure, median, medianOf, memoryMb } from '../measure.ts'
import { startServing } from '../serving.ts'
import { fillLarge, largeSeries } from './views.ts'

const bench = join(import.meta.dirname, '..')
const BIN = join(bench, '../src/cli/bin.js')
const KEY = 'k'.repeat(64)
/** An indicator that the filled database lacks. */
const NEW_INDICATOR = 90_000
/** Repetitions of each page. */
const TIMES = 20
/** The sizes, as shares of `--rows`: with the default, 1, 10 and 100 million values. */
const SHARES = [1 / 30, 1 / 3, 10 / 3]

const MEANS =
  'select indicator_id, indicator_name, sum(avg * hours) / sum(hours) from observations_daily group by indicator_id, indicator_name'
const PAGES = {
  'page of a series, 30 days': '/series/500',
  'chart data, ten years': '/api/series/500/8741?px=1000&from=2015-01-01&to=2025-01-01',
}

/** What a task took, in seconds and MB. */
type Cells = readonly [name: string, seconds: string, peakMb: string]

const cells = (name: string, results: readonly Pick<Measured, 'seconds' | 'peakMb'>[]): Cells => [
  name,
  fixed(median(results.map(({ seconds }) => seconds))),
  fixed(
    medianOf(results, ({ peakMb }) => peakMb),
    0,
  ),
]

/** Measures the page and the memory of its server. */
async function measurePages(database: string): Promise<Cells[]> {
  const server = await startServing('../src/cli/bin.js', ['serve', '--database', database, '--port', '0'])
  const measured: Cells[] = []
  try {
    for (const [name, path] of Object.entries(PAGES)) {
      const results = []
      for (let i = 0; i < TIMES; i++) {
        const began = performance.now()
        const response = await fetch(server.url + path)
        await response.arrayBuffer()
        if (!response.ok) throw new Error(`${path}: status ${response.status}`)
        results.push({ seconds: (performance.now() - began) / 1000, peakMb: memoryMb(server.pid, 'VmHWM') })
      }
      measured.push(cells(name, results))
    }
  } finally {
    await server.stop()
  }
  return measured
}

/** Measures the tasks on a database of a size. */
async function measureSize(input: Bench, rows: number): Promise<{ values: number; measured: Cells[] }> {
  const { folder, runs, say } = input
  const { database, values } = await fillLarge({ ...input, rows })
  const ids = Array.from({ length: largeSeries(rows) }, (_, i) => 601 + i)
  const window = 'window: { from: 2015-01-01, to: 2017-04-01 }'
  const job = join(folder, 'growth.yaml')
  const newJob = join(folder, 'growth-new.yaml')
  writeFileSync(job, `name: all\nseries:\n  - { indicators: [${ids.join(', ')}], ${window} }\n`)
  const service = await startServing('service.ts', ['fresh'])
  const env = { INDICATOR_SYNC_API_KEY: KEY }
  const sync = (file: string) =>
    measure(process.execPath, [BIN, 'sync', file, '--database', database, '--base-url', service.url], env)
  const command = (name: string) => measure(process.execPath, [BIN, name, '--database', database], env)
  // Judges every series, because the job is new.
  await sync(job)
  const results = new Map<string, Measured[]>()
  for (let run = 1; run <= runs; run++) {
    say(`growth: ${grouped(values)} values, run ${run} of ${runs}`)
    // Another indicator in every run, so that its values are new.
    const pace = 'pace: { perSecond: 50 }'
    writeFileSync(
      newJob,
      `name: new\n${pace}\nseries:\n  - { indicators: [${NEW_INDICATOR + run}], chunk: 31d, ${window} }\n`,
    )
    const tasks: Readonly<Record<string, () => Promise<Measured>>> = {
      'sync of two years of a new indicator': () => sync(newJob),
      'sync with nothing to do': () => sync(job),
      gaps: () => command('gaps'),
      status: () => command('status'),
      'mean of each indicator': () => measure(process.execPath, [join(bench, 'children/view.ts'), database, MEANS]),
    }
    for (const [name, task] of Object.entries(tasks)) results.set(name, [...(results.get(name) ?? []), await task()])
  }
  await service.stop()
  const measured = [...results].map(([name, some]) => cells(name, some))
  measured.push(...(await measurePages(database)))
  return { values, measured }
}

/** Measures how time and memory grow with the database: a thirtieth, a third and ten thirds of the usual number of values. */
export async function growth(input: Bench): Promise<Section> {
  const sizes: Awaited<ReturnType<typeof measureSize>>[] = []
  for (const share of SHARES) {
    const folder = join(input.folder, `growth-${sizes.length}`)
    mkdirSync(folder)
    sizes.push(await measureSize({ ...input, folder }, Math.round(input.rows * share)))
    rmSync(folder, { recursive: true, force: true })
  }
  const names = sizes[0]!.measured.map(([name]) => name)
  return {
    title: 'Growth',
    command: 'npm run bench -- growth',
    about: 'the same tasks on databases of three sizes; seconds and peak MB.',
    head: ['task', ...sizes.flatMap(({ values }) => [`${grouped(values)} values`, 'MB'])],
    rows: names.map((name, i) => [name, ...sizes.flatMap(({ measured }) => measured[i]!.slice(1))]),
  }
}
