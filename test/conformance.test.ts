import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isObject } from '../src/base/json.ts'
import { json, runJob, serve, tempStore } from './kit.ts'

/** Recorded answers of the live service; they are beside the project or they are not. */
const FOLDER = '../shared/service/payloads'
const recorded = (name: string) => JSON.parse(readFileSync(join(FOLDER, name), 'utf8'))

describe.skipIf(!existsSync(FOLDER))('recorded answers of the live service', () => {
  test.each([
    ['indicator-1001_2021-10-31_25h-day.json', 1001, '2021-10-31', '2021-11-01', 125, 25],
    ['indicator-1001_2021-10-30.json', 1001, '2021-10-30', '2021-10-31', 120, 24],
    ['indicator-10211_2021-10-31_25h-day.json', 10211, '2021-10-31', '2021-11-01', 25, 25],
    ['indicator-1739_2021-10-30.json', 1739, '2021-10-30', '2021-10-31', 24, 24],
    ['indicator-600_2025-09-30_hourly.json', 600, '2025-09-30', '2025-10-01', 24, 24],
  ])('%s is stored to the last value', async (name, id, from, to, rows, hours) => {
    const store = await tempStore()
    const body = recorded(name)
    const server = await serve((_request, response) => json(response, body))
    const summary = await runJob(
      store,
      server,
      `series:\n  - { indicators: [${id}], window: { from: ${from}, to: ${to} } }`,
    )
    expect(summary.outcome).toBe('done')
    const stored = store.all(
      'select at_utc, at_local, geo_id, geo_name, value from observations order by at_utc, geo_id',
    )
    const expected = body.indicator.values.map((value: Record<string, string | number>) => ({
      at_utc: `${String(value.tz_time).slice(0, 19)}Z`,
      at_local: String(value.datetime).replace('.000', ''),
      geo_id: value.geo_id,
      geo_name: value.geo_name,
      value: value.value,
    }))
    const order = (row: { at_utc: string; geo_id: number }) => `${row.at_utc} ${row.geo_id}`
    expected.sort((a: never, b: never) => (order(a) < order(b) ? -1 : 1))
    expect(stored).toEqual(expected)
    expect(stored).toHaveLength(rows)
    expect(store.get('select count(distinct at_local) from observations')).toBe(hours)
  })

  test('the catalogue, news and archives are stored whole', async () => {
    const store = await tempStore()
    const catalogue = recorded('indicators_2025-11-03.json')
    const news = recorded('es-news_2025-11-04.json')
    const archives = recorded('archives_2023-12-31_inner-array.json')
    const server = await serve((request, response) => {
      const { pathname } = new URL(request.url!, 'http://x')
      json(
        response,
        pathname === '/indicators'
          ? catalogue
          : pathname === '/es/news'
            ? news
            : { archives, meta: { size: archives.length } },
      )
    })
    const summary = await runJob(
      store,
      server,
      'catalogue: true\ncontent: [{ kinds: [news] }]\narchives: [{ window: { from: 2024-01-01, to: 2024-01-02 } }]',
    )
    expect(summary).toMatchObject({ outcome: 'done', counts: { rows_rejected: 0 } })
    const nothing = (text: unknown) => (text === '' || text === undefined ? null : text)
    expect(store.all('select id, name, short_name, description from indicator_text order by id')).toEqual(
      catalogue.indicators
        .map(({ id, name, short_name, description }: Record<string, unknown>) => ({
          id,
          name: nothing(name),
          short_name: nothing(short_name),
          description: nothing(description),
        }))
        .sort((a: { id: number }, b: { id: number }) => a.id - b.id),
    )
    for (const item of news.contents.filter(isObject)) {
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
    expect(store.get('select body_text from content_text where id = 3038')).not.toMatch(/<p|&[a-z]+;/)
    expect(store.get('select count(*) from archive_edition')).toBe(archives.length)
    expect(store.all(`select publication_dates from archive_edition where id = 181`)).toEqual([
      { publication_dates: '["2024-01-01","2024-01-02"]' },
    ])
  })
})
