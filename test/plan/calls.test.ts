import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ALL_GEOS } from '../../src/db/tables/codes.ts'
import type { PlannedRequest } from '../../src/job/plannedRequest.ts'
import { readJob } from '../../src/job/read.ts'
import { planJob } from '../../src/plan/planJob.ts'
import { EMPTY_STATE, type PlannerState } from '../../src/plan/plannerState.ts'
import { createRegister } from '../../src/plan/requestRegister.ts'
import { SERVICES } from '../../src/service/services.ts'
import { type Interval, intersect, merge, subtract } from '../../src/util/time/interval.ts'
import { addUnits, floorTo } from '../../src/util/time/zone.ts'
import { cases } from '../support/randomCases.ts'

const ZONE = SERVICES.generic.timeZone
const NOW = Date.parse('2025-12-30T12:00:00Z') / 1000
const DAY = 86_400
const FIRST = Date.parse('2025-10-10T00:00:00+02:00') / 1000
const GEOS = [1, 2, 3]
const dayAt = (n: number): number => addUnits(ZONE, FIRST, 'day', n)
const dateAt = (n: number): string => new Date((dayAt(n) + DAY / 2) * 1000).toISOString().slice(0, 10)

interface Days {
  readonly from: number
  readonly to: number
}
const days = fc.tuple(fc.nat(20), fc.integer({ min: 1, max: 12 })).map(([from, n]): Days => ({ from, to: from + n }))
const interval = ({ from, to }: Days): Interval => ({ from: dayAt(from), to: dayAt(to) })
const intervals = fc.array(fc.record({ geoId: fc.constantFrom(ALL_GEOS, ...GEOS), days }), { maxLength: 4 })
const entry = fc.record({
  days,
  geos: fc.oneof(fc.constant<number[]>([]), fc.subarray(GEOS, { minLength: 1 })),
  /** Whether freshly fetched data is fresh for this job. */
  patient: fc.boolean(),
  chunk: fc.constantFrom('', ', chunk: 1d', ', chunk: 3d'),
})
const call = fc.record({
  jobs: fc.array(fc.array(entry, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
  newestFirst: fc.boolean(),
  restate: fc.boolean(),
  /** Freshly fetched and long absent data, of a geo or of all. */
  stored: intervals,
  absent: intervals,
})

/** Returns the requested intervals of a geo, alone or with all. */
const askedOf = (requests: readonly PlannedRequest[], geoId: number): Interval[] =>
  requests.flatMap(({ geoIds, window }) => (geoIds.includes(geoId) || geoIds.includes(ALL_GEOS) ? [window!] : []))

test('the jobs of one command request all missing data, and nothing twice, for any entries and order', () =>
  fc.assert(
    fc.property(call, ({ jobs, newestFirst, restate, stored, absent }) => {
      const plannerState: PlannerState = {
        ...EMPTY_STATE,
        series: (key) => ({
          ...EMPTY_STATE.series(key),
          coverage: stored.map((one) => ({
            ...interval(one.days),
            geo: one.geoId,
            state: 'values',
            sinceAt: null,
            fetchedAt: NOW - 600,
            settledFor: -DAY,
          })),
          absences: absent.map((one) => ({
            ...interval(one.days),
            geo: one.geoId,
            step: 3600,
            reason: 'absent',
            periods: null,
            sinceAt: NOW - 20 * DAY,
            checkedAt: NOW - 15 * DAY,
          })),
        }),
      }
      const requested = createRegister()
      const all = jobs.map((entries, i) =>
        readJob(
          `name: job${i}\nseries:\n${entries
            .map(
              (one) =>
                `  - { indicators: [5], geoIds: [${one.geos}], window: { from: ${dateAt(one.days.from)}, to: ${dateAt(one.days.to)} }${one.chunk}, lookback: 200d, refresh: ${one.patient ? '1h' : '5m'} }`,
            )
            .join('\n')
            .replaceAll(' geoIds: [],', '')}\n`,
          'job.yaml',
        ),
      )
      const options = { newestFirst, restate }
      const requests = all.flatMap((job) => {
        const plan = planJob({ job, service: SERVICES.generic, plannerState, now: NOW, options, requested })
        const own = [...plan]
        expect([plan.total, [...plan]]).toEqual([own.length, own])
        const periods = Map.groupBy(own, ({ reason }) => reason === 'absent')
        const count = (planned: readonly PlannedRequest[] = []) => planned.reduce((sum, one) => sum + one.periods!, 0)
        const [first] = periods.get(true) ?? []
        const isSmall = first && first.window!.to - first.window!.from <= 25 * 3_600
        expect(count(periods.get(true))).toBeLessThanOrEqual(
          Math.max(isSmall ? first.periods! : 0, Math.floor(count(periods.get(false)) / 10)),
        )
        return own.map((planned) => ({ ...planned, job }))
      })
      for (const { window } of requests)
        expect([floorTo(ZONE, window!.from, 'day'), floorTo(ZONE, window!.to, 'day')]).toEqual([
          window!.from,
          window!.to,
        ])
      // A request for all geos may repeat what an earlier job requested for some.
      for (const [i, { geoIds, window, job }] of requests.entries()) {
        const isForAll = geoIds.includes(ALL_GEOS)
        const earlier = requests.slice(0, i).filter((one) => {
          const isSame = [ALL_GEOS, ...geoIds].some((geoId) => one.geoIds.includes(geoId))
          return isSame || (isForAll && one.job === job)
        })
        expect(intersect([window!], merge(earlier.map((one) => one.window!)))).toEqual([])
      }
      for (const geoId of [ALL_GEOS, ...GEOS]) {
        const windows = askedOf(requests, geoId)
        const good = stored
          .filter((one) => one.geoId === ALL_GEOS || one.geoId === geoId)
          .map((one) => interval(one.days))
        const open = jobs
          .flat()
          .filter(({ geos }) => (geoId === ALL_GEOS ? geos.length === 0 : geos.includes(geoId)))
          .flatMap((one) => subtract([interval(one.days)], restate || !one.patient ? [] : good))
        expect(subtract(open, merge(windows))).toEqual([])
      }
    }),
    { numRuns: cases(40) },
  ))

test('absent months of a monthly series are settled at the same time as other months', () => {
  const monthAt = (n: number): number => Date.parse(`2025-${n}-01T00:00:00+0${n > 10 ? 1 : 2}:00`) / 1000
  const stored = { from: monthAt(10), to: monthAt(12), geo: 3 }
  const plannerState: PlannerState = {
    ...EMPTY_STATE,
    series: (key) => ({
      ...EMPTY_STATE.series(key),
      coverage: [{ ...stored, state: 'values', fetchedAt: NOW - 600, settledFor: 99 * DAY, sinceAt: null }],
      period: { at: monthAt(10), step: 31 * DAY },
      absences: [
        { ...stored, step: 31 * DAY, reason: 'absent', periods: 1, sinceAt: NOW - 20 * DAY, checkedAt: NOW - 15 * DAY },
      ],
    }),
  }
  const job = readJob(
    'name: job\nseries:\n  - { indicators: [5], geoIds: [3], lookback: 5d, window: { from: 2025-10-01, to: 2025-12-30 } }\n',
    'job.yaml',
  )
  const all = [...planJob({ job, service: SERVICES.generic, plannerState, now: NOW, options: {} })]
  const absent = all.filter(({ reason }) => reason === 'absent')
  expect([absent.length, all.length - absent.length]).toEqual([1, 1])
  expect(new Set(all.map((one) => one.settledBefore))).toEqual(new Set([monthAt(12)]))
})
