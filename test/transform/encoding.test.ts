import { expect, test } from 'vitest'
import { ms, replayed, runJob, serve, tempStore } from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const DAY = 86_400_000
const FROM = ms('2025-11-01T00:00:00+01:00')
const ABOUT = { id: 600, name: 'Précio', description: 'Énergía', tiempo: [{ id: 4, name: 'Hora' }] }

const GEOS = [
  [3, 'España'],
  [1, 'Portugal'],
] as const
/** A day of values of both geos. */
const values = Array.from({ length: 24 }, (_, hour) =>
  GEOS.map(([geo_id, geo_name]) => ({
    value: hour + geo_id / 10,
    datetime: new Date(FROM + hour * 3_600_000).toISOString().replace('Z', '+00:00'),
    geo_id,
    geo_name,
  })),
).flat()

const JOB = `catalogue: { refresh: 1h }
content: [{ kinds: [news], refresh: 1h }]
series: [{ indicators: [600], window: { from: 2025-11-01, to: 2025-11-02 }, lookback: 30d, refresh: 1h }]`

const texts = (store: Store) => ({
  indicators: store.all('select name, description from indicator_text where id = 600 order by locale'),
  geos: store.all('select id, locale, name from geo_text order by 1, 2'),
  news: store.all('select title, summary from content_text'),
  values: store.get('select count(*) from observation'),
})
const rejects = (store: Store) =>
  (
    store.all('select distinct path, reason, fragment from _quarantine where resolved_at is null order by 1') as {
      [column: string]: string
    }[]
  ).map(({ path, reason, fragment }) => `${path}: ${reason} ${fragment}`)

test('texts in invalid UTF-8 are quarantined and values remain complete', async () => {
  const store = await tempStore()
  let encoding: BufferEncoding = 'utf8'
  let title = 'Uno'
  const bodyFor = (url: string): object => {
    if (url.startsWith('/es/news'))
      return { contents: [{ id: 7, title: `${title} é`, summary: 's' }], meta: { size: 1 } }
    return url.startsWith('/indicators?') ? { indicators: [ABOUT] } : { indicator: { ...ABOUT, values } }
  }
  const server = await serve((request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.end(Buffer.from(JSON.stringify(bodyFor(request.url!)), encoding))
  })
  expect((await runJob(store, server, JOB, { now: NOW })).outcome).toBe('done')
  const stored = texts(store)
  expect(stored.values).toBe(48)

  encoding = 'latin1'
  title = 'Dos'
  expect((await runJob(store, server, JOB, { now: NOW + DAY })).outcome).toBe('partial')
  expect(texts(store)).toEqual(stored)
  expect(rejects(store)).toEqual([
    '$.contents[0].title: title is not in UTF-8 {"id":7,"title":"Dos \ufffd"}',
    '$.indicator.description: description is not in UTF-8 {"description":"\ufffdnerg\ufffda"}',
    '$.indicator.name: name is not in UTF-8 {"name":"Pr\ufffdcio"}',
    '$.indicator.values[0].geo_name: geo_name is not in UTF-8 {"geo_id":3,"geo_name":"Espa\ufffda"}',
    '$.indicators[0].description: description is not in UTF-8 {"description":"\ufffdnerg\ufffda","id":600}',
    '$.indicators[0].name: name is not in UTF-8 {"id":600,"name":"Pr\ufffdcio"}',
  ])
  const again = await replayed(store, () => NOW + 2 * DAY)
  expect(texts(again)).toEqual(stored)
  expect(rejects(again)).toEqual(rejects(store))

  // In valid UTF-8 the replacement character is an ordinary one.
  encoding = 'utf8'
  title = 'Dos \ufffd'
  expect((await runJob(store, server, JOB, { now: NOW + 2 * DAY })).outcome).toBe('done')
  expect(texts(store)).toMatchObject({ news: [{ title: 'Dos \ufffd é' }] })
  expect(rejects(store)).toEqual([])
})
