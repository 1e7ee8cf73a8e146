import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openWriter } from '../../src/db/lock.ts'
import { createPacer, type Pacer } from '../../src/fetch/pacer.ts'
import { readJob } from '../../src/job/read.ts'
import { SERVICES } from '../../src/service/services.ts'
import { sync } from '../../src/sync/sync.ts'
import { emulate, runJob, tempFolder } from '../support/kit.ts'
import { testClient } from './testClient.ts'

const REQUEST = { route: 'indicators', target: '/indicators', headers: { Accept: 'application/json' } } as const

/** Milliseconds by which clocks and timers are inexact, and a busy machine notices a start too late. */
const TOLERANCE_MS = 100
const MONTH = 'series: [{ indicators: [1739], window: { from: 2025-10-01, to: 2025-11-01 }, chunk: 1d }]'

/** Starts an embedded service that records its response times. */
async function timed() {
  const respondedAt: number[] = []
  const emulator = await emulate({ log: () => respondedAt.push(Date.now()) })
  return { emulator, respondedAt }
}

/** Records when a pacer lets calls start. On a busy machine they arrive much later. */
const recordStarts = (pacer: Pacer, starts: number[]): Pacer => ({
  ...pacer,
  async take(...call) {
    await pacer.take(...call)
    starts.push(performance.now())
  },
})

test('a pause lasts as long as requested, and at most a tenth longer', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const pacer = createPacer({ perSecond: 50 })
  await pacer.pause('any', 1_000)
  let isStarted = false
  void pacer.take('any', new AbortController().signal).then(() => {
    isStarted = true
  })
  await vi.advanceTimersByTimeAsync(999)
  expect(isStarted).toBe(false)
  await vi.advanceTimersByTimeAsync(102)
  expect(isStarted).toBe(true)
})

/** Returns the maximum number of calls within any window of a length. */
const mostWithin = (times: readonly number[], ms: number): number =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + ms).length))

test.each([
  ['an idle database', 0],
  ['a database that responds after a second', 1_000],
])('never more calls per second start than the pace allows, with %s', async (_database, delayMs) => {
  const { emulator, respondedAt } = await timed()
  let calls = 0
  const starts: number[] = []
  const paced = createPacer({ perSecond: 4 }, () => sleep(calls++ === 2 ? delayMs : 0))
  const pacer = recordStarts(paced, starts)
  const client = testClient(emulator.url, { key: emulator.key, pacer, concurrency: 8 })
  await Promise.all(Array.from({ length: 10 }, () => client.get(REQUEST)))
  expect(respondedAt).toHaveLength(10)
  expect(starts).toHaveLength(10)
  expect(mostWithin(starts, 1000 - TOLERANCE_MS)).toBeLessThanOrEqual(4)
})

test('calls wait for a pause and then keep the pace', async () => {
  const { emulator } = await timed()
  const starts: number[] = []
  const pacer = recordStarts(createPacer({ perSecond: 2 }), starts)
  const client = testClient(emulator.url, { key: emulator.key, pacer, concurrency: 4 })
  await client.get(REQUEST)
  const began = performance.now()
  await pacer.pause('any', 500)
  await Promise.all(Array.from({ length: 4 }, () => client.get(REQUEST)))
  expect(starts).toHaveLength(5)
  expect(starts[1]! - began).toBeGreaterThanOrEqual(500 - TOLERANCE_MS)
  expect(mostWithin(starts, 1000 - TOLERANCE_MS)).toBeLessThanOrEqual(2)
})

const settings = (store: Awaited<ReturnType<typeof openWriter>>, { url, key }: { url: string; key: string }) => ({
  store,
  service: SERVICES.generic,
  baseUrl: url,
  key,
  nowMs: Date.now,
  signal: new AbortController().signal,
})

test('several runs together never exceed the calls per hour', async () => {
  const { emulator, respondedAt } = await timed()
  const file = `${tempFolder()}/pace.db`
  for (const _run of [1, 2, 3]) {
    const store = await openWriter(file, 'test')
    const pace = { callsPerHour: 5 }
    const { earlyEnd } = await runJob(store as never, emulator, `pace: ${JSON.stringify(pace)}\n${MONTH}`)
    expect(earlyEnd).toMatchObject({ code: 'budget' })
    await store.close()
  }
  expect(respondedAt).toHaveLength(5)
})

test('a run waits for calls of the day before that are about to be free', async () => {
  const { emulator, respondedAt } = await timed()
  const store = await openWriter(`${tempFolder()}/pace.db`, 'test')
  onTestFinished(() => store.close())
  // The clock of the run starts with its first reading, however long that takes on a busy machine.
  const start = Date.now()
  let firstReading: number | undefined
  const nowMs = (): number => {
    firstReading ??= Date.now()
    return start + Date.now() - firstReading
  }
  const yesterday = start - 86_400_000
  await store.write((tx) =>
    tx
      .insertInto('_budget')
      .values(
        [2_000, 2_100, 3_600_000].map((later) => ({ host: new URL(emulator.url).host, called_at: yesterday + later })),
      )
      .execute(),
  )
  const pauses: string[] = []
  const { earlyEnd } = await sync(
    {
      ...settings(store, emulator),
      nowMs,
      onPause: (_ms, reason) => void pauses.push(reason),
    },
    { job: readJob(`name: paced\npace: { perSecond: 50, callsPerDay: 3 }\n${MONTH}`, 'paced.yaml'), command: 'sync' },
  )
  expect(earlyEnd).toMatchObject({ code: 'budget' })
  expect(respondedAt).toHaveLength(2)
  expect(pauses[0]).toMatch(/The budget of 3 calls a day is spent until /)
})

test.each([
  [2, 1],
  [0.8, 2],
])('consecutive runs share the pace: %s calls per second, %s days per window', async (perSecond, days) => {
  const { emulator, respondedAt } = await timed()
  const file = `${tempFolder()}/pace.db`
  for (const from of [1, 3]) {
    const store = await openWriter(file, 'test')
    const job = readJob(
      `name: paced\npace: { perSecond: ${perSecond} }\nseries:\n  - { indicators: [600], geoIds: [3], chunk: ${days}d, window: { from: 2025-10-0${from}, to: 2025-10-0${from + 2} } }`,
      'paced.yaml',
    )
    const { outcome } = await sync(settings(store, emulator), { job, command: 'sync' })
    expect(outcome).toBe('done')
    await store.close()
  }
  const atOnce = Math.max(1, Math.floor(perSecond))
  expect(respondedAt).toHaveLength(2 * atOnce)
  for (let i = atOnce; i < respondedAt.length; i++)
    expect(respondedAt[i]! - respondedAt[i - atOnce]!).toBeGreaterThanOrEqual((1000 * atOnce) / perSecond - 5)
})
