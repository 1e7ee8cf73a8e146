import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { COVERAGE_VIEWS } from '../../src/db/tables/sql/coverageViews.ts'
import { VALUE_VIEWS } from '../../src/db/tables/sql/valueViews.ts'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { type Measured, measure, median } from '../measure.ts'

const here = join(import.meta.dirname, '..')
/** A view that takes longer is stopped. */
const PATIENCE_S = 60
/** Five geos, 834 days, hour by hour. */
export const VALUES_A_SERIES = 100_080

/** The views of values and coverage on a database: of one series, of all, and a total over all. */
export async function measureViews(
  { runs, say }: Pick<Bench, 'runs' | 'say'>,
  database: string,
  series: number,
): Promise<Section> {
  const timings: string[][] = []
  for (const view of Object.keys({ ...VALUE_VIEWS, ...COVERAGE_VIEWS })) {
    const timed = async (scope: 'one' | 'all' | 'total'): Promise<string> => {
      const all: Measured[] = []
      for (let run = 1; run <= runs; run++) {
        say(`views: ${view}, ${scope}: run ${run} of ${runs}`)
        const args = [join(here, 'children/view.ts'), database, view, scope]
        all.push(await measure(process.execPath, args, {}, PATIENCE_S))
        if (all.at(-1)!.last === '') return `>${PATIENCE_S}`
        // What takes long is not made surer by repetition.
        if (all.at(-1)!.seconds > 20) break
      }
      const answers = all.map(({ last }) => JSON.parse(last) as { seconds: number })
      return fixed(median(answers.map(({ seconds }) => seconds)), 3)
    }
    timings.push([view, await timed('one'), await timed('all'), await timed('total')])
  }
  return {
    title: `Views on ${grouped(series * VALUES_A_SERIES)} values`,
    about: `Seconds for all rows of one series (${grouped(VALUES_A_SERIES)} values), of all ${grouped(series)}, and a total.`,
    head: ['view', 'one series', 'all series', 'total'],
    rows: timings,
  }
}

/** Every view on a database that is filled by SQL in a minute, and not by a sync in ten. */
export async function views(bench: Bench): Promise<Section[]> {
  const database = join(bench.folder, 'views.db')
  const series = Math.max(1, Math.round(bench.rows / VALUES_A_SERIES))
  bench.say(`views: filling in ${grouped(series * VALUES_A_SERIES)} values`)
  await measure(process.execPath, [join(here, 'children/fill.ts'), database, String(series)])
  const section = await measureViews(bench, database, series)
  for (const end of ['', '-wal', '-shm']) rmSync(database + end, { force: true })
  return [section]
}
