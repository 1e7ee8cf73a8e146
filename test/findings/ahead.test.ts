import { describe, expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { ms, tempStore } from '../support/kit.ts'

const HOUR = 3600
const DAY = 24 * HOUR
const at = (text: string): number => ms(text) / 1000
/** The end of a day in Madrid in winter, some days after that of an instant. */
const endOfDay = (now: number, days = 0): number => Math.floor((now + HOUR) / DAY + 1 + days) * DAY - HOUR

const FIRST_NIGHT = at('2025-11-03T20:15:00Z')

/** Syncs a job at some instants, and returns what is found ahead after each. `end`: up to when the source has values then. */
async function runNights(times: readonly number[], end: (now: number, night: number) => number, window = 'to: +30d') {
  const store = await tempStore()
  const service = await startHourlyService()
  const yaml = `series: [{ indicators: [5], window: { from: 2025-11-01, ${window} }, lookback: 2d }]`
  const found = []
  for (const [night, now] of times.entries()) {
    service.state.has = (instant) => instant < end(now, night)
    await service.run(store, yaml, now * 1000)
    found.push((await findFindings(store, now)).filter(({ kind }) => kind === 'ahead'))
  }
  return { found, store, service, yaml }
}

const nights = (count: number, everyS = DAY): number[] =>
  Array.from({ length: count }, (_, night) => FIRST_NIGHT + night * everyS)

describe('no finding', () => {
  test('day-ahead prices are not a finding, whether a run sees the publication of the day or not', async () => {
    const mornings = nights(6).map((now) => now - 15 * HOUR)
    const evenings = nights(3).map((now) => now + 6 * DAY)
    const isPublished = (now: number): boolean => (now + HOUR) % DAY > 13 * HOUR
    const { found } = await runNights([...mornings, ...evenings], (now) => endOfDay(now, isPublished(now) ? 1 : 0))
    expect(found.flat()).toEqual([])
  })

  test('values that a longer window shows first are not a finding', async () => {
    const store = await tempStore()
    const service = await startHourlyService()
    const job = (to: string) => `series: [{ indicators: [5], window: { from: 2025-11-01, to: ${to} }, lookback: 2d }]`
    for (const [night, now] of nights(10).entries()) {
      service.state.has = (instant) => instant < endOfDay(now, 7)
      await service.run(store, job(night < 8 ? '+1d' : '+30d'), now * 1000)
      expect((await findFindings(store, now)).filter(({ kind }) => kind === 'ahead')).toEqual([])
    }
  })

  test('a forecast of a week is not a finding, daily or in bulk on one weekday', async () => {
    const rolling = await runNights(nights(10), (now) => endOfDay(now, 7))
    expect(rolling.found.flat()).toEqual([])
    // Each Thursday until the Sunday after next, before a holiday on Tuesday already.
    const inBulk = (now: number): number => {
      const week = Math.floor(
        (now - at('2025-11-05T23:00Z') + (now > at('2025-12-01T00:00Z') ? 2 * DAY : 0)) / (7 * DAY),
      )
      return at('2025-11-16T23:00Z') + week * 7 * DAY
    }
    expect((await runNights(nights(31), inBulk)).found.flat()).toEqual([])
  })

  test('the next year of an annual programme is not a finding', async () => {
    const { found } = await runNights(
      nights(12, 7 * DAY),
      (now) => at(now < at('2025-12-10T00:00Z') ? '2025-12-31T23:00Z' : '2026-12-31T23:00Z'),
      'to: 2027-01-01',
    )
    expect(found.flat()).toEqual([])
  })

  test('a realtime series is not a finding at any hour', async () => {
    const times = nights(4).flatMap((now) => [now - 19 * HOUR, now - 5 * HOUR, now, now + 2.5 * HOUR])
    const { found } = await runNights(times, (now) => now - HOUR / 2)
    expect(found.flat()).toEqual([])
  })
})

test('a realtime series with values of tomorrow is a finding until it has none', async () => {
  const realtime = (now: number): number => now - HOUR / 2
  const { found, store, service, yaml } = await runNights(nights(6), (now, night) =>
    night === 5 ? endOfDay(now, 1) : realtime(now),
  )
  expect(found.slice(0, 5).flat()).toEqual([])
  expect(found[5]).toEqual([
    {
      kind: 'ahead',
      subject: 'indicator 5',
      since_at: '2025-11-08T20:15:00Z',
      message:
        'indicator 5, geo 3: has values up to 2025-11-10T00:00:00+01:00, but earlier responses had no future values. Its source may not know them yet: compare them with it. Reported for 31 days, or until other values replace or follow them',
      command: expect.stringMatching(/^indicator-sync restate .* --only 5 --from 2025-11-09 --to 2025-11-10 /),
      cause: null,
      geo_ids: [3],
      targets: [],
    },
  ])
  const now = FIRST_NIGHT + 5 * DAY + HOUR
  service.state.has = (instant) => instant < realtime(now)
  await service.run(store, yaml, now * 1000, { restate: true })
  expect((await findFindings(store, now)).filter(({ kind }) => kind === 'ahead')).toEqual([])
})

test('values that stay the last ones of a series are a finding for 31 days, also when their time has passed', async () => {
  const { found } = await runNights(nights(40), (now, night) =>
    night < 5 ? now - HOUR / 2 : endOfDay(FIRST_NIGHT + 5 * DAY, 3),
  )
  expect(found.map(({ length }) => length)).toEqual([...Array(5).fill(0), ...Array(31).fill(1), ...Array(4).fill(0)])
})

test('values of a day ahead are not a finding any more when those of the next day follow them', async () => {
  const { found } = await runNights(nights(10), (now, night) =>
    night < 5 ? now - HOUR / 2 : Math.max(now - HOUR / 2, endOfDay(FIRST_NIGHT + 5 * DAY, 1)),
  )
  expect(found.map(({ length }) => length)).toEqual([0, 0, 0, 0, 0, 1, 1, 0, 0, 0])
})

test('day-ahead prices with values of a week are a finding, which ends after a month of such values', async () => {
  const { found } = await runNights(nights(40), (now, night) => endOfDay(now, night < 5 ? 1 : 7))
  expect(found.map(({ length }) => length)).toEqual([...Array(5).fill(0), ...Array(31).fill(1), ...Array(4).fill(0)])
  expect(found[5]![0]!.message).toContain(
    ': has values up to 2025-11-16T00:00:00+01:00, but earlier responses reached at most 26 h ahead.',
  )
})

test('a finding names only the geos that are ahead', async () => {
  const store = await tempStore()
  const service = await startHourlyService({ geos: [3, 4] })
  for (const [night, now] of nights(6).entries()) {
    service.state.has = (instant, geo) => instant < (night === 5 && geo === 4 ? endOfDay(now, 1) : now - HOUR)
    await service.run(
      store,
      'series: [{ indicators: [5], window: { from: 2025-11-01, to: +5d }, lookback: 2d }]',
      now * 1000,
    )
  }
  const findings = await findFindings(store, FIRST_NIGHT + 5 * DAY)
  expect(findings).toMatchObject([{ kind: 'ahead', message: expect.stringContaining('indicator 5, geo 4: ') }])
})
