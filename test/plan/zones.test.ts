import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readJob } from '../../src/job/read.ts'
import { planJob } from '../../src/plan/planJob.ts'
import { EMPTY_STATE } from '../../src/plan/plannerState.ts'
import { SERVICES } from '../../src/service/services.ts'
import { floorTo, formatLocal } from '../../src/util/time/zone.ts'
import { emulate, ms, runJob, tempStore } from '../support/kit.ts'
import { cases } from '../support/randomCases.ts'

const MADRID = 'Europe/Madrid'
const NOW = ms('2025-11-04T12:00:00Z')
const ZONES = [
  'Europe/Madrid',
  'Atlantic/Canary',
  'America/New_York',
  'Pacific/Chatham',
  'Australia/Lord_Howe',
] as const

/** Returns the requests of a job whose range is given as instants. */
const requestsOf = (zone: string, from: number, to: number, entry: string): string[] => {
  const window = `window: { from: "${formatLocal(zone, from)}", to: "${formatLocal(zone, to)}" }`
  const job = readJob(`name: t\ntimeZone: ${zone}\n${entry.replace('WINDOW', window)}`, 'job.yaml')
  const planning = { job, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW / 1000, options: {} }
  return [...planJob(planning)].map(
    ({ http, window, settledBefore }) => `${http.target} ${window?.from} ${window?.to} ${settledBefore}`,
  )
}

describe('the time zone of a job', () => {
  test('equal instants give equal requests, whatever their time zone', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: ms('2024-01-01T00:00:00Z') / 1000, max: NOW / 1000 }),
        fc.integer({ min: 1, max: 400 * 86_400 }),
        fc.constantFrom(...ZONES),
        fc.constantFrom('', ', chunk: 1d', ', chunk: 3w', ', chunk: 1mo', ', timeTrunc: month, timeAgg: sum'),
        (from, length, zone, more) => {
          const entries = [
            `series:\n  - { indicators: [600, 1293], WINDOW${more} }`,
            ...(length < 9 * 86_400 ? ['archives:\n  - { WINDOW }', 'archivesJson:\n  - { WINDOW }'] : []),
          ]
          for (const entry of entries)
            expect(requestsOf(zone, from, from + length, entry)).toEqual(requestsOf(MADRID, from, from + length, entry))
        },
      ),
      { numRuns: cases(20) },
    )
  })

  test("a date is a day in the job's time zone, requested as the days of the service that it touches", () => {
    const job = readJob(
      'name: t\ntimeZone: America/New_York\nseries:\n  - { indicators: [1], window: { from: 2025-03-01, to: 2025-03-02 } }',
      'job.yaml',
    )
    const [only] = [
      ...planJob({ job, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW / 1000, options: {} }),
    ]
    expect([only!.window!.from, only!.window!.to].map((at) => formatLocal(MADRID, at))).toEqual([
      '2025-03-01T00:00:00+01:00',
      '2025-03-03T00:00:00+01:00',
    ])
    expect(only!.timeZone).toBe(MADRID)
    expect(floorTo(MADRID, only!.settledBefore, 'day')).toBe(only!.settledBefore)
  })

  test('rows, windows and coverage around changes of resolution and month do not depend on the zone', async () => {
    const storedAfter = async (zone: string, from: string, to: string) => {
      const store = await tempStore()
      const emulator = await emulate({ now: NOW / 1000 })
      await runJob(
        store,
        emulator,
        `timeZone: ${zone}
series:
  - { indicators: [600], geoIds: [3], window: { from: "${from}", to: "${to}" } }
  - { indicators: [10207], timeTrunc: month, timeAgg: sum, window: { from: "${from}", to: "${to}" } }
  - { indicators: [10207], timeTrunc: day, timeAgg: average, window: { from: "${from}", to: "${to}" } }
archives:
  - { window: { from: "${from}", to: "${to}" } }`,
        { now: NOW },
      )
      return {
        rows: store.all('select series_id, at, at_local, step_s, value from observations order by 1, 2'),
        coverage: store.all('select series_id, geo_id, from_at, to_at, state from _coverage order by 1, 2, 3'),
        zones: store.all('select distinct time_zone from series'),
        editions: store.all('select * from archive_edition order by 1, 2, 3, 4'),
      }
    }
    const meant = await storedAfter(MADRID, '2025-09-29T12:00:00Z', '2025-10-02T12:00:00Z')
    expect(meant.rows.length).toBeGreaterThan(2 * 24 + 2 * 96)
    expect(meant.zones).toEqual([{ time_zone: MADRID }])
    expect(await storedAfter('Atlantic/Canary', '2025-09-29T13:00:00+01:00', '2025-10-02T13:00:00+01:00')).toEqual(
      meant,
    )
    expect(await storedAfter('America/New_York', '2025-09-29T08:00:00-04:00', '2025-10-02T08:00:00-04:00')).toEqual(
      meant,
    )
  })
})
