import { expect, test } from 'vitest'
import { brief, canonical } from '../../src/util/json.ts'
import { dump } from '../support/dump.ts'
import { json, ms, replayed, runJob, serve, tempStore } from '../support/kit.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const FROM = ms('2025-09-30T22:00:00Z') / 1000
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const values = Array.from({ length: 24 }, (_, i) => ({
  value: i,
  geo_id: 3,
  datetime: new Date((FROM + i * 3600) * 1000).toISOString().replace('Z', '+00:00'),
}))
const spoiled = (id: number, field: string) =>
  JSON.stringify({ indicator: { id, name: 'x', values } }).replace('{"id"', `{${field}"id"`)

/** Both sizes of bodies: small ones are parsed in the main thread, others in a worker thread. */
test.each([
  [400, 0, 96, 0],
  [400, 40_000, 96, 0],
  [600, 0, 72, 1],
  [2_500, 40_000, 72, 1],
  [3_500, 40_000, 72, 1],
  [100_000, 0, 72, 1],
])(
  'a field %d levels deep in a body with %d more bytes breaks neither sync nor replay',
  async (levels, bytes, stored, quarantined) => {
    const field = `"pad":"${'p'.repeat(bytes)}","x":${deep(levels)},`
    const server = await serve((request, response) => {
      const id = Number(/\d+/.exec(request.url!)![0])
      json(response, spoiled(id, id === 2 ? field : ''))
    })
    const store = await tempStore()
    const yaml = 'series: [{ indicators: [1, 2, 3, 4], window: { from: 2025-10-01, to: 2025-10-02 } }]'
    const { outcome } = await runJob(store, server, yaml, { now: NOW })
    expect(outcome).toBe(quarantined === 0 ? 'done' : 'partial')
    expect(store.get('select count(*) from observation')).toBe(stored)
    const reasons = store.all('select reason from _quarantine')
    expect(reasons).toEqual(quarantined === 0 ? [] : [{ reason: 'The body is nested too deeply.' }])

    expect(dump(await replayed(store))).toEqual(dump(store))
  },
)

test('the nesting limit does not depend on the remaining stack', () => {
  const atDepth = <T>(frames: number, what: () => T): T => (frames === 0 ? what() : atDepth(frames - 1, what))
  for (const frames of [0, 2_000]) {
    expect(atDepth(frames, () => canonical(JSON.parse(deep(500))))).toBe(deep(500))
    expect(() => atDepth(frames, () => canonical(JSON.parse(deep(501))))).toThrow(/more than 500 levels/)
    expect(atDepth(frames, () => brief(JSON.parse(deep(501))))).toBe('something nested too deeply')
  }
})
