import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { serviceAt } from '../cli/jobFolder.ts'
import { json, ms, runCli, runJob, serve, tempFolder, tempStore } from '../support/kit.ts'
import { openReader } from '../support/testStore.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const SERIES = 'series: [{ indicators: [1739], window: { from: 2025-10-01, to: 2025-10-02 } }]'
const CONTENT = 'content: [{ kinds: [news] }]'
/** Repeats a piece up to 400 kB. */
const many = (piece: (i: number) => string): string => {
  const pieces: string[] = []
  for (let i = 0, bytes = 0; bytes < 400_000; i++) bytes += pieces[pieces.push(piece(i)) - 1]!.length + 1
  return pieces.join(',')
}
const series = (values: string, rest = '') => `{"indicator":{"id":1739,"name":"x"${rest},"values":[${values}]}}`
const html = (text: string) => series('', `,"description":"${text.repeat(400_000 / text.length)}"`)
const terms = many((i) => `{"id_taxonomy_term":${i}}`)

describe('400 kB of repetition', () => {
  test.each<[string, string, string]>([
    ['objects as values', SERIES, series(many(() => '{}'))],
    ['lists as values', SERIES, series(many(() => '[]'))],
    ['fields of a row', SERIES, series(`{${many((i) => `"f${i}":{}`)}}`)],
    [
      'fields of two rows',
      SERIES,
      series(
        ['1', '2']
          .map((value) => `{"value":${value},"datetime":"2025-10-01T00:00:00Z",${many((i) => `"f${i}":1`)}}`)
          .join(','),
      ),
    ],
    ['geos', SERIES, series('', `,"geos":[${many((i) => `{"geo_id":${i},"geo_name":"g"}`)}]`)],
    [
      'values with different geos',
      SERIES,
      series(many((i) => `{"value":1,"datetime":"2025-10-01T00:00:00Z","geo_id":${i}}`)),
    ],
    [
      'values for one instant',
      SERIES,
      series(many((i) => `{"value":${i},"datetime":"2025-10-01T00:00:00Z","geo_id":3}`)),
    ],
    ['unknown fields', SERIES, series('', `,"x":[${many(() => '{}')}]`)],
    ['table cells', SERIES, html('<td>')],
    ['table rows', SERIES, html('<tr><td>')],
    ['table cells with large spans', SERIES, html("<td colspan='99999' rowspan='99999'>")],
    ['nested lists', SERIES, html('<ul><li>')],
    ['unclosed tags', SERIES, html('<')],
    ['duplicates of one item', CONTENT, `{"contents":[${many(() => '{"id":1}')}]}`],
    ['versions of one item', CONTENT, `{"contents":[${many((i) => `{"id":1,"title":"${i}"}`)}]}`],
    ['terms of one item', CONTENT, `{"contents":[{"id":1,"taxonomy_terms":[${terms}]},${many(() => '{"id":1}')}]}`],
    ['media', CONTENT, `{"contents":[{"id":1,"media":[${many((i) => `{"id":${i}}`)}]}]}`],
    [
      'terms of one archive',
      'archives: [{ window: { from: 2025-10-01, to: 2025-10-02 } }]',
      `{"archives":[{"id":1,"taxonomy_terms":[${terms}]},${many(() => '{"id":1}')}]}`,
    ],
    ['widgets without an id', 'widgets: { list: true }', `{"widgets":[${many(() => '{}')}]}`],
    ['versions of one indicator', 'catalogue: true', `{"indicators":[${many((i) => `{"id":1,"name":"${i}"}`)}]}`],
  ])('a flood of %s is read within seconds and stores little', async (_name, yaml, body) => {
    const server = await serve((_request, response) => json(response, body))
    const store = await tempStore()
    const summary = await runJob(store, server, yaml, { now: NOW })
    expect(['done', 'partial']).toContain(summary.outcome)
    expect(store.get('select count(*) from _quarantine')).toBeLessThanOrEqual(100)
    expect(store.get('select sum(rows_rejected) from _fetch')).toBe(summary.counts.rows_rejected)
    expect(store.get('select page_count * page_size from pragma_page_count, pragma_page_size')).toBeLessThan(10_000_000)
  })

  test('25,000 values with different geos are read in linear time', async () => {
    const values = Array.from(
      { length: 25_000 },
      (_, i) => `{"value":1,"datetime":"2025-10-01T00:00:00Z","geo_id":${i + 10},"geo_name":"n${i}"}`,
    )
    const server = await serve((_request, response) => json(response, series(values.join(','), ',"geos":[]')))
    const store = await tempStore()
    expect(await runJob(store, server, SERIES, { now: NOW })).toMatchObject({ outcome: 'done' })
    expect(store.get('select count(*) from observation')).toBe(25_000)
  })

  test('900,000 rejects are counted, a hundred of them are stored, and the body is kept', async () => {
    const server = await serve((_request, response) => json(response, series(Array(900_000).fill('1').join(','))))
    const store = await tempStore()
    const summary = await runJob(store, server, SERIES, { now: NOW })
    expect(summary.counts.rows_rejected).toBe(900_000)
    expect(store.get('select count(*) from _quarantine')).toBe(100)
    expect(store.get('select rows_rejected from _fetch')).toBe(900_000)
    expect(store.get('select bytes from _reply')).toBeGreaterThan(1_700_000)
  })

  test('a body with too many values is refused before parsing and requested in smaller windows', async () => {
    const flood = `{"indicator":{"id":1739,"x":[${'{},'.repeat(4_100_000)}{}],"values":[]}}`
    const small = '{"indicator":{"id":1739,"name":"x","values":[]}}'
    const server = await serve((_request, response, call) => json(response, call === 1 ? flood : small))
    const store = await tempStore()
    const yaml = 'series: [{ indicators: [1739], window: { from: 2025-10-01, to: 2025-10-05 } }]'
    expect(await runJob(store, server, yaml, { now: NOW })).toMatchObject({ outcome: 'done', failures: [] })
    expect(server.calls.length).toBe(3)
    const always = await serve((_request, response) => json(response, flood))
    const one = await runJob(await tempStore(), always, SERIES, { now: NOW })
    // A smaller `chunk` would not help, because the window was halved down to a day.
    expect(one.failures).toMatchObject([{ error: { code: 'body-too-large', hint: expect.stringContaining('geoIds') } }])
  })
})

test('a reply with 280,000 values is loaded within 128 MB of heap', async () => {
  const lines = Array.from({ length: 280_000 }, (_, i) => {
    const at = new Date((ms('2025-09-30T22:00:00Z') / 1000 + i * 300) * 1000).toISOString()
    return `{"value":${i % 977},"datetime":"${at.replace('Z', '+00:00')}","datetime_utc":"${at}","tz_time":"${at}","geo_id":3,"geo_name":"España"}`
  })
  const body = brotliCompressSync(`{"indicator":{"id":1739,"name":"x","tiempo":[{"id":279}],"values":[${lines}]}}`, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
  })
  const server = await serve((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'br' }).end(body)
  })
  const folder = tempFolder()
  writeFileSync(
    join(folder, 'job.yaml'),
    'name: huge\nseries: [{ indicators: [1739], window: { from: 2025-10-01, to: 2030-12-01 }, chunk: 10y }]\n',
  )
  const env = { ...serviceAt(server.url), NODE_OPTIONS: '--max-old-space-size=128' }
  const { code, out } = await runCli(folder, ['sync', 'job.yaml', '--database', 'x.db', '--json'], env)
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject([{ outcome: 'done', rows_rejected: 0 }])
  const stored = openReader(join(folder, 'x.db'))
  expect(stored.get('select count(*) from observation')).toBe(280_000)
  await stored.close()
})
