import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { measure, median } from '../measure.ts'

const bench = join(import.meta.dirname, '..')
/** Five geos, 834 days, hourly. */
const VALUES_PER_SERIES = 100_080
/** Ten years of values every five minutes. */
const LONG_SERIES = 1_052_064

/** The number of hourly series that have about so many values. */
export const largeSeries = (rows: number): number => Math.max(1, Math.round(rows / VALUES_PER_SERIES))

/** Creates the large database by SQL, in a minute instead of ten, unless another case has created it. */
export async function fillLarge({ folder, rows, say }: Bench): Promise<{ database: string; values: number }> {
  const database = join(folder, 'large.db')
  const series = largeSeries(rows)
  const values = series * VALUES_PER_SERIES + LONG_SERIES
  if (existsSync(database)) return { database, values }
  say(`filling in ${grouped(values)} values`)
  await measure(process.execPath, [join(bench, 'children/fill.ts'), database, String(series)])
  await measure(process.execPath, [join(bench, 'children/fillLong.ts'), database])
  return { database, values }
}

const YEAR = '2016'
const TOTAL = 'select count(*), avg(value) from'
const QUERIES: Readonly<Record<string, string>> = {
  'a total of all values, without a view': `${TOTAL} observation`,
  'the same through `observations`': `${TOTAL} observations`,
  'one day of all indicators':
    "select * from observations where at >= unixepoch('2016-05-01') and at < unixepoch('2016-05-02')",
  'all values of an indicator': 'select * from observations where indicator_id = 610',
  'their versions': 'select * from observation_history where indicator_id = 610',
  'their hours': 'select * from observations_hourly where indicator_id = 610',
  'their days': 'select * from observations_daily where indicator_id = 610',
  'their months': 'select * from observations_monthly where indicator_id = 610',
  'months of all indicators': `select * from observations_monthly where local_month like '${YEAR}-%'`,
  'last values of all indicators': 'select * from latest',
  'coverage of all indicators': 'select * from coverage',
}

/** Measures queries through views on the large database. */
export async function views(input: Bench): Promise<Section> {
  const { runs, say } = input
  const { database, values } = await fillLarge(input)
  const timings: string[][] = []
  for (const [name, sql] of Object.entries(QUERIES)) {
    say(`views: ${name}`)
    const results: { seconds: number; rows: number }[] = []
    for (let run = 1; run <= runs; run++)
      results.push(JSON.parse((await measure(process.execPath, [join(bench, 'children/view.ts'), database, sql])).last))
    timings.push([name, grouped(results[0]!.rows), fixed(median(results.map(({ seconds }) => seconds)), 3)])
  }
  return {
    title: 'Queries',
    command: 'npm run bench -- views',
    about: `on ${grouped(values)} values; all rows are read.`,
    head: ['query', 'rows', 'seconds'],
    rows: timings,
  }
}
