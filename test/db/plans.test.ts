import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VIEWS } from '../../src/db/tables/schema.ts'
import { stepsOf } from '../page/plans.ts'
import { copyDemo } from '../support/demoCopy.ts'
import { RECIPES } from '../support/genericRecipes.ts'
import { fileFolder, runJob, serve, tempStore } from '../support/kit.ts'
import { openReader, type Store } from '../support/testStore.ts'

const DAY = 86_400_000
const NOW = Date.parse('2025-06-01T00:00:00Z')
const JOB = 'series: [{ indicators: [1, 2, 3, 4, 5, 6], window: { from: 2025-03-01, to: 2025-05-01 }, lookback: 1d }]'

/** Starts a service of hourly values of three geos; `change` shifts the values, and every reply has a new timestamp. */
async function startService(change = () => 0) {
  let stamp = 0
  return serve((request, response) => {
    const url = new URL(request.url!, 'http://x')
    const id = Number(/\d+/.exec(url.pathname)![0])
    const [from, to] = ['start_date', 'end_date'].map((name) => Date.parse(url.searchParams.get(name)!)) as [
      number,
      number,
    ]
    const values = []
    for (let at = from; at <= to; at += 3_600_000)
      for (const geo_id of [1, 2, 3])
        values.push({
          value: ((at / 3_600_000) % 97) + id + change(),
          datetime: new Date(at).toISOString(),
          tz_time: new Date(at).toISOString(),
          geo_id,
          geo_name: `Geo ${geo_id}`,
        })
    response.setHeader('Content-Type', 'application/json')
    response.end(
      JSON.stringify({
        indicator: { id, name: `Indicator ${id}`, values_updated_at: new Date(stamp++ * DAY).toISOString(), values },
      }),
    )
  })
}

let store: Store
const folder = fileFolder()
beforeAll(async () => {
  store = await copyDemo(join(folder, 'market.db'))
  store.run('analyze', [])
})
afterAll(() => store.close())

/** Returns the steps of a plan that scan tables of values. */
const scans = (sql: string, parameters: object | unknown[] = []): string[] =>
  (store.all(`explain query plan ${sql}`, parameters as never) as { detail: string }[])
    .map(({ detail }) => detail)
    .filter((detail) => /^SCAN (observation|observation_revision|o|l|r|_fetch|f)\b/.test(detail))

describe('query plans', () => {
  const bySeries = Object.entries(VIEWS).filter(([, { columns }]) => 'series_id' in columns)
  test.each(bySeries.map(([name]) => name))('the view %s uses an index for one series', (name) => {
    expect(scans(`select * from ${name} where series_id = 3`)).toEqual([])
  })

  test.each(['coverage', 'gaps'])('the view %s reads only the rows of one series', (name) => {
    const steps = store.all(`explain query plan select * from ${name} where series_id = 3`) as { detail: string }[]
    expect(steps.filter(({ detail }) => /^SCAN (s|v|_coverage|_absent)\b|series_id>/.test(detail))).toEqual([])
  })

  test.each(
    bySeries.filter(([, { columns }]) => 'indicator_id' in columns && 'geo_id' in columns).map(([name]) => name),
  )('the view %s uses an index for one indicator and geo', (name) => {
    expect(scans(`select * from ${name} where indicator_id = 3 and geo_id = 2`)).toEqual([])
  })

  test.each(['latest', 'freshness', 'coverage', 'runs'])('the view %s uses an index for all series', (name) => {
    expect(scans(`select * from ${name}`)).toEqual([])
  })

  test.each(
    RECIPES.filter(({ parameters }) => 'indicator' in parameters).map((recipe) => [recipe.name, recipe] as const),
  )('the recipe %s uses an index', (_, { sql, parameters }) => {
    expect(scans(sql, parameters)).toEqual([])
  })

  test('the query planner has statistics after a run', async () => {
    const other = await tempStore()
    await runJob(other, await startService(), JOB, { now: NOW })
    expect(other.get(`select count(*) from sqlite_stat1 where tbl = 'observation'`)).toBeGreaterThan(0)
  })
})

test('a reply reads no earlier requests of its series but the last ones that reached the present', async () => {
  const other = await tempStore()
  const server = await startService()
  const steps = await stepsOf(other, () => runJob(other, server, JOB, { now: NOW }), /^select .*"_fetch"/s)
  // An index by time or id alone would read every request of the series.
  const all = steps.filter(({ detail }) =>
    /INDEX _fetch_(series|checked) \(series_id=\?( AND finished_at.*)?\)/.test(detail),
  )
  expect(all).toEqual([])
  expect(steps.map(({ detail }) => detail)).toContain('SEARCH _fetch USING INDEX _fetch_recent (series_id=?)')
})

/** Returns the page numbers in a WAL. Source: the file format of SQLite, section 4.1. */
function pagesIn(log: string): Set<number> {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0
  const pages = new Set<number>()
  const file = openSync(log, 'r')
  const frame = Buffer.alloc(4)
  for (let at = 32; at < size; at += 24 + 4096) {
    readSync(file, frame, 0, 4, at)
    pages.add(frame.readUInt32BE())
  }
  closeSync(file)
  return pages
}

test('unchanged values write no page of values', async () => {
  const other = await tempStore()
  let change = 0
  const server = await startService(() => change)
  await runJob(other, server, JOB, { now: NOW })
  const ofValues = () =>
    new Set(
      (
        other.all(`select pageno from dbstat where name in ('observation', 'observation_revision')`) as {
          pageno: number
        }[]
      ).map(({ pageno }) => pageno),
    )
  // An older reader prevents a checkpoint of the next run's WAL.
  const again = async (): Promise<number[]> => {
    other.tidy()
    const reader = openReader(other.file)
    reader.engine.beginSnapshot()
    reader.get('select count(*) from _run')
    const summary = await runJob(other, server, JOB, { now: NOW, options: { restate: true } })
    expect(summary.counts.requests).toBeGreaterThan(5)
    const values = ofValues()
    const written = [...pagesIn(`${other.file}-wal`)].filter((page) => values.has(page))
    await reader.close()
    return written
  }
  expect(await again()).toEqual([])
  change = 1
  expect((await again()).length).toBeGreaterThan(50)
})
