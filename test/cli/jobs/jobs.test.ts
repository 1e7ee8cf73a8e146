import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emulate, runCommand, serve, tempFolder } from '../../support/kit.ts'

const DAY = 86_400_000

/** Formats the windows of a request as days since 1 January 2025, with its geos. */
function windowOf(url: string): string {
  const { pathname, searchParams } = new URL(url, 'http://x')
  const [from, to] = ['start_date', 'end_date'].map((name) => Date.parse(searchParams.get(name)!)) as [number, number]
  const day = (at: number): number => Math.round((at - Date.parse('2024-12-31T23:00:00Z')) / DAY)
  return `${pathname.split('/').at(-1)} ${day(from)}-${day(to)} ${searchParams.getAll('geo_ids[]')}`.trim()
}

/** Runs two jobs in one call: the first for some geos, the second for all. */
async function two(some: string, all: string) {
  const emulator = await emulate()
  const dir = tempFolder()
  const env = { INDICATOR_SYNC_BASE_URL: emulator.url, INDICATOR_SYNC_API_KEY: emulator.key }
  const files = [some, all].map((yaml, i) => {
    writeFileSync(join(dir, `${i}.yaml`), `name: job-${i}\npace: { perSecond: 50, concurrency: 1 }\n${yaml}`)
    return `${i}.yaml`
  })
  const planned = await runCommand(dir, ['plan', ...files, '--json'], env)
  const synced = await runCommand(dir, ['sync', ...files], env)
  expect([synced.code, synced.err]).toEqual([0, expect.any(String)])
  const again = emulator.requests.length
  expect((await runCommand(dir, ['sync', ...files], env)).code).toBe(0)
  expect(emulator.requests.slice(again).map(({ url }) => url)).toEqual([])
  const sent = emulator.requests.map(({ url }) => url)
  return {
    planned: (JSON.parse(planned.out) as { target: string }[]).map(({ target }) => `${emulator.url}${target}`),
    sent,
    url: emulator.url,
  }
}

test('a job without series after --only reports this, and the missing data of other jobs counts', async () => {
  const emulator = await emulate()
  const dir = tempFolder()
  const env = { INDICATOR_SYNC_BASE_URL: emulator.url, INDICATOR_SYNC_API_KEY: emulator.key }
  const job = (name: string, ids: string): string => {
    const window = '{ from: 2025-01-01, to: 2025-01-02 }'
    writeFileSync(
      join(dir, `${name}.yaml`),
      `name: ${name}\npace: { perSecond: 50 }\nseries: [{ indicators: [${ids}], window: ${window} }]\n`,
    )
    return `${name}.yaml`
  }
  const files = [job('a', '600, 1739'), job('b', '1001')]
  expect((await runCommand(dir, ['sync', ...files], env)).code).toBe(0)
  const wants = async () => (await runCommand(dir, ['query', 'select * from _duty', '--json'])).out
  const before = await wants()
  expect(JSON.parse(before)).toHaveLength(3)
  const narrowed = await runCommand(dir, ['sync', ...files, '--only', '600'], env)
  expect(narrowed.out).toMatch(/a: nothing to do; the selected part is up to date/)
  expect(narrowed.out).toMatch(/b: nothing selected/)
  expect((await runCommand(dir, ['plan', ...files, '--only', '600'], env)).out).toMatch(/b: nothing selected/)
  expect(await wants()).toBe(before)
  const result = await runCommand(dir, ['sync', ...files, '--only', '600', '--json'], env)
  expect(JSON.parse(result.out)).toMatchObject([{ selected: true }, { selected: false }])
})

test('a request of one job for all geos covers the geos that another job names', async () => {
  const some = `series:
  - { indicators: [600], geoIds: [1, 3], window: { from: 2025-01-01, to: 2025-01-11 } }
  - { indicators: [1739], geoIds: [3], window: { from: 2025-01-01, to: 2025-01-03 } }
`
  const all = 'series:\n  - { indicators: [600], window: { from: 2025-01-04, to: 2025-01-21 } }\n'
  const { planned, sent, url } = await two(all, some)
  expect(sent.map(windowOf)).toEqual(['600 3-20', '600 0-3 1,3', '1739 0-2 3'])
  expect(planned).toEqual(sent.map((target) => `${url}${target}`))
})

test('an unavailable service exits with 8 and sends a failure, and the next job runs', async () => {
  const emulator = await emulate({ faults: [{ route: 'indicator', body: 'html' }] })
  const heard: unknown[] = []
  const listener = await serve(async (request, response) => {
    heard.push(JSON.parse(Buffer.concat(await request.toArray()).toString()))
    response.end()
  })
  const dir = tempFolder()
  const env = { INDICATOR_SYNC_BASE_URL: emulator.url, INDICATOR_SYNC_API_KEY: emulator.key }
  const window = '{ from: 2025-01-01, to: 2025-01-02 }'
  writeFileSync(join(dir, 'a.yaml'), `name: a\nseries: [{ indicators: [600], window: ${window} }]\n`)
  writeFileSync(join(dir, 'b.yaml'), 'name: b\ncontent: [{ kinds: [news] }]\n')
  const { code, out } = await runCommand(dir, ['sync', 'a.yaml', 'b.yaml', '--json', '--notify', listener.url], env)
  expect(code).toBe(8)
  expect(JSON.parse(out)).toMatchObject([
    { job: 'a', outcome: 'failed', stop: { code: 'unavailable' } },
    { job: 'b', outcome: 'done', stop: null },
  ])
  expect(heard).toMatchObject([
    { event: 'failed', ok: false, job: 'a', stop: { code: 'unavailable' } },
    { event: 'done', ok: true, job: 'b' },
  ])
})

test('a refused key of a later job decides the exit code, not an earlier outage', async () => {
  const window = '{ from: 2025-01-01, to: 2025-01-02 }'
  const server = await serve((request, response) =>
    request.url!.includes('600') ? response.end('<!doctype html>') : response.writeHead(401).end('Unauthorized'),
  )
  const dir = tempFolder()
  for (const [name, id] of [
    ['a', 600],
    ['b', 1001],
  ])
    writeFileSync(join(dir, `${name}.yaml`), `name: ${name}\nseries: [{ indicators: [${id}], window: ${window} }]\n`)
  const env = { INDICATOR_SYNC_BASE_URL: server.url, INDICATOR_SYNC_API_KEY: 'k'.repeat(64) }
  expect((await runCommand(dir, ['sync', 'a.yaml', 'b.yaml'], env)).code).toBe(3)
})
