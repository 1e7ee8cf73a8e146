/*
 * Compares lake engines with SQLite: `npm run test:lake` (DuckDB, Polars, pandas), `npm run test:spark`. PYTHON names a
 * Python with these packages.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openFolderPlace } from '../../../src/lake/places/folder.ts'
import { syncLake } from '../../../src/lake/syncLake.ts'
import { startCampaign } from '../../support/campaign.ts'
import { fillDemo } from '../../support/demoDatabase.ts'
import { RECIPES } from '../../support/genericRecipes.ts'
import { openReader } from '../../support/testStore.ts'
import { LAKE_RECIPES } from './recipes.ts'

type Row = readonly (string | number | null)[]
interface Answers {
  readonly totals: readonly Row[]
  readonly recipes: Readonly<Record<string, readonly Row[]>>
  readonly seconds: number
}

const {
  words: engines,
  say,
  fault,
  end,
} = await startCampaign({
  script: 'test:lake',
  about: 'Compares lake engines with SQLite.',
  words: 'duckdb|polars|pandas|spark …',
})
const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-'))
const file = join(folder, 'market.db')
const lake = join(folder, 'lake')
/** Half of the last decimal of a number, because recipes round their results. */
const lastDecimal = (value: number): number => 0.5 * 10 ** -(String(value).split('.')[1]?.length ?? 0)

/** Permitted differences: the last bits of a sum, which depend on the order, or also the last rounding. */
type Tolerance = 'sums' | 'rounding'

const same = (got: Row[number], expected: Row[number], tolerance: Tolerance): boolean =>
  Object.is(got, expected) ||
  (typeof got === 'number' &&
    typeof expected === 'number' &&
    Math.abs(got - expected) <= (tolerance === 'rounding' ? lastDecimal(expected) : 0) + 1e-9 * Math.abs(expected))

/** Prints where two results differ. */
function compare(what: string, got: readonly Row[], expected: readonly Row[], tolerance: Tolerance): string[] {
  if (got.length !== expected.length) return [`${what}: ${got.length} rows in place of ${expected.length}`]
  return got.flatMap((row, i) =>
    row.length === expected[i]!.length && row.every((value, j) => same(value, expected[i]![j]!, tolerance))
      ? []
      : [`${what}, row ${i}: ${JSON.stringify(row)} in place of ${JSON.stringify(expected[i])}`],
  )
}

const sorted = (rows: readonly Row[]): Row[] =>
  [...rows].sort((a, b) => Number(a[0]) - Number(b[0]) || Number(a[1]) - Number(b[1]))

try {
  const store = await fillDemo(file)
  // Many averages are exactly half of the last decimal, where the last bits of a sum would decide.
  store.run(
    'update observation set value = round(value * 4) / 4 + (at / 900) % 3 * 0.01 where series_id in (select id from series where indicator_id = 600)',
    [],
  )
  await store.close()
  const reader = openReader(file)
  await syncLake(reader, openFolderPlace(lake), { program: 'test', nowMs: Date.now })
  const totals = reader.all(
    `select series_id, cast(strftime('%Y', at, 'unixepoch') as integer) as year, count(*) as n, sum(value) as total, min(value) as least
     from observation group by 1, 2`,
  ) as Record<string, Row[number]>[]
  const expected = sorted(totals.map((row) => Object.values(row)))
  const answers = RECIPES.filter(({ name }) => name in LAKE_RECIPES).map(
    ({ name, sql, parameters, shown }) => [name, [...reader.rows(sql, { ...parameters, ...shown })] as Row[]] as const,
  )
  for (const engine of engines) {
    const output = execFileSync(process.env.PYTHON ?? 'python3', [resolve('test/lake/engines/read.py'), engine, lake], {
      input: JSON.stringify(LAKE_RECIPES),
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'inherit'],
      maxBuffer: 1 << 28,
    })
    const got = JSON.parse(output.trim().split('\n').at(-1)!) as Answers
    const faults = compare('totals', sorted(got.totals), expected, 'sums')
    for (const [name, rows] of answers)
      if (got.recipes[name]) faults.push(...compare(name, got.recipes[name], rows, 'rounding'))
    say(
      `${engine}: ${expected.length} series and years, ${Object.keys(got.recipes).length} recipes, ${got.seconds.toFixed(1)} s`,
    )
    for (const one of faults.slice(0, 10)) fault(`${engine}: ${one}`, engine)
  }
  await reader.close()
} finally {
  rmSync(folder, { recursive: true })
}
end(`${engines.length} engines`)
