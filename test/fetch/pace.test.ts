import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openWriter } from '../../src/db/lock.ts'
import { createFetcher } from '../../src/fetch/fetch.ts'
import { createGate } from '../../src/fetch/pace.ts'
import { readJob } from '../../src/job/read.ts'
import { SERVICES } from '../../src/services/services.ts'
import { sync } from '../../src/sync.ts'
import { emulate, tempFolder } from '../kit.ts'

const REQUEST = { route: 'indicators', target: '/indicators', headers: { Accept: 'application/json' } } as const

/** Also where the clock is turned by hand. */
const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** An embedded service, and when it answered, by the clock of the computer. */
async function timed() {
  const answers: number[] = []
  const emulator = await emulate({ log: () => answers.push(Date.now()) })
  return { emulator, answers }
}

test('calls that are delayed after they began are not sent all at once', async () => {
  const { emulator, answers } = await timed()
  let held = Promise.resolve()
  const fetcher = createFetcher({
    service: SERVICES.generic,
    baseUrl: emulator.url,
    key: emulator.key,
    version: 'test',
    signal: new AbortController().signal,
    pace: { perSecond: 4, concurrency: 8 },
    beforeCall: () => held,
  })
  onTestFinished(() => fetcher.close())
  const fetchEight = () => Promise.all(Array.from({ length: 8 }, () => fetcher.fetch(REQUEST)))
  // After as many good answers, eight may be under way at once.
  await fetchEight()
  answers.length = 0
  held = sleep(2_500)
  await fetchEight()
  expect(answers).toHaveLength(8)
  // The limit is four a second; a machine that is slow may bring one and hold back another for a while.
  for (let i = 4; i < 8; i++) expect(answers[i]! - answers[i - 4]!).toBeGreaterThan(500)
})

test('whatever delays a call, no more are sent in a second than the pace allows', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const gate = createGate({ perSecond: 5, concurrency: 30 }, new AbortController().signal)
  for (let i = 0; i < 30; i++) gate.faster()
  const sent: number[] = []
  const calls = Array.from({ length: 60 }, (_, i) =>
    gate.pass(async (onSend) => {
      await after((i * 7919) % 1700)
      // One in six fails before it is sent, as a connection does: it counts when it fails.
      if (i % 6 !== 0) onSend()
      sent.push(Date.now())
      await after((i * 104_729) % 900)
    }),
  )
  await vi.advanceTimersByTimeAsync(120_000)
  await Promise.all(calls)
  gate.close()
  expect(sent).toHaveLength(60)
  for (let i = 5; i < sent.length; i++) expect(sent[i]! - sent[i - 5]!).toBeGreaterThanOrEqual(1000)
})

test.each([
  [2, 1],
  [0.8, 2],
])(
  'runs one after the other keep the pace together: %s calls a second, %s days of a window',
  async (perSecond, days) => {
    const { emulator, answers } = await timed()
    const file = `${tempFolder()}/pace.db`
    for (const from of [1, 3]) {
      const store = await openWriter(file, 'test')
      const job = readJob(
        `name: paced\npace: { perSecond: ${perSecond} }\nseries:\n  - { indicators: [600], geoIds: [3], chunk: ${days}d, window: { from: 2025-10-0${from}, to: 2025-10-0${from + 2} } }`,
        'paced.yaml',
      )
      const { outcome } = await sync(
        {
          store,
          service: SERVICES.generic,
          baseUrl: emulator.url,
          key: emulator.key,
          version: 'test',
          now: Date.now,
          signal: new AbortController().signal,
        },
        job,
      )
      expect(outcome).toBe('done')
      await store.close()
    }
    const atOnce = Math.max(1, Math.floor(perSecond))
    expect(answers).toHaveLength(2 * atOnce)
    for (let i = atOnce; i < answers.length; i++)
      expect(answers[i]! - answers[i - atOnce]!).toBeGreaterThanOrEqual((1000 * atOnce) / perSecond - 5)
  },
)
