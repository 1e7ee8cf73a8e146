import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRegister } from '../../src/plan/requestRegister.ts'
import { emulate, json, ms, runCommand, runJob, serve, tempFolder, tempStore } from '../support/kit.ts'

const KEY = 'k'.repeat(64)
const JOB = `name: market
pace: { perSecond: 50, callsPerDay: 40 }
series:
  - indicators: { match: precio, exclude: [600] }
    geoIds: [3]
    window: { from: 2025-06-01, to: 2025-06-03 }
`

test('a job that selects by the catalogue fetches it first, and plan counts the indicators', async () => {
  const { url, requests } = await emulate({ key: KEY })
  const folder = tempFolder()
  const env = { INDICATOR_SYNC_BASE_URL: url, INDICATOR_SYNC_API_KEY: KEY }
  writeFileSync(join(folder, 'job.yaml'), JOB)
  const before = await runCommand(folder, ['plan', 'job.yaml'], env)
  expect(before.out).toMatch(/The catalogue is not stored yet. The next sync fetches it before/)
  expect(before.out).toMatch(/: 1 call, /)
  const done = await runCommand(folder, ['sync', 'job.yaml'], env)
  expect(done.code, done.err).toBe(0)
  const stored = await runCommand(folder, ['query', 'select distinct indicator_id from series', '--format', 'csv'], env)
  const ids = stored.out.trim().split('\n').slice(1).map(Number)
  expect(ids.length).toBeGreaterThan(1)
  expect(ids).not.toContain(600)
  const named = await runCommand(
    folder,
    ['query', `select count(*) from indicator_text where lower(name) like '%precio%' and id <> 600`, '--format', 'csv'],
    env,
  )
  expect(Number(named.out.trim().split('\n')[1])).toBe(ids.length)
  const again = await runCommand(folder, ['plan', 'job.yaml'], env)
  expect(again.out).toMatch(new RegExp(`series\\[0\\]: ${ids.length} of [\\d,]+ indicators of the catalogue`))
  expect(again.out).toMatch(/nothing to request/)
  const only = await runCommand(
    folder,
    ['plan', 'job.yaml', '--only', `${ids[0]}`, '--from', '2025-06-01', '--json'],
    env,
  )
  expect(JSON.parse(only.out)).toEqual([])
  for (const command of ['sync', 'plan']) {
    const mistyped = await runCommand(folder, [command, 'job.yaml', '--only', `${ids[0]},600`], env)
    expect(mistyped).toMatchObject({ code: 2, err: expect.stringContaining('--only 600: no job entry selects it.') })
  }
  expect(requests.filter(({ url }) => url.startsWith('/indicators?')).length).toBe(1)
})

test('a catalogue that one job failed to fetch is requested again by the next job', async () => {
  let down = true
  const server = await serve((request, response) => {
    const isListing = request.url!.startsWith('/indicators?')
    if (isListing && down) return json(response, {}, 400)
    const value = { value: 1, datetime: '2025-06-01T00:00:00.000+02:00', geo_id: 3 }
    json(
      response,
      isListing
        ? { indicators: [{ id: 5, name: 'precio' }] }
        : { indicator: { id: 5, tiempo: [{ id: 4 }], values: [value] } },
    )
  })
  const store = await tempStore()
  const requested = createRegister()
  const run = () => runJob(store, server, JOB, { now: ms('2025-06-02T12:00:00Z'), requested })
  expect(await run()).toMatchObject({ outcome: 'partial', counts: { requests: 1, failed: 1 } })
  expect(await run()).toMatchObject({ outcome: 'partial', counts: { requests: 1, failed: 1 } })
  down = false
  expect(await run()).toMatchObject({ outcome: 'done', counts: { requests: 2 } })
  expect(await run()).toMatchObject({ outcome: 'done', counts: { requests: 0 } })
  expect(server.calls).toHaveLength(4)
})
