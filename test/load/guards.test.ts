import { describe, expect, test } from 'vitest'
import { dropEarlier } from '../../src/load/replies/keep.ts'
import { testClient } from '../fetch/testClient.ts'
import { emulate, json, ms, runJob, serve, tempStore } from '../support/kit.ts'

/* Mutation testing once removed each of these guards without any test failing. */

const HOUR = 3_600_000
const REQUEST = { route: 'indicators', target: '/indicators', headers: {} } as const
const DAY = 24 * HOUR

/** Creates a series reply with one value per hour from a local midnight. */
const hours = (from: string, count = 24, more: object = {}) => ({
  indicator: {
    id: 777,
    name: 'Serie',
    tiempo: [{ id: 4, name: 'Hora' }],
    geos: [],
    values: Array.from({ length: count }, (_, i) => ({
      value: i,
      datetime: new Date(ms(from) + i * HOUR).toISOString(),
      geo_id: 3,
      geo_name: 'España',
    })),
    ...more,
  },
})

describe('an overloaded service', () => {
  test('the client halves its concurrency after a failure of the service', async () => {
    let underWay = 0
    let most = 0
    let isSuffering = false
    const server = await serve(async (_request, response) => {
      most = Math.max(most, ++underWay)
      await new Promise((resolve) => setTimeout(resolve, 30))
      underWay--
      json(response, {}, isSuffering ? 500 : 200)
      isSuffering = false
    })
    const client = testClient(server.url, { perSecond: 1e6, concurrency: 8 })
    const atOnce = async (calls: number): Promise<number> => {
      most = 0
      await Promise.all(Array.from({ length: calls }, () => client.get(REQUEST)))
      return most
    }
    expect(await atOnce(60)).toBe(8)
    isSuffering = true
    expect(await atOnce(1)).toBe(1)
    // After the retry, one more is allowed: half of eight, plus one.
    expect(await atOnce(5)).toBe(5)
  })

  test('a refusal shows that the host is alive and resets the circuit breaker', async () => {
    const statuses = [500, 500, 404, 500, 500, 200]
    const server = await serve((_request, response, call) => json(response, {}, statuses[call - 1]))
    const holds: string[] = []
    const client = testClient(server.url, {
      perSecond: 1000,
      retryMs: 1,
      breaker: { failures: 3, pauseMs: 1, openings: 9, giveUpMs: 60_000 },
      onPause: (_ms, reason) => holds.push(reason),
    })
    expect(await client.get(REQUEST)).toHaveProperty('error')
    expect(await client.get(REQUEST)).toMatchObject({ status: 200 })
    expect(server.calls).toHaveLength(6)
    expect(holds).toEqual([])
  })

  test('each host has its own budget', async () => {
    const store = await tempStore()
    const one = await emulate()
    const other = await emulate()
    const job = (from: number) =>
      `pace: { callsPerDay: 2 }\nseries:\n  - { indicators: [1739], chunk: 1d, window: { from: 2025-10-${from}, to: 2025-10-${from + 3} } }`
    const now = ms('2025-11-04T12:00:00Z')
    expect((await runJob(store, one, job(10), { now })).outcome).toBe('stopped')
    expect(one.requests).toHaveLength(2)
    expect((await runJob(store, other, job(20), { now })).outcome).toBe('stopped')
    expect(other.requests).toHaveLength(2)
  })
})

describe('stored replies', () => {
  test('only the last body of a request is kept, apart from quarantined ones', async () => {
    const store = await tempStore()
    const bad = hours('2025-10-20T00:00:00+02:00')
    const broken = { ...bad.indicator, values: [...bad.indicator.values.slice(1), { value: 'much', geo_id: 3 }] }
    const bodies = [
      { indicator: broken },
      hours('2025-10-20T00:00:00+02:00', 24, { name: 'Second' }),
      hours('2025-10-20T00:00:00+02:00', 24, { name: 'Third' }),
    ]
    const server = await serve((_request, response, call) => json(response, bodies[call - 1]))
    const job = 'keep: latest\nseries:\n  - { indicators: [777], window: { from: 2025-10-20, to: 2025-10-21 } }'
    const range = { from: ms('2025-10-20T00:00:00+02:00') / 1000, to: ms('2025-10-21T00:00:00+02:00') / 1000 }
    const again = { range: { interval: range, how: 'narrow' as const }, restate: true }
    for (const day of [0, 1, 2])
      await runJob(store, server, job, { now: ms('2025-11-04T12:00:00Z') + day * DAY, options: again })
    const keptBodies = store.all('select f.id from _fetch f join _reply r on r.hash = f.reply_hash order by f.id')
    expect(keptBodies).toEqual([{ id: 1 }, { id: 3 }])
    expect(store.get('select count(*) from _quarantine where fetch_id = 1')).toBe(1)
  })

  test('an earlier body is kept when a later identical reply refers to it', async () => {
    const store = await tempStore()
    const bodies = [{ archives: [] }, { archives: [], meta: 1 }, { archives: [] }]
    const server = await serve((_request, response, call) => json(response, bodies[call - 1]))
    const job = 'archives: [{ window: { from: 2025-11-01, to: 2025-11-02 }, dateType: datos }]'
    const range = { from: ms('2025-11-01T00:00:00+01:00') / 1000, to: ms('2025-11-02T00:00:00+01:00') / 1000 }
    const again = { range: { interval: range, how: 'narrow' as const }, restate: true }
    for (const day of [0, 1, 2])
      await runJob(store, server, job, { now: ms('2025-11-04T12:00:00Z') + day * DAY, options: again })
    const [first, second, third] = await store.kysely
      .selectFrom('_fetch')
      .select(['id', 'target', 'reply_hash'])
      .orderBy('id')
      .execute()
    expect(third!.reply_hash).toBe(first!.reply_hash)
    await store.write((tx) => dropEarlier(tx, store.engine, second!.target, second!.id, second!.reply_hash!))
    expect(store.get('select count(*) from _reply')).toBe(2)
    await store.write((tx) => dropEarlier(tx, store.engine, third!.target, third!.id, third!.reply_hash!))
    expect(store.all('select hash from _reply')).toEqual([{ hash: third!.reply_hash }])
  })

  test('the texts of the catalogue are not overwritten by those of a series', async () => {
    const store = await tempStore()
    const listed = { id: 777, name: 'Precio del mercado', short_name: 'Precio' }
    const server = await serve((request, response) =>
      json(
        response,
        request.url!.startsWith('/indicators?')
          ? { indicators: [listed], meta: { size: 1 } }
          : hours('2025-10-20T00:00:00+02:00', 24, { short_name: 'S' }),
      ),
    )
    const series = 'series:\n  - { indicators: [777], window: { from: 2025-10-20, to: 2025-10-21 } }'
    await runJob(store, server, `catalogue: true\n${series}`, { now: ms('2025-11-04T12:00:00Z') })
    const text = () => store.all('select name, short_name from indicator_text')
    expect(text()).toEqual([{ name: 'Precio del mercado', short_name: 'Precio' }])
    expect(store.get('select count(*) from observation')).toBe(24)
    expect(store.get('select count(*) from indicator_revision')).toBe(0)
  })
})
