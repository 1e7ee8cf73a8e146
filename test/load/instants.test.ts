import { expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import { dismiss } from '../../src/load/quarantine/quarantine.ts'
import { dump } from '../support/dump.ts'
import { json, ms, replayed, runJob, serve, tempStore, valueAt } from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'

const DAY = 86_400_000
const NIGHT = ms('2025-11-04T20:15:00Z')
const NOON = '2025-11-01T12:00:00.000+01:00'
const FIXED = 'datetime: 2025-11-01T12:00'
const seconds = (text: string): number => ms(text) / 1000

/** A service that replies with the values of some times and geos, whatever is requested. */
async function fixedReplies(...sent: readonly (readonly [at: string, geoId?: number])[]) {
  const state = { sent, tiempo: [{ id: 4 }] as unknown[] }
  const requested: string[] = []
  const server = await serve((request, response) => {
    requested.push(new URL(request.url!, 'http://x').searchParams.get('datetime')!)
    const values = state.sent.map(([at, geoId]) => valueAt(seconds(at), 1, geoId))
    json(response, { indicator: { id: 600, tiempo: state.tiempo, geos: [], values } })
  })
  const run = async (store: Store, entry: string, now: number) => {
    const before = requested.length
    const { outcome } = await runJob(store, server, `series: [{ indicators: [600], ${entry} }]`, { now })
    return requested.length === before ? 'none' : outcome
  }
  return { state, run, requested }
}
const findings = async (store: Store, now = NIGHT) =>
  (await findFindings(store, now / 1000)).flatMap(({ kind, message }) =>
    // The place and reason of an entry.
    kind === 'quarantine' ? [/, such as (\$.*)\. (?:Another response|Requesting)/.exec(message)![1]] : [],
  )
const open = (store: Store) => store.get('select count(*) from _quarantine where resolved_at is null')
const text = (geos: string, other: string) =>
  `$.indicator.values: requested indicator 600 at 2025-11-01T12:00:00+01:00, but geo ${geos} has only values of other times, such as 2025-11-01T${other}:00+01:00`

test('a value of another time is kept, is a finding, and its instant is requested at growing distances', async () => {
  const store = await tempStore()
  const service = await fixedReplies(['2025-11-01T13:00:00+01:00'])
  const nights: number[] = []
  for (let night = 0; night < 40; night++) {
    const outcome = await service.run(store, FIXED, NIGHT + night * DAY)
    if (outcome === 'none') continue
    expect(outcome).toBe('partial')
    nights.push(night)
  }
  expect(nights).toEqual([0, 1, 3, 7, 15, 31])
  expect(store.all('select at, value from observation')).toEqual([
    { at: seconds('2025-11-01T13:00:00+01:00'), value: 1 },
  ])
  expect(await findings(store)).toEqual([text('3', '13:00')])
  service.state.sent = [[NOON]]
  expect(await service.run(store, FIXED, NIGHT + 63 * DAY)).toBe('done')
  expect(await findings(store)).toEqual([])
  expect(await service.run(store, FIXED, NIGHT + 200 * DAY)).toBe('none')
  expect(dump(await replayed(store))).toEqual(dump(store))
})

test('a finding that is dismissed is not requested again', async () => {
  const store = await tempStore()
  const service = await fixedReplies(['2025-11-01T11:00:00+01:00'])
  expect(await service.run(store, FIXED, NIGHT)).toBe('partial')
  await dismiss(store, [Number(store.get('select id from _quarantine'))], 'no value at noon', NIGHT)
  expect(await service.run(store, FIXED, NIGHT + DAY)).toBe('none')
  expect(await findings(store)).toEqual([])
})

test('an instant that moves has one finding, about the last time', async () => {
  const store = await tempStore()
  const service = await fixedReplies(['2025-11-01T13:00:00+01:00'])
  for (const night of [0, 1, 2]) expect(await service.run(store, 'datetime: now', NIGHT + night * DAY)).toBe('partial')
  expect(service.requested).toHaveLength(3)
  expect([open(store), store.get('select max(id) from _quarantine where resolved_at is null')]).toEqual([1, 3])
  service.state.sent = [[new Date(NIGHT + 3 * DAY).toISOString()]]
  expect(await service.run(store, 'datetime: now', NIGHT + 3 * DAY)).toBe('done')
  expect(open(store)).toBe(0)
})

test.each([
  ['the hour', FIXED.replace('12:00', '12:37'), NOON, [{ id: 4 }]],
  ['the day', FIXED, '2025-11-01T00:00:00+01:00', [{ id: 2 }]],
  ['the day, without a resolution', FIXED, '2025-11-01T00:00:00+01:00', []],
  ['the month', `${FIXED}, timeTrunc: month, timeAgg: sum`, '2025-11-01T00:00:00+01:00', [{ id: 3 }]],
])('a value of %s that contains the instant is its value', async (_, entry, at, tiempo) => {
  const store = await tempStore()
  const service = await fixedReplies([at])
  service.state.tiempo = tiempo
  expect(await service.run(store, entry, NIGHT)).toBe('done')
})

test.each([
  ['the next hour', ['2025-11-01T13:00:00+01:00'], '13:00'],
  ['the hour before, without a resolution', ['2025-11-01T11:00:00+01:00'], '11:00'],
  ['two hours around it', ['2025-11-01T11:00:00+01:00', '2025-11-01T13:00:00+01:00'], '11:00'],
])('a value of %s is not the value of the instant', async (name, times, other) => {
  const store = await tempStore()
  const service = await fixedReplies(...times.map((at) => [at] as const))
  if (name.includes('without')) service.state.tiempo = []
  expect(await service.run(store, FIXED, NIGHT)).toBe('partial')
  expect(await findings(store)).toEqual([text('3', other)])
})

test('only the geos without a value of the instant are named, and other times beside it are not a finding', async () => {
  const other = '2025-11-01T13:00:00+01:00'
  const store = await tempStore()
  const service = await fixedReplies([NOON, 3], [other, 3], [other, 4], [other, 8])
  expect(await service.run(store, FIXED, NIGHT)).toBe('partial')
  expect(await findings(store)).toEqual([text('4, 8', '13:00')])
})

test('a reply without values for the instant is not a finding', async () => {
  const store = await tempStore()
  const service = await fixedReplies()
  expect(await service.run(store, FIXED, NIGHT)).toBe('done')
  expect(await findings(store)).toEqual([])
})
