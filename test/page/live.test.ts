import { copyFileSync, renameSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { addFetch } from '../cli/filled.ts'
import { emulate, runJob } from '../support/kit.ts'
import { openStore } from '../support/testStore.ts'
import { filledFile, NOW, servePage } from './site.ts'

const nothing = (): void => undefined

/** Writes a successful fetch, like a sync. */
async function write(file: string, id: number): Promise<void> {
  const store = await openStore(file)
  addFetch(store, id)
  await store.close()
}

describe('caching and compression of responses', () => {
  test('a response is compressed if the client accepts it, and HEAD returns its length', async () => {
    const { url } = await servePage(await filledFile(nothing))
    const packed = await fetch(`${url}/`, { headers: { 'accept-encoding': 'gzip' } })
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    const plain = await fetch(`${url}/`, { headers: { 'accept-encoding': 'identity' } })
    expect(plain.headers.get('content-encoding')).toBeNull()
    const text = await plain.text()
    expect(await packed.text()).toBe(text)
    const head = await fetch(`${url}/`, { method: 'HEAD' })
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(text)))
    const csv = await fetch(`${url}/api/csv/600/3`, { method: 'HEAD' })
    expect([csv.status, csv.headers.get('x-content-type-options'), await csv.text()]).toEqual([200, 'nosniff', ''])
  })

  test('the ETag remains the same until a write, and unchanged pages are not sent again', async () => {
    const file = await filledFile(nothing)
    const { url } = await servePage(file)
    for (const path of ['/', '/coverage.json', '/coverage/600', '/api/series/600/3']) {
      const first = await fetch(`${url}${path}`)
      const etag = first.headers.get('etag')!.replace(/^W\//, '')
      expect(first.headers.get('cache-control')).toBe('private, no-cache')
      for (const known of [`"other", ${etag}`, `W/${etag}`, '*']) {
        const again = await fetch(`${url}${path}`, { headers: { 'if-none-match': known } })
        expect([again.status, await again.text()], `${path} ${known}`).toEqual([304, ''])
      }
    }
    const before = (await fetch(`${url}/`)).headers.get('etag')!
    await write(file, 1000)
    expect((await fetch(`${url}/`, { headers: { 'if-none-match': before } })).status).toBe(200)
  })

  test('the result of a statement has no ETag', async () => {
    const { url } = await servePage(await filledFile(nothing))
    for (const path of ['/sql', '/sql.json', '/sql.csv']) {
      const response = await fetch(`${url}${path}?sql=select+random()`)
      expect([response.status, response.headers.get('etag')], path).toEqual([200, null])
    }
  })

  test('the ETag differs by language, by minute if ages are shown, and by database file', async () => {
    const file = await filledFile(nothing)
    let now = Date.parse('2025-11-04T12:00:10Z') / 1000
    const { url } = await servePage(file, { now: () => now })
    const tag = async (path: string, language = 'en') =>
      (await fetch(`${url}${path}`, { headers: { 'accept-language': language } })).headers.get('etag')
    const home = await tag('/')
    const coverage = await tag('/coverage')
    expect(await tag('/', 'es')).not.toBe(home)
    now += 20
    expect(await tag('/')).toBe(home)
    now += 60
    expect(await tag('/')).not.toBe(home)
    expect(await tag('/coverage')).toBe(coverage)
    copyFileSync(file, `${file}.new`)
    renameSync(`${file}.new`, file)
    expect(await tag('/coverage')).not.toBe(coverage)
  })
})

describe('a page during writes', () => {
  test('the live state changes with each write and with a replaced file', async () => {
    const file = await filledFile(nothing)
    const { url } = await servePage(file)
    const state = async () => (await fetch(`${url}/api/live`)).text()
    const states = [await state(), await state()]
    await write(file, 1000)
    states.push(await state())
    copyFileSync(file, `${file}.new`)
    renameSync(`${file}.new`, file)
    states.push(await state())
    expect(states[1]).toBe(states[0])
    expect(new Set(states).size).toBe(3)
  })
})

test('pages during a sync are complete and do not delay it', async () => {
  const file = await filledFile(nothing)
  const { url } = await servePage(file)
  const emulator = await emulate({ now: NOW / 1000 })
  const store = await openStore(file)
  onTestFinished(() => store.close())
  let isOver = false
  const writing = runJob(
    store,
    emulator,
    'series: [{ indicators: [1001, 1739], window: { from: 2025-06-01, to: 2025-11-01 }, chunk: 7d }]',
    { now: NOW },
  ).finally(() => {
    isOver = true
  })
  const statuses = new Set<number>()
  while (!isOver)
    for (const path of ['/', '/index.json', '/coverage/600', '/series/600', '/runs', '/status.json'])
      statuses.add((await fetch(`${url}${path}`)).status)
  expect((await writing).outcome).toBe('done')
  expect([...statuses]).toEqual([200])
  const { series } = (await (await fetch(`${url}/index.json`)).json()) as { series: { indicatorId: number }[] }
  expect(series.map(({ indicatorId }) => indicatorId)).toEqual(expect.arrayContaining([1001, 1739]))
})

test('texts for scripts are part of the page, in its language', async () => {
  const { url } = await servePage(await filledFile(nothing))
  const home = await (await fetch(url, { headers: { 'accept-language': 'es' } })).text()
  for (const word of ['data-copy="Copiar"', 'data-copied="Copiado"', 'data-changed="La página se ha actualizado'])
    expect(home).toContain(word)
})

describe('monitoring endpoints', () => {
  test('/metrics and /status.json equal `status --format prometheus` and `status --json`', async () => {
    const { url } = await servePage(await filledFile(nothing))
    const metrics = await fetch(`${url}/metrics`)
    expect(metrics.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(await metrics.text()).toMatch(/^indicator_sync_build_info\{.*version="test".*\} 1$/m)
    const status = (await (await fetch(`${url}/status.json`)).json()) as {
      failures: object[]
      runs: object[]
      series: { indicator_id: number; lag_hours: number }[]
    }
    expect([status.failures.length, status.runs.length]).toEqual([1, 1])
    // Ages equal those on other pages.
    expect(status.series.find(({ indicator_id }) => indicator_id === 1293)!.lag_hours).toBeLessThan(24)
  })
})
