import { join } from 'node:path'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { isInstalled, measure, measurePeer, median } from '../measure.ts'
import { fillLarge } from './views.ts'

const bench = join(import.meta.dirname, '..')
const MAIN = join(bench, '../src/cli/main.ts')

const MEAN = 'sum(value * step_s) / sum(step_s)'
const MEAN_OF_DAYS = 'sum(avg * hours) / sum(hours)'
/** In DuckDB, from the instant in microseconds: `date_trunc` of a time with a zone takes four times as long. */
const DUCKDB_LOCAL = "make_timestamp(epoch_us(at_utc at time zone 'Europe/Madrid'))"
const DUCKDB_NAMES = 'observation join series using (series_id)'

interface Question {
  readonly name: string
  /** The fastest view for it. */
  readonly view: string
  readonly fast: string
  /** The same from single values. */
  readonly slow: string
  readonly duckdb: string
}

/** Questions that need all values. */
const QUESTIONS: readonly Question[] = [
  {
    name: 'mean of each indicator',
    view: 'observations_daily',
    fast: `select indicator_name, indicator_id, ${MEAN_OF_DAYS} from observations_daily group by 1, 2`,
    slow: `select indicator_name, indicator_id, ${MEAN} from observations group by 1, 2`,
    duckdb: `select name, indicator_id, ${MEAN} from ${DUCKDB_NAMES} group by 1, 2`,
  },
  {
    name: 'mean of each indicator and local month',
    view: 'observations_monthly',
    fast: `select indicator_name, indicator_id, local_month, ${MEAN_OF_DAYS} from observations_monthly group by 1, 2, 3`,
    slow: `select indicator_name, indicator_id, substr(local_date, 1, 7), ${MEAN} from observations group by 1, 2, 3`,
    duckdb: `select name, indicator_id, date_trunc('month', ${DUCKDB_LOCAL}), ${MEAN} from ${DUCKDB_NAMES} group by 1, 2, 3`,
  },
  {
    name: 'highest value of each indicator and year',
    view: 'observations_daily',
    fast: 'select indicator_name, indicator_id, substr(local_date, 1, 4), max(max) from observations_daily group by 1, 2, 3',
    slow: 'select indicator_name, indicator_id, substr(local_date, 1, 4), max(value) from observations group by 1, 2, 3',
    duckdb: `select name, indicator_id, date_trunc('year', ${DUCKDB_LOCAL}), max(value) from ${DUCKDB_NAMES} group by 1, 2, 3`,
  },
  {
    name: 'mean of each local hour of the day',
    view: 'observations',
    fast: `select substr(at_local, 12, 2), ${MEAN} from observations group by 1`,
    slow: `select substr(at_local, 12, 2), ${MEAN} from observations group by 1`,
    duckdb: `select hour(${DUCKDB_LOCAL}), ${MEAN} from ${DUCKDB_NAMES} group by 1`,
  },
]

/** Compares questions over all values: the fastest view, single values, and DuckDB over a lake of Parquet files. */
export async function lake(input: Bench): Promise<Section> {
  const { folder, runs, say, skip } = input
  const { database, values } = await fillLarge(input)
  const copy = join(folder, 'lake')
  const hasDuckDb = await isInstalled('python3', ['-c', 'import duckdb'])
  if (!hasDuckDb) skip('DuckDB is not installed (python3 needs duckdb).')
  else {
    say('lake: writing the lake')
    await measure(process.execPath, [MAIN, 'lake', 'sync', copy, '--database', database])
  }
  const ask = async (sql: string): Promise<number> => {
    const { last } = await measure(process.execPath, [join(bench, 'children/view.ts'), database, sql])
    return (JSON.parse(last) as { seconds: number }).seconds
  }
  const askDuckDb = async (sql: string): Promise<number | null> => {
    const result = await measurePeer('DuckDB', input, 'python3', [join(bench, 'peers/duckdb_lake.py'), copy, sql])
    return result && (JSON.parse(result.last) as { seconds: number }).seconds
  }
  const rows: string[][] = []
  for (const { name, view, fast, slow, duckdb } of QUESTIONS) {
    say(`lake: ${name}`)
    const times: number[] = []
    const duckDbTimes: number[] = []
    for (let run = 1; run <= runs; run++) {
      times.push(await ask(fast))
      const seconds = hasDuckDb ? await askDuckDb(duckdb) : null
      if (seconds !== null) duckDbTimes.push(seconds)
    }
    // Takes up to a minute, so it runs once.
    const single = fast === slow ? median(times) : await ask(slow)
    const peer = duckDbTimes.length > 0 ? median(duckDbTimes) : null
    rows.push([name, `\`${view}\``, fixed(median(times)), fixed(single), fixed(peer)])
  }
  return {
    title: 'Questions over all values',
    command: 'npm run bench -- lake',
    about: `on ${grouped(values)} values; seconds.`,
    head: ['question', 'view', 'by the view', 'from `observations`', 'DuckDB over the lake'],
    rows,
  }
}
