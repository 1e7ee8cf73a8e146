import { expect, test } from 'vitest'
import { findOpenFailures } from '../../src/state/failedRequests.ts'
import { emulate, json, ms, ON_SERVER, requestedWindow, runJob, serve, tempStore, valueAt } from '../support/kit.ts'
import { openStore, type Store } from '../support/testStore.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const SERIES = 'series: [{ indicators: [600], window: { from: 2025-01-01, to: 2025-02-01 }, chunk: 1w }]'
const budget = (store: Pick<Store, 'all'>) => store.all('select host, called_at from _budget order by id')

test('calls of a job without limits count towards the limits of other jobs, per host', async () => {
  const store = await tempStore()
  const emulator = await emulate({ now: NOW / 1000 })
  const other = await emulate({ now: NOW / 1000 })
  const free = await runJob(store, emulator, SERIES, { now: NOW })
  expect(budget(store)).toHaveLength(free.counts.requests)
  const limited = `pace: { callsPerDay: ${free.counts.requests + 1} }\n${SERIES.replace('600', '1739')}`
  const stopped = await runJob(store, emulator, limited, { now: NOW })
  expect(stopped).toMatchObject({ outcome: 'stopped', earlyEnd: { code: 'budget' }, counts: { requests: 1 } })
  const elsewhere = await runJob(store, other, limited.replace('1739', '1001'), { now: NOW })
  expect(elsewhere.outcome).toBe('done')
  // Calls older than a day are deleted, and fresh data needs no calls.
  await runJob(store, emulator, `content: [{ kinds: [news] }]`, { now: NOW + 2 * 86_400_000 })
  const left = budget(store) as { host: string; called_at: number }[]
  expect(left.filter(({ host }) => host === new URL(emulator.url).host).every((row) => row.called_at > NOW)).toBe(true)
  const version = () => (ON_SERVER ? null : store.get('pragma data_version'))
  const before = version()
  const again = await runJob(store, emulator, SERIES, { now: NOW + 2 * 86_400_000 })
  expect(again.counts.requests).toBe(0)
  expect(budget(store)).toEqual(left)
  expect(version()).toBe(before)
})

test('a long pause requested by the service survives the process, is reported, and expires', async () => {
  const store = await tempStore()
  const server = await serve((_request, response, call) => {
    if (call === 1) json(response, {}, 429, { 'Retry-After': '7200' })
    else json(response, { indicator: { id: 600, tiempo: [{ id: 4 }], geos: [], values: [] } })
  })
  const first = await runJob(store, server, SERIES, { now: NOW })
  expect(first).toMatchObject({ outcome: 'stopped', earlyEnd: { code: 'retry-after' } })
  await store.close()
  const next = await openStore(store.file)
  const second = await runJob(next, server, SERIES, { now: NOW + 3_600_000 })
  expect(second.earlyEnd?.message).toMatch(/asked an earlier run to wait until 2025-11-04T15:00:00\+01:00/)
  expect(second.counts.requests).toBe(0)
  expect(server.calls).toHaveLength(1)
  const third = await runJob(next, server, SERIES, { now: NOW + 7_300_000 })
  expect(third.earlyEnd).toBeNull()
  expect(server.calls.length).toBeGreaterThan(1)
  await next.close()
})

test('the base URL of the service is recorded without user name and password', async () => {
  const store = await tempStore()
  const emulator = await emulate({ now: NOW / 1000 })
  const secret = emulator.url.replace('http://', 'http://me:hush@')
  await runJob(store, { ...emulator, url: `${secret}/` }, SERIES, { now: NOW })
  const host = new URL(emulator.url).host
  expect(store.all('select host, base_url, service, wait_until from _source')).toEqual([
    { host, base_url: emulator.url, service: 'generic', wait_until: null },
  ])
})

test.each([
  ['the budget', 4],
  ['the key', 3],
  ['a signal', 2],
])('a run stopped by %s within a window reports all its work', async (why, calls) => {
  const store = await tempStore()
  const stop = new AbortController()
  const emulator = await emulate({
    now: NOW / 1000,
    faults: why === 'the key' ? [{ route: 'indicator', calls: [calls], status: 401 }] : [],
  })
  const yaml = SERIES.replace('1w', '1mo')
  await runJob(store, emulator, yaml.replaceAll('2025', '2024'), { now: NOW })
  // Windows of five days are known to be accepted.
  store.run('update series set window_s = 5 * 86400', [])
  store.run('delete from _budget', [])
  const before = emulator.requests.length
  const watch = setInterval(() => {
    if (why === 'a signal' && emulator.requests.length >= before + calls) stop.abort()
  }, 1)
  const limit = why === 'the budget' ? `, callsPerHour: ${calls}` : ''
  const { counts, earlyEnd: reason } = await runJob(store, emulator, `pace: { concurrency: 1${limit} }\n${yaml}`, {
    now: NOW,
    signal: stop.signal,
  })
  clearInterval(watch)
  expect(reason).not.toBeNull()
  const [told] = store.all(`select ${Object.keys(counts)} from _run order by id desc limit 1`)
  expect(counts).toEqual(told)
  expect(counts.requests).toBeGreaterThan(0)
  expect(counts.rows_new).toBeGreaterThan(100)
})

test('a budget below the need of a night reaches all series in turn', async () => {
  const server = await serve((request, response) => {
    const { from, end } = requestedWindow(request)
    const id = Number(/indicators\/(\d+)/.exec(request.url!)![1])
    const values = []
    for (let at = from; at <= end; at += 3600) values.push(valueAt(at))
    json(response, { indicator: { id, tiempo: [{ id: 4 }], values } })
  })
  const job =
    'pace: { callsPerDay: 2 }\nseries:\n  - { indicators: [1, 2, 3, 4, 5], window: { from: -3d, to: now }, lookback: 2d, refresh: 1h }'
  const store = await tempStore()
  const nights: number[][] = []
  for (let night = 0; night < 5; night++) {
    const before = store.get('select coalesce(max(id), 0) from _fetch') as number
    await runJob(store, server, job, { now: ms('2025-11-04T03:00:00Z') + night * 86_460_000 })
    const rows = store.all(
      `select s.indicator_id as id from _fetch as f join series as s on s.id = f.series_id where f.id > ${before} order by f.id`,
    ) as { id: number }[]
    nights.push(rows.map(({ id }) => id).sort())
  }
  expect(nights).toEqual([
    [1, 2],
    [3, 4],
    [1, 5],
    [2, 3],
    [4, 5],
  ])
})

test('a request whose retry no longer fits into the budget has failed, and can be retried', async () => {
  const server = await serve((_request, response) => json(response, {}, 500))
  const store = await tempStore()
  const { earlyEnd } = await runJob(store, server, `pace: { callsPerDay: 1 }\n${SERIES}`, { now: NOW })
  expect(earlyEnd?.code).toBe('budget')
  expect(store.all('select outcome, attempts, status from _fetch')).toEqual([
    { outcome: 'transient', attempts: 1, status: 500 },
  ])
  expect((await findOpenFailures(store)).map(({ outcome }) => outcome)).toEqual(['transient'])
  expect(store.all('select distinct reason from gaps order by 1')).toEqual([
    { reason: 'failed' },
    { reason: 'never requested' },
  ])
})

test('a budget that the catalogue of a selector could use up reaches the selected series too', async () => {
  const emulator = await emulate({ now: NOW / 1000 })
  const store = await tempStore()
  const yaml =
    'locales: [es, en]\npace: { callsPerDay: 2 }\nseries: [{ indicators: { match: spot }, window: { last: 1d } }]'
  const nights: string[][] = []
  for (let night = 0; night < 6; night++) {
    const before = emulator.requests.length
    await runJob(store, emulator, yaml, { now: NOW + night * 86_460_000 })
    nights.push(emulator.requests.slice(before).map(({ url }) => url.split('?')[0]!.replace(/\d+/, 'N')))
  }
  expect(nights[0]).toEqual(['/indicators', '/indicators'])
  const urls = nights.slice(1).flat()
  expect(urls.filter((url) => url === '/indicators/N').length).toBeGreaterThan(3)
  expect(urls.filter((url) => url === '/indicators').length).toBeGreaterThan(1)
})
