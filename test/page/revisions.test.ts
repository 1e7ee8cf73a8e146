import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readKnownValues } from '../../src/db/queries/values.ts'
import { startEmulator } from '../../src/emulator/startEmulator.ts'
import type { Script } from '../../src/emulator/world/script.ts'
import { countChangesSince } from '../../src/page/queries/series/changesSince.ts'
import { findAsOf } from '../../src/page/queries/series/seriesQuery.ts'
import type { Line } from '../../src/page/queries/series/window.ts'
import type { ListeningServer } from '../../src/util/listen.ts'
import { fileFolder, ms, runJob } from '../support/kit.ts'
import { openReader, openStore, type Reader } from '../support/testStore.ts'
import { NIGHTS, serveNights } from './nights.ts'
import { scansOf } from './plans.ts'
import { startPage } from './site.ts'

const seconds = (text: string): number => ms(text) / 1000
const folder = fileFolder()
let nights: ListeningServer & { readonly file: string }
let reader: Reader
/** A series of which values were revised, withdrawn and added. */
let scripted: ListeningServer & { readonly file: string }

const SCRIPT: Script = {
  id: 9001,
  geos: [8741],
  resolutions: [{ from: seconds('2025-01-01T00:00:00+01:00'), every: 900 }],
  lag: 900,
  actions: [
    {
      do: 'revise',
      at: seconds('2026-11-21T09:00:00Z'),
      from: seconds('2026-11-18T00:00:00Z'),
      to: seconds('2026-11-19T00:00:00Z'),
      by: 25,
    },
    {
      do: 'withdraw',
      at: seconds('2026-11-21T09:00:00Z'),
      from: seconds('2026-11-19T00:00:00Z'),
      to: seconds('2026-11-19T10:00:00Z'),
      geos: [8741],
    },
  ],
}
const MOMENTS = ['2026-11-20T12:00:00Z', '2026-11-22T12:00:00Z'] as const

/** Serves the page of a series that is fetched before and after the actions of its script. */
async function serveScripted(): Promise<typeof scripted> {
  const store = await openStore(join(folder, 'scripted.db'))
  const emulator = await startEmulator({ now: seconds(MOMENTS[0]), scripts: [SCRIPT] })
  const job = 'name: j\nseries:\n  - { indicators: [9001], window: { from: 2026-11-15, to: +1d }, lookback: 10d }\n'
  for (const moment of MOMENTS) {
    emulator.setNow(seconds(moment))
    await runJob(store, emulator, job, { now: ms(moment) })
  }
  await emulator.close()
  await store.close()
  return { ...(await startPage(store.file, { now: () => seconds(MOMENTS[1]) + 3600 })), file: store.file }
}

beforeAll(async () => {
  nights = await serveNights(folder)
  reader = openReader(nights.file)
  scripted = await serveScripted()
})
afterAll(async () => {
  await reader.close()
  await nights.close()
  await scripted.close()
})

const text = async (server: ListeningServer, path: string) => (await fetch(server.url + path)).text()
// biome-ignore lint/suspicious/noExplicitAny: tests read any part of it
const data = async (server: ListeningServer, path: string): Promise<any> => (await fetch(server.url + path)).json()

/** What each run changed, computed from all versions of every value, which the history lists in order. */
function expectedChanges(indicator: number, geo: number, from: string, to: string) {
  const versions = reader.all(
    `select h.at, h.value, h.step_s as step, f.run_id as begun, n.run_id as ended
     from (select at, value, step_s, fetch_id, null as superseded_by from observation where series_id = s and geo_id = g
           union all select at, value, step_s, fetch_id, superseded_by from observation_revision where series_id = s and geo_id = g) h
     join _fetch f on f.id = h.fetch_id left join _fetch n on n.id = h.superseded_by
     where h.at >= unixepoch(?) and h.at < unixepoch(?) order by h.at, h.fetch_id`.replaceAll(
      /series_id = s and geo_id = g/g,
      `series_id = (select id from series where indicator_id = ${indicator} and time_trunc is null) and geo_id = ${geo}`,
    ),
    [from, to],
  ) as { at: number; value: number; step: number; begun: number; ended: number | null }[]
  const runs = new Map<number, { differences: number[]; added: number; withdrawn: number; seconds: number }>()
  const run = (id: number) => {
    const counted = runs.get(id) ?? { differences: [], added: 0, withdrawn: 0, seconds: 0 }
    runs.set(id, counted)
    return counted
  }
  for (const [i, { at, value, step, begun, ended }] of versions.entries()) {
    const before = versions[i - 1]
    const counted = run(begun)
    counted.seconds += step
    if (before?.at === at && before.ended === begun) counted.differences.push(value - before.value)
    else counted.added++
    if (ended !== null && (versions[i + 1]?.at !== at || versions[i + 1]?.begun !== ended)) {
      run(ended).withdrawn++
      run(ended).seconds += step
    }
  }
  return [...runs]
    .sort(([a], [b]) => b - a)
    .map(([id, { differences, added, withdrawn, seconds }]) => ({
      run: id,
      changed: differences.length,
      withdrawn,
      added,
      mean: differences.length === 0 ? null : differences.reduce((a, b) => a + b) / differences.length,
      largest: differences.length === 0 ? null : differences.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a)),
      hours: seconds / 3600,
    }))
}

test('each run has a row with what it changed, added and withdrew, newest first', async () => {
  const { revisions } = await data(nights, '/series/544.json?geo=8741&from=2025-10-24&to=2025-10-28')
  const expected = expectedChanges(544, 8741, '2025-10-23T22:00Z', '2025-10-27T23:00Z')
  expect(expected.length).toBeGreaterThan(3)
  expect(expected.some(({ changed, added }) => changed > 0 && added > 0)).toBe(true)
  expect(
    revisions.rows.map(({ run, changed, withdrawn, added, mean, largest, seconds }: Record<string, number>) => ({
      run,
      changed,
      withdrawn,
      added,
      mean,
      largest,
      hours: seconds! / 3600,
    })),
  ).toEqual(
    expected.map((row) => ({
      ...row,
      mean: row.mean === null ? null : expect.closeTo(row.mean, 6),
      largest: row.largest === null ? null : expect.closeTo(row.largest, 6),
    })),
  )
})

test('revised, withdrawn and new values are counted apart, with their mean and largest difference', async () => {
  const query = 'from=2026-11-17&to=2026-11-23'
  const { revisions } = await data(scripted, `/series/9001.json?${query}`)
  expect(revisions.rows).toHaveLength(2)
  expect(revisions.rows[0]).toMatchObject({
    changed: 96,
    withdrawn: 40,
    mean: expect.closeTo(25, 6),
    largest: expect.closeTo(25, 6),
  })
  expect(revisions.rows[0].seconds).toBe((96 + 40 + revisions.rows[0].added) * 900)
  expect(revisions.rows[1]).toMatchObject({ changed: 0, withdrawn: 0, mean: null, largest: null })
  const page = await text(scripted, `/series/9001?${query}&lang=en`)
  const [row] = /<section id="revisions"[\s\S]*?<tbody>([\s\S]*?)<\/tr>/.exec(page)!.slice(1)
  expect(row).toMatch(/>96<[\s\S]*>40<[\s\S]*>\+25\.00<[\s\S]*>\+25\.00</)
})

test('a click on a change shows what was known before it', async () => {
  const query = 'geo=8741&from=2025-10-26&to=2025-10-28'
  const page = await text(nights, `/series/544?${query}&by=hour`)
  const section = /<section id="revisions"[\s\S]*?<\/section>/.exec(page)![0]
  const links = [...section.matchAll(/<th scope="row"><a href="([^"]*)"/g)].map(([, link]) =>
    link!.replaceAll('&amp;', '&'),
  )
  const { changes } = await data(nights, `/series/544.json?${query}`)
  expect(links).toHaveLength(changes.length)
  expect(links[0]).toContain('by=hour')
  for (const [i, link] of links.entries()) {
    const { chart } = await data(nights, link.replace('/series/544', '/series/544.json'))
    // The rows go back in time: before a change, the state of the next row was known.
    const earlier = changes.at(-2 - i)
    const { chart: known } = earlier
      ? await data(nights, `/series/544.json?${query}&by=hour&asof=${earlier.at}`)
      : { chart: { before: { segments: [] } } }
    expect(chart.before.segments, link).toEqual(known.before.segments)
  }
})

test('the values of a run have a page of their own, in pages, and CSV', async () => {
  const query = 'from=2026-11-17&to=2026-11-23'
  const page = await text(scripted, `/series/9001?${query}&lang=en`)
  const [link] = /\/revisions\/9001\/8741\/2\?[^"]*/.exec(page)!
  const address = link.replaceAll('&amp;', '&')
  const first = await data(scripted, address.replace('?', '.json?'))
  expect(first.rows).toHaveLength(100)
  const rows = [...first.rows]
  for (let n = 2; n <= first.pages; n++)
    rows.push(...(await data(scripted, `${address.replace('?', '.json?')}&page=${n}`)).rows)
  const kinds = Object.groupBy(rows, ({ before, after }: Record<string, number | null>) => {
    if (before === null) return 'added'
    return after === null ? 'withdrawn' : 'changed'
  })
  expect([kinds.changed!.length, kinds.withdrawn!.length]).toEqual([96, 40])
  for (const { before, after } of kinds.changed!) expect(after! - before!).toBeCloseTo(25, 6)
  expect(rows.map(({ at }) => at)).toEqual(rows.map(({ at }) => at).sort((a, b) => a - b))
  expect(new Set(kinds.withdrawn!.map(({ at }) => at))).toEqual(
    new Set(Array.from({ length: 40 }, (_, i) => seconds('2026-11-19T00:00:00Z') + i * 900)),
  )
  const shown = await text(scripted, `${address}&lang=en`)
  expect(shown).toContain('href="/runs/2"')
  expect(shown).toContain(`href="/explain/9001/8741/${first.rows[0].at}"`)
  const cells = [...shown.matchAll(/<td class="number">([^<]*)</g)].map(([, cell]) => cell!.split('.')[1]?.length)
  expect(new Set(cells.filter(Boolean)).size, 'all numbers have the same decimals').toBe(1)
  const csv = (await text(scripted, `/api/revisions/9001/8741?${query}&run=2`)).trim().split('\n')
  expect(csv[0]).toBe('at_utc,at_local,before,after,difference')
  expect(csv).toHaveLength(rows.length + 1)
  const withdrawn = csv.find((line) => line.startsWith('2026-11-19T00:00:00Z,'))!
  expect(withdrawn).toMatch(/^2026-11-19T00:00:00Z,2026-11-19T01:00:00\+01:00,[\d.]+,,$/)
  const runs = (await text(scripted, `/api/revisions/9001/8741?${query}`)).trim().split('\n')
  expect(runs[0]).toBe('run,recorded_at,changed,withdrawn,new,mean_difference,largest_difference,hours,known_before')
  expect(runs).toHaveLength(3)
  expect(runs[1]).toMatch(/^2,2026-11-22T12:00:[\d.]+Z,96,40,\d+,25,25,/)
})

test.each(['/revisions/600/3/99', '/revisions/600/3/x', '/revisions/9999/3/1'])(
  'a run that changed nothing of a series has no page: %s',
  async (path) => {
    expect((await fetch(nights.url + path)).status).toBe(404)
  },
)

test('many changes have pages, and the next ones keep the range', async () => {
  const file = join(folder, 'many.db')
  const store = await openStore(file)
  const emulator = await startEmulator({ now: seconds('2025-10-24T00:00:00Z') })
  const job = 'series: [{ indicators: [544], geoIds: [8741], window: { from: 2025-10-24, to: +1d }, lookback: 2d }]'
  for (let hour = 0; hour < 26; hour += 2) {
    const now = seconds('2025-10-24T00:00:00Z') + hour * 3600
    emulator.setNow(now)
    await runJob(store, emulator, job, { now: now * 1000 })
  }
  await emulator.close()
  await store.close()
  const server = await startPage(file, { now: () => seconds('2025-10-25T02:00:00Z') })
  try {
    const query = 'geo=8741&from=2025-10-24&to=2025-10-26'
    const { revisions, changes } = await data(server, `/series/544.json?${query}`)
    expect(changes.length).toBeGreaterThan(10)
    expect(revisions.rows).toHaveLength(10)
    const page = await text(server, `/series/544?${query}`)
    const [, next] = /<section id="revisions"[\s\S]*?<a href="([^"]*)" rel="next"/.exec(page)!
    expect(next).toContain('from=2025-10-24&amp;to=2025-10-26&amp;page=2#revisions')
    const second = await data(server, `/series/544.json?${query}&page=2`)
    expect([...revisions.rows, ...second.revisions.rows].map(({ run }) => run)).toEqual(
      changes.map(({ run }: { run: number }) => run).reverse(),
    )
  } finally {
    await server.close()
  }
})

test('the last five versions of a range are drawn where they differ, or those of the address', async () => {
  const query = 'geo=8741&from=2025-10-20&to=2025-10-31'
  const { revisions, changes } = await data(nights, `/series/544.json?${query}`)
  const { vintages } = revisions
  expect(vintages.lines.map(({ at }: { at: string }) => at)).toEqual(
    changes.map(({ at }: { at: string }) => at).slice(-5),
  )
  // The part with differences is drawn: the versions of each day before it are equal.
  expect(vintages.from).toBeGreaterThan(seconds('2025-10-21T22:00:00Z') - 1)
  for (const { at, drawn } of vintages.lines) {
    const { chart } = await data(
      nights,
      `/series/544.json?geo=8741&from=${new Date(vintages.from * 1000).toISOString()}&to=${new Date(vintages.to * 1000).toISOString()}&asof=${at}&px=150`,
    )
    const means = (line: { segments: { values: unknown[] }[] }) => line.segments.flatMap(({ values }) => values)
    expect(means(drawn), at).toEqual(means(chart.before))
  }
  const page = await text(nights, `/series/544?${query}&lang=en`)
  const section = /<section id="revisions"[\s\S]*?<\/section>/.exec(page)![0]
  expect(section.match(/<path class="line /g)).toHaveLength(5)
  expect(section).toContain('name="vintages"')
  const chosen = await data(nights, `/series/544.json?${query}&vintages=${NIGHTS[1]},${NIGHTS[3]}`)
  expect(chosen.revisions.vintages.lines.map(({ at }: { at: string }) => ms(at))).toEqual([
    ms(NIGHTS[1]),
    ms(NIGHTS[3]),
  ])
  // A version of which nothing was stored yet has no line, and says so.
  const early = await text(nights, `/series/544?${query}&vintages=2025-10-01,${NIGHTS[3]}&lang=en`)
  const [, legend] = /<section id="revisions"[\s\S]*?<ul class="legend">([\s\S]*?)<\/ul>/.exec(early)!
  expect(legend).toMatch(/<li class="with-0">[\s\S]*?no values in this range[\s\S]*?<li class="now">/)
  expect(legend!.match(/no values in this range/g)).toHaveLength(1)
  // A form sends one parameter for each field.
  const sent = await data(nights, `/series/544.json?${query}&vintages=${NIGHTS[1]}&vintages=${NIGHTS[3]}`)
  expect(sent.revisions.vintages).toEqual(chosen.revisions.vintages)
})

test('a mistaken version is reported, and the default is drawn', async () => {
  const response = await fetch(`${nights.url}/series/544?geo=8741&from=2025-10-24&to=2025-10-28&vintages=soon`)
  expect(response.status).toBe(400)
  expect((await response.text()).match(/role="alert"/g)).toHaveLength(1)
})

test('a range of many years says that its revisions need a shorter one', async () => {
  const path = '/series/600?geo=3&from=2020-01-01&to=2026-01-01&lang=en'
  const page = await text(nights, path)
  expect(page).toContain('Choose 400 days at most to see its revisions.')
  expect((await fetch(`${nights.url}/api/revisions/600/3?from=2020-01-01&to=2026-01-01`)).status).toBe(400)
  expect((await fetch(`${nights.url}/api/revisions/600/3?run=999`)).status).toBe(404)
})

test.each([
  '/series/544?geo=8741&from=2025-10-24&to=2025-10-28',
  '/revisions/544/8741/3?from=2025-10-24&to=2025-10-28',
  '/api/revisions/544/8741?from=2025-10-24&to=2025-10-28',
  '/api/revisions/544/8741?from=2025-10-24&to=2025-10-28&run=3',
])('%s uses only indexes and is small', async (path) => {
  let body = ''
  const scans = await scansOf(reader, async () => {
    const response = await fetch(nights.url + path)
    expect(response.status).toBe(200)
    body = await response.text()
  })
  expect(scans).toEqual([])
  if (!path.startsWith('/api/')) expect(body.length).toBeLessThan(60_000)
})

/** Counts the differences between two versions of a range, value by value. */
async function compareVersions(reader: Reader, line: Line, range: { from: number; to: number }, fetchId: number) {
  const read = async (id: number | null) => {
    const known = await readKnownValues(reader.kysely, { ...line, ...range }, id, 1_000_000)
    return new Map(known.flatMap(({ at, value }) => (value === null ? [] : [[at, value] as const])))
  }
  const [then, now] = [await read(fetchId), await read(null)]
  const both = [...then.keys()].filter((at) => now.has(at))
  return {
    revised: both.filter((at) => then.get(at) !== now.get(at)).length,
    withdrawn: then.size - both.length,
    added: now.size - both.length,
  }
}

test('the changes since a moment are counted by value, for every series, moment and range', async () => {
  const total = { revised: 0, withdrawn: 0, added: 0 }
  for (const { file } of [nights, scripted]) {
    const own = openReader(file)
    const lines = own.all(
      'select g.series_id as "seriesId", g.geo_id as "geoId", s.time_zone as zone from series_geo g join series s on s.id = g.series_id',
    ) as Line[]
    const moments = own.all('select distinct finished_at as at from _fetch order by 1') as { at: string }[]
    for (const line of lines)
      for (const { at } of moments)
        for (const days of [1, 400]) {
          const to = ms(at) / 1000 + 86_400
          const range = { from: to - days * 86_400, to }
          const { fetchId } = await findAsOf(own, line.seriesId, at)
          const counted = await countChangesSince(own, { ...line, ...range }, fetchId)
          expect(counted).toEqual(await compareVersions(own, line, range, fetchId))
          total.revised += counted!.revised
          total.withdrawn += counted!.withdrawn
          total.added += counted!.added
        }
    await own.close()
  }
  for (const count of Object.values(total)) expect(count).toBeGreaterThan(10)
})

test('the counts of a chart do not depend on its width or its summary', async () => {
  const address = `${nights.url}/api/series/544/8741?from=2025-10-22&to=2025-10-30&asof=${NIGHTS[2]}`
  const counts = []
  for (const choice of ['', '&px=50', '&px=1000', '&by=day'])
    counts.push(((await (await fetch(address + choice)).json()) as { changed: unknown }).changed)
  expect(new Set(counts.map((each) => JSON.stringify(each))).size).toBe(1)
  expect(counts[0]).toMatchObject({ revised: expect.any(Number), withdrawn: 0 })
  // More values than the chart has columns.
  expect((counts[0] as { revised: number }).revised).toBeGreaterThan(50)
  const now = await fetch(`${nights.url}/api/series/544/8741?from=2025-10-22&to=2025-10-30`)
  expect(await now.json()).toMatchObject({ changed: null })
})
