import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { repeatTurn } from '../../src/plan/turns.ts'
import { readAttempts } from '../../src/sync/readAttempts.ts'
import { replay } from '../../src/sync/replay.ts'
import { dump } from '../support/dump.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { gapsAtLastRun, ms, runJob, tempFolder, tempStore } from '../support/kit.ts'
import { openNew } from '../support/preparedDatabase.ts'
import type { Store } from '../support/testStore.ts'

const HOUR = 3_600_000
const night = (n: number) => ms('2025-11-04T20:15:00Z') + n * 24 * HOUR
/** Each series lacks an hour per day of a window that is long settled. */
const series = (ids: readonly number[], more = '') =>
  `  - { indicators: [${ids}], window: { from: 2025-10-01, to: 2025-10-11 }, lookback: 2d, refresh: 1h${more} }\n`
/** Each series requests yesterday and today: a longer lookback would add the days before, which a job still requires. */
const others = (ids: readonly number[]) =>
  `  - { indicators: [${ids}], window: { last: 1d }, timeTrunc: hour, timeAgg: sum, lookback: 12h, refresh: 5m }\n`
const ids = (n: number, first = 1) => Array.from({ length: n }, (_, i) => first + i)
const lacking = () => startHourlyService({ has: (at) => at % 86_400 !== 0 })
/** The days of each repeat, the longest first: requests end in any order. */
const repeatDays = (store: Store) =>
  store
    .all(`select (to_at - from_at) / 86400 as days from _fetch where reason = 'absent' order by days desc`)
    .map((row) => (row as { days: number }).days)
const repeats = (store: Store) => store.get(`select count(*) from _fetch where reason = 'absent'`)

test('a run with few other periods repeats one day of absent values per day', async () => {
  const store = await tempStore()
  const service = await lacking()
  const yaml = `series:\n${series(ids(6))}${others(ids(3, 20))}`
  await service.run(store, yaml, night(0))
  const requested: number[][] = []
  for (const hours of [24, 24.1, 25, 30, 36, 47.9, 48.1]) {
    // Late values end the absence, but their request still counts.
    service.state.has = hours === 24 ? () => true : (at) => at % 86_400 !== 0
    const before = Number(repeats(store))
    const windows = await service.run(store, yaml, night(0) + hours * HOUR)
    requested.push([windows.length, Number(repeats(store)) - before])
  }
  expect(requested).toEqual([
    [4, 1],
    [3, 0],
    [3, 0],
    [3, 0],
    [3, 0],
    [4, 1],
    [3, 0],
  ])
  expect(repeatDays(store)).toEqual([1, 1])
})

test.each([
  [4, [1]],
  [9, [1]],
  [10, [2]],
  [39, [7]],
  [60, [10, 2]],
])(
  'a run with two days of %i other series requests %j days of absent values, and none on repetition',
  async (n, days) => {
    const store = await tempStore()
    const service = await lacking()
    const yaml = `pace: { perSecond: 50, concurrency: 8 }\nseries:\n${series(ids(6))}${others(ids(n, 20))}`
    await service.run(store, yaml, night(0))
    expect(await service.run(store, yaml, night(1))).toHaveLength(n + days.length)
    expect(repeatDays(store)).toEqual(days)
    // Nothing is due, so the share is empty.
    expect(await service.run(store, yaml, night(1) + 60_000)).toHaveLength(0)
  },
)

test('each job has its own share of repeats', async () => {
  const store = await tempStore()
  const service = await lacking()
  const jobs = ['one', 'two'].map((name, i) => `name: ${name}\nseries:\n${series(ids(3, 10 * i + 1))}`)
  for (const yaml of jobs) await service.run(store, yaml, night(0))
  for (const yaml of jobs) expect(await service.run(store, yaml, night(1))).toHaveLength(1)
  for (const yaml of jobs) expect(await service.run(store, yaml, night(1) + HOUR)).toHaveLength(0)
})

test('jobs of one name on two hosts have their own share of calls, and their own turn', async () => {
  const store = await tempStore()
  const service = await lacking()
  const jobs = [1, 11].map((first, i) => ({
    yaml: `name: nightly\nseries:\n${series(ids(3, first))}`,
    jobSource: { host: 'ab'[i]!, file: '/jobs/nightly.yaml' },
  }))
  const run = async (now: number) => {
    for (const { yaml, jobSource } of jobs) await runJob(store, service, yaml, { now, jobSource })
  }
  await run(night(0))
  await run(night(1))
  expect(repeats(store)).toBe(2)
  const { turn } = await readAttempts(store)
  const turns = store.all('select id from _job order by id').map((row) => turn(repeatTurn((row as { id: number }).id)))
  expect(turns).toEqual([7, 8])
  await run(night(1) + HOUR)
  expect(repeats(store)).toBe(2)
})

/** Refuses windows above a number of days, from a night on. */
const refusing =
  (days: number) =>
  (_path: string, { from, to }: { from: number; to: number }): number | undefined =>
    to - from > days * 86_400 + 3_600 ? 504 : undefined
const reasons = (store: Store) =>
  store.all(
    `select date(from_at, 'unixepoch', '6 hours') as "from", date(to_at, 'unixepoch', '6 hours') as "to", outcome
       from _fetch where reason = 'absent' order by id`,
  ) as { from: string; to: string; outcome: string }[]

test('a window size that shrinks during the run leaves one repeat', async () => {
  const lost = [3, 4, 9, 20, 29].map((day) => ms(`2025-09-${String(day).padStart(2, '0')}T08:00:00Z`) / 1000)
  const service = await startHourlyService({ has: (at) => !lost.includes(at) })
  const store = await tempStore()
  const yaml = `series:\n  - { indicators: [1], window: { from: 2025-09-01, to: today }, lookback: 12d, refresh: 1h }\n${others(ids(6, 20))}`
  await service.run(store, yaml, night(0))
  service.state.status = refusing(3)
  const windows = await service.run(store, yaml, night(1))
  expect(windows.length).toBeGreaterThan(7)
  expect(reasons(store)).toEqual([{ from: '2025-09-03', to: '2025-09-05', outcome: 'ok' }])
})

test('a window of absent values that is too large is left to a later run with smaller ones', async () => {
  const service = await lacking()
  const store = await tempStore()
  const yaml = `series:\n${series([1])}${others(ids(20, 20))}`
  await service.run(store, yaml, night(0))
  service.state.status = refusing(3)
  const calls: number[] = []
  for (let n = 1; n <= 5; n++) calls.push((await service.run(store, yaml, night(n))).length)
  // Four days of absent values fit into the share: as one window, or as two of the size that the service accepts.
  expect(calls).toEqual([21, 22, 21, 22, 22])
  expect(reasons(store).map(({ outcome }) => outcome)).toEqual(expect.arrayContaining(['too-large', 'ok']))
})

test.each([
  ['is of an unknown resolution', 1234],
  ['sums several resolutions', 223],
])('a reply for absent values that %s leaves its window to the next run, in parts', async (_why, tiempo) => {
  const service = await lacking()
  const store = await tempStore()
  const yaml = `series:\n${series([1])}${others(ids(20, 20))}`
  const gaps = async () => new Set((await gapsAtLastRun(store)).map(({ reason }) => reason))
  await service.run(store, yaml, night(0))
  service.state.tiempo = tiempo
  expect(await service.run(store, yaml, night(1))).toHaveLength(21)
  expect(reasons(store).map(({ outcome }) => outcome)).toEqual(['coarse'])
  expect(await gaps()).toContain('unverified')
  const replayed = await openNew(join(tempFolder(), 'empty.db'), { durability: 'none' })
  onTestFinished(() => replayed.close())
  await replay(store, replayed, { nowMs: () => night(1) })
  expect(dump(replayed)).toEqual(dump(store))
  await service.run(store, yaml, night(2))
  expect(await gaps()).toEqual(new Set(['absent']))
  // The parts are requested as unverified, and other days as absent.
  expect(reasons(store).map(({ outcome }) => outcome)).toEqual(['coarse', 'ok'])
})

test('skipped requests for unknown indicators give no share to repeats', async () => {
  const store = await tempStore()
  const service = await lacking()
  await service.run(store, `series:\n${series(ids(6))}`, night(0))
  const unknown = '  - { indicators: [99], window: { from: 2025-10-01, to: 2025-10-31 }, chunk: 1d }\n'
  service.state.status = (path) => (path.endsWith('/99') ? 404 : undefined)
  const yaml = `pace: { perSecond: 50, concurrency: 1 }\nseries:\n${series(ids(6))}${unknown}`
  expect(await service.run(store, yaml, night(1))).toHaveLength(2)
  expect(repeats(store)).toBe(1)
})
