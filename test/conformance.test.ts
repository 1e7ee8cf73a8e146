import { describe, expect, onTestFinished, test } from 'vitest'
import { startRecorded } from '../src/emulator/startRecorded.ts'
import { fetchProbe } from '../src/fetch/probe.ts'
import { REQUEST_NAMES, type RequestName } from '../src/service/assumptions/probeRequests.ts'
import { SERVICES } from '../src/service/services.ts'
import { type Recorded, readRecording, writeRecorded } from '../src/util/files/recording.ts'
import { testClient } from './fetch/testClient.ts'
import { archivesAnswer, catalogueAnswer, newsAnswer, SERIES } from './fixtures/answers.ts'
import { emulate, json, ms, ON_SERVER, runJob, serve, tempFolder, tempStore } from './support/kit.ts'
import { HAS_RECORDED, RECORDED_PROBE, recorded } from './support/recordedReplies.ts'
import type { Store as TestStore } from './support/testStore.ts'

type SeriesAnswer = {
  readonly indicator: { readonly id: number; readonly values: readonly Record<string, unknown>[] }
}

type SeriesCase = Omit<(typeof SERIES)[number], 'body'> & { readonly body: SeriesAnswer }

/** A day with the number of rows and hours in its recorded reply. */
const RECORDED_DAYS = [
  ['indicator-1001_2021-10-31_25h-day.json', '2021-10-31', '2021-11-01', 125, 25],
  ['indicator-1001_2021-10-30.json', '2021-10-30', '2021-10-31', 120, 24],
  ['indicator-10211_2021-10-31_25h-day.json', '2021-10-31', '2021-11-01', 25, 25],
  ['indicator-1739_2021-10-30.json', '2021-10-30', '2021-10-31', 24, 24],
  ['indicator-600_2025-09-30_hourly.json', '2025-09-30', '2025-10-01', 24, 24],
] as const

/** The listings of a source: the catalogue, news and archives. */
interface Listings {
  readonly catalogue: ReturnType<typeof catalogueAnswer>
  readonly news: ReturnType<typeof newsAnswer>
  readonly archives: ReturnType<typeof archivesAnswer>
}

/** A news item with markup in its text, in generated and recorded replies. */
const PLAIN = 3038

/** Expects all values of a reply in a database, and no others. */
function expectValues(store: TestStore, { indicator: { id, values } }: SeriesAnswer): void {
  // On PostgreSQL it is a timestamp without offset.
  const local = ON_SERVER ? 'substr(at_local, 1, 19)' : 'at_local'
  const stored = store.all(
    `select at_utc, ${local} as at_local, geo_id, geo_name, value from observations
     where indicator_id = ${id} and time_trunc is null order by at_utc, geo_id`,
  )
  const expected = values.map(({ tz_time, datetime, geo_id, geo_name, value }) => ({
    at_utc: `${String(tz_time).slice(0, 19)}Z`,
    at_local: String(datetime)
      .replace('.000', '')
      .slice(0, ON_SERVER ? 19 : undefined),
    geo_id: Number(geo_id),
    geo_name,
    value,
  }))
  const order = (row: { at_utc: string; geo_id: number }) => `${row.at_utc} ${row.geo_id}`
  expected.sort((a, b) => (order(a) < order(b) ? -1 : 1))
  expect(stored).toEqual(expected)
}

async function storesSeries({ body, from, to, rows, hours }: SeriesCase): Promise<void> {
  const store = await tempStore()
  const server = await serve((_request, response) => json(response, body))
  const { id } = body.indicator
  const summary = await runJob(
    store,
    server,
    `series:\n  - { indicators: [${id}], window: { from: ${from}, to: ${to} } }`,
  )
  expect(summary.outcome).toBe('done')
  expectValues(store, body)
  expect(store.get('select count(*) from observations')).toBe(rows)
  expect(store.get(`select count(distinct ${ON_SERVER ? 'at_utc' : 'at_local'}) from observations`)).toBe(hours)
}

async function storesListings({ catalogue, news, archives }: Listings): Promise<void> {
  const store = await tempStore()
  const server = await serve((request, response) => {
    const { pathname } = new URL(request.url!, 'http://x')
    const lists: Record<string, unknown> = { '/indicators': catalogue, '/es/news': news }
    json(response, lists[pathname] ?? archives)
  })
  const summary = await runJob(
    store,
    server,
    'catalogue: true\ncontent: [{ kinds: [news] }]\narchives: [{ window: { from: 2024-01-01, to: 2024-01-02 } }]',
  )
  expect(summary).toMatchObject({ outcome: 'done', counts: { rows_rejected: 0 } })
  const nothing = (text: unknown) => text ?? null
  expect(store.all('select id, name, short_name, description from indicator_text order by id')).toEqual(
    catalogue.indicators
      .map(({ id, name, short_name, description }) => ({
        id,
        name: nothing(name),
        short_name: nothing(short_name),
        description: nothing(description),
      }))
      .sort((a, b) => a.id - b.id),
  )
  expect(store.get('select count(*) from content')).toBe(news.contents.length)
  for (const item of news.contents) {
    const [row] = store.all(
      'select t.title, t.body, t.slug, c.published_at, c.expires_at from content c join content_text t using (kind, id) where id = ?',
      [item.id],
    )
    expect(row).toEqual({
      title: item.title,
      body: item.body,
      slug: item.slug,
      published_at: item.published_at,
      expires_at: item.expires_at,
    })
    expect(store.get('select count(*) from content_media where id = ?', [item.id])).toBe(item.media.length)
  }
  expect(store.get('select body_text from content_text where id = ?', [PLAIN])).not.toMatch(/<p|&[a-z]+;/)
  expect(store.get('select count(*) from archive_edition')).toBe(archives.archives.length)
  expect(store.all(`select publication_dates from archive_edition where id = 181`)).toEqual([
    { publication_dates: '["2024-01-01","2024-01-02"]' },
  ])
}

/** Syncs from a recording of the probe with a job that sends some of its requests. */
async function storesRecording(folder: string): Promise<void> {
  const recording = readRecording(folder)
  const bodyOf = (name: RequestName) => JSON.parse(recording.find((one) => one.name === name)!.body.toString())
  const server = await startRecorded(folder)
  onTestFinished(() => server.close())
  const store = await tempStore()
  const day = 'window: { from: 2025-10-01, to: 2025-10-02 }'
  const summary = await runJob(
    store,
    server,
    `catalogue: true
series:
  - { indicators: [1001], ${day} }
  - { indicators: [600], geoIds: [3], timeTrunc: day, timeAgg: average, ${day} }
archives: [{ dateType: datos, ${day} }]
archivesJson: [{ ${day} }]
widgets: { names: [1] }`,
  )
  expect(summary).toMatchObject({ outcome: 'done', counts: { requests: 6, rows_rejected: 0 } })
  expectValues(store, bodyOf('retail'))
  expect(store.get("select value from observations where time_trunc = 'day'")).toBe(
    bodyOf('average').indicator.values[0].value,
  )
  expect(store.get('select count(*) from indicator_text')).toBe(bodyOf('catalogue').indicators.length)
  expect(store.get("select count(*) from archive_edition where kind = 'archive'")).toBe(
    bodyOf('archives').archives.length,
  )
}

/** Records the probe of an emulator. */
async function recordEmulator(): Promise<string> {
  const emulator = await emulate({ now: ms('2025-11-04T12:00:00Z') / 1000 })
  const folder = tempFolder()
  const client = testClient(emulator.url, { key: emulator.key, perSecond: 1e6 })
  const onResponse = (response: Recorded): void => writeRecorded(folder, response)
  await fetchProbe({ client, service: SERVICES.generic, names: REQUEST_NAMES, recorded: [], onResponse })
  return folder
}

test('a sync from a recorded probe of the emulator stores all its values and lists', async () =>
  storesRecording(await recordEmulator()))

test.skipIf(RECORDED_PROBE === null)(
  'a sync from a recorded probe of the real service stores all its values and lists',
  () => storesRecording(RECORDED_PROBE!),
)

describe('generated replies in the format of the real service', () => {
  test.each(SERIES)('every value of $body.indicator.id on $from is stored', storesSeries)
  test('the catalogue, news and archives are stored completely', () =>
    storesListings({ catalogue: catalogueAnswer(), news: newsAnswer(), archives: archivesAnswer() }))
})

describe.skipIf(!HAS_RECORDED)('recorded replies of the real service', () => {
  test.each(RECORDED_DAYS)('every value of %s is stored', (name, from, to, rows, hours) =>
    storesSeries({ body: recorded(name), from, to, rows, hours }),
  )
  test('the recorded catalogue, news and archives are stored completely', () =>
    storesListings({
      catalogue: recorded('indicators_2025-11-03.json'),
      news: recorded('es-news_2025-11-04.json'),
      archives: { ...archivesAnswer(), archives: recorded('archives_2023-12-31_inner-array.json') },
    }))
})
