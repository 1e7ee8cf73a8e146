/* Reads a lake with engines and compares with SQLite: `npm run test:lake` (duckdb polars pandas; `query` and `ducklake` where @duckdb/node-api is installed), `npm run test:spark`. PYTHON is one that has them. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { loadDuckDb } from '../../../src/lake/duckdb.ts'
import { registerFiles } from '../../../src/lake/ducklake.ts'
import { folderPlace } from '../../../src/lake/places/folder.ts'
import { syncLake } from '../../../src/lake/sync.ts'
import { fillMarket } from '../../market.ts'
import { RECIPES } from '../../recipes.ts'
import { openReader } from '../../store.ts'
import { LAKE_RECIPES } from './recipes.ts'

type Row = readonly (string | number | null)[]
interface Answers {
  readonly totals: readonly Row[]
  readonly recipes: Readonly<Record<string, readonly Row[]>>
  readonly seconds: number
}

const engines = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-'))
const file = join(folder, 'market.db')
const lake = join(folder, 'lake')
/** Half of the last decimal that a number is written with: recipes round what they answer. */
const lastDecimal = (value: number): number => 0.5 * 10 ** -(String(value).split('.')[1]?.length ?? 0)

/** How far numbers may be apart: not at all; by the last bits of a sum, which differ with its order; or by the last rounding, too. */
type Tolerance = 'none' | 'sums' | 'rounding'

const same = (got: Row[number], expected: Row[number], tolerance: Tolerance): boolean =>
  Object.is(got, expected) ||
  (tolerance !== 'none' &&
    typeof got === 'number' &&
    typeof expected === 'number' &&
    Math.abs(got - expected) <= (tolerance === 'rounding' ? lastDecimal(expected) : 0) + 1e-9 * Math.abs(expected))

/** Says where two answers differ. */
function compare(what: string, got: readonly Row[], expected: readonly Row[], tolerance: Tolerance): string[] {
  if (got.length !== expected.length) return [`${what}: ${got.length} rows in place of ${expected.length}`]
  return got.flatMap((row, i) =>
    row.length === expected[i]!.length && row.every((value, j) => same(value, expected[i]![j]!, tolerance))
      ? []
      : [`${what}, row ${i}: ${JSON.stringify(row)} in place of ${JSON.stringify(expected[i])}`],
  )
}

const TOTALS = 'select series_id, year, count(*), sum(value), min(value) from observation group by 1, 2'

/** Parameters by which a recipe answers the same whenever it is asked, as flags. */
const shownOf = ({ shown = {} }: (typeof RECIPES)[number]): string[] =>
  Object.entries(shown).flatMap(([name, value]) => ['--param', `${name}=${value}`])

/** Recipes on values, which DuckDB answers as well. */
const ON_VALUES = RECIPES.slice(
  0,
  RECIPES.findIndex(({ name }) => name === 'holes'),
)

/** What `query --engine duckdb` answers, on the lake that `more` names, else on the file. */
function byQuery(more: readonly string[] = []): string {
  const query = (...args: string[]): unknown[] => {
    const all = ['query', '--database', file, '--json', '--quiet', '--timeout', '0', ...args]
    const rows = JSON.parse(execFileSync(process.execPath, [resolve('src/cli/bin.js'), ...all], { encoding: 'utf8' }))
    return rows.map((row: object) => Object.values(row))
  }
  const began = performance.now()
  const engine = ['--engine', 'duckdb', ...more]
  const recipes = Object.fromEntries(
    ON_VALUES.map((recipe) => [recipe.name, query('--recipe', recipe.name, ...shownOf(recipe), ...engine)]),
  )
  return JSON.stringify({ totals: query(...engine, TOTALS), recipes, seconds: (performance.now() - began) / 1000 })
}

/** What a catalogue of DuckLake answers in which the files were registered, twice; DUCKLAKE names another one than a file. */
async function byDuckLake(): Promise<string> {
  const catalogue = process.env.DUCKLAKE ?? join(folder, 'lake.ducklake')
  const news = [await registerFiles(lake, catalogue), await registerFiles(lake, catalogue)]
  if (news.join() !== 'true,false') throw new Error(`The catalogue was written ${news}`)
  const began = performance.now()
  const { DuckDBInstance } = await loadDuckDb('this')
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  for (const statement of [
    `attach 'ducklake:${process.env.DUCKLAKE ? 'postgres:' : ''}${catalogue}' as lake`,
    'use lake',
    `set timezone = 'UTC'`,
    `create temp view observations as
       select o.*, s.* exclude (series_id), cast(o.at_utc at time zone s.time_zone as date) as local_date
       from observation o join series s using (series_id)`,
  ])
    await connection.run(statement)
  const query = async (sql: string): Promise<unknown[]> => {
    const rows = await connection.runAndReadAll(sql)
    return rows
      .getRowsJson()
      .map((row) => row.map((value) => (typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value)))
  }
  const recipes: Record<string, unknown> = {}
  for (const [name, sql] of Object.entries(LAKE_RECIPES)) recipes[name] = await query(sql)
  return JSON.stringify({ totals: await query(TOTALS), recipes, seconds: (performance.now() - began) / 1000 })
}

const sorted = (rows: readonly Row[]): Row[] =>
  [...rows].sort((a, b) => Number(a[0]) - Number(b[0]) || Number(a[1]) - Number(b[1]))

try {
  const store = await fillMarket(file)
  // Many averages are half of the last decimal that recipes tell, where the last bits of a sum would decide.
  store.run(
    'update observation set value = round(value * 4) / 4 + (at / 900) % 3 * 0.01 where series_id in (select id from series where indicator_id = 600)',
    [],
  )
  await store.close()
  const reader = openReader(file)
  await syncLake(reader, folderPlace(lake), { program: 'test', now: Date.now })
  const totals = reader.all(
    `select series_id, cast(strftime('%Y', at, 'unixepoch') as integer) as year, count(*) as n, sum(value) as total, min(value) as least
     from observation group by 1, 2`,
  ) as Record<string, Row[number]>[]
  const expected = sorted(totals.map((row) => Object.values(row)))
  const answers = ON_VALUES.map(({ name, sql, parameters, shown }) => {
    return [name, [...reader.rows(sql, { ...parameters, ...shown })] as Row[]] as const
  })
  for (const engine of engines) {
    const output =
      engine === 'query' || engine === 'query-file'
        ? byQuery(engine === 'query' ? ['--lake', lake] : [])
        : engine === 'ducklake'
          ? await byDuckLake()
          : execFileSync(process.env.PYTHON ?? 'python3', [resolve('test/lake/engines/read.py'), engine, lake], {
              input: JSON.stringify(LAKE_RECIPES),
              encoding: 'utf8',
              stdio: ['pipe', 'pipe', 'inherit'],
              maxBuffer: 1 << 28,
            })
    const got = JSON.parse(output.trim().split('\n').at(-1)!) as Answers
    const faults = compare('totals', sorted(got.totals), expected, 'sums')
    for (const [name, rows] of answers)
      if (got.recipes[name])
        faults.push(...compare(name, got.recipes[name], rows, engine.startsWith('query') ? 'none' : 'rounding'))
    process.stdout.write(
      `${engine}: ${expected.length} series and years, ${Object.keys(got.recipes).length} recipes, ${got.seconds.toFixed(1)} s, ${faults.length} faults\n`,
    )
    for (const fault of faults.slice(0, 10)) process.stdout.write(`  ${fault}\n`)
    if (faults.length > 0) process.exitCode = 1
  }
  await reader.close()
} finally {
  rmSync(folder, { recursive: true })
}
