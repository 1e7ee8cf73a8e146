import { expect, test } from 'vitest'
import { readJob } from '../../src/job/read.ts'
import type { Absence } from '../../src/judge/stored.ts'
import { planJob } from '../../src/plan/planJob.ts'
import { EMPTY_STATE, type PlannerState, UNKNOWN_SERIES } from '../../src/plan/plannerState.ts'
import { SERVICES } from '../../src/service/services.ts'
import { formatUtc } from '../../src/util/time/instant.ts'

const DAY = 86_400
const FIRST = Date.parse('2025-12-01T20:00:00Z') / 1000
/** Midnight of 1 October in Madrid. */
const OCTOBER = Date.parse('2025-09-30T22:00:00Z') / 1000
const JOB = readJob(
  'name: job\nseries: [{ indicators: [5], geoIds: [3], window: { from: 2025-10-01, to: 2025-11-01 }, refresh: 1h }]',
  'job.yaml',
)

/** Plans the job when everything is stored but some absences, and lists the days of its requests. */
function plan(absences: readonly Absence[], now: number): string[] {
  const plannerState: PlannerState = {
    ...EMPTY_STATE,
    series: () => ({
      ...UNKNOWN_SERIES,
      coverage: [
        {
          from: OCTOBER,
          to: OCTOBER + 32 * DAY,
          geo: 3,
          state: 'values',
          fetchedAt: FIRST,
          settledFor: 9 * DAY,
          sinceAt: null,
        },
      ],
      absences,
    }),
  }
  const requests = [...planJob({ job: JOB, service: SERVICES.generic, plannerState, now, options: {} })]
  return requests.map(({ window }) => formatUtc(window!.from + DAY / 2).slice(5, 10))
}

/** The nights of half a year on which absences are requested that never end. */
function nightsOf(absences: readonly Omit<Absence, 'sinceAt' | 'checkedAt' | 'geo'>[]): number[] {
  let checkedAt = FIRST
  return Array.from({ length: 182 }, (_, i) => i + 1).filter((night) => {
    const now = FIRST + night * DAY
    const isRequested =
      plan(
        absences.map((one) => ({ ...one, geo: 3, sinceAt: FIRST, checkedAt })),
        now,
      ).length > 0
    if (isRequested) checkedAt = now
    return isRequested
  })
}

const lost = (step: number, ...places: readonly number[]) =>
  places.map((place) => ({
    from: OCTOBER + place * step,
    to: OCTOBER + (place + 1) * step,
    step,
    reason: 'absent' as const,
    periods: null,
  }))

const ALL_NIGHTS = [1, 3, 7, 15, 31, 63, 127]

test.each([
  ['one of 288 periods of a day', lost(300, 7), [1, 7]],
  ['2 % of the periods of a day', lost(300, 7, 20, 100, 101, 280), [1, 7]],
  ['more than 2 % of the periods of a day', lost(300, 7, 20, 100, 101, 150, 280), ALL_NIGHTS],
  ['2 % of the periods of two days each', lost(300, 7, 20, 100, 101, 280, 300, 310, 320, 330, 340), [1, 7]],
  ['two of 144 periods of a day', lost(600, 7, 20), [1, 7]],
  ['one of 96 periods of a day', lost(900, 7), ALL_NIGHTS],
  ['a day', [{ from: OCTOBER, to: OCTOBER + DAY, step: 300, reason: 'absent' as const, periods: null }], ALL_NIGHTS],
  [
    'a day of unknown step',
    [{ from: OCTOBER, to: OCTOBER + DAY, step: null, reason: 'absent' as const, periods: null }],
    ALL_NIGHTS,
  ],
])('a series that lacks %s is requested again only as often as that deserves', (_what, absences, nights) => {
  expect(nightsOf(absences).slice(0, nights.length + 1)).toEqual(nights)
})

test('of several absences, the one with the fewest requests comes first, then the one due longest', () => {
  const absence = (day: number, sinceDays: number, checkedDays: number): Absence => ({
    ...lost(DAY, day)[0]!,
    geo: 3,
    sinceAt: FIRST - sinceDays * DAY,
    checkedAt: FIRST - checkedDays * DAY,
  })
  const often = absence(2, 61, 31)
  const never = absence(9, 3, 3)
  const longDue = absence(20, 5, 5)
  expect(plan([often], FIRST)).toEqual(['10-03'])
  expect(plan([often, never], FIRST)).toEqual(['10-10'])
  expect(plan([often, never, longDue], FIRST)).toEqual(['10-21'])
})

test.each(['{}', '{ callsPerDay: 1000 }'])('all that fits into the share is planned, with the pace %s', (pace) => {
  const job = readJob(
    `name: job\npace: ${pace}\nseries:\n  - { indicators: [5], geoIds: [3], window: { from: 2025-10-01, to: 2025-11-01 }, chunk: 1d }\n  - { indicators: [6], window: { from: 2025-01-01, to: 2025-11-01 } }`,
    'job.yaml',
  )
  const row = { geo: 3, state: 'values', fetchedAt: FIRST, settledFor: 9 * DAY, sinceAt: null } as const
  const lostHours = lost(3600, 7, 7 + 5 * 24, 7 + 9 * 24).map((one) => ({
    ...one,
    geo: 3,
    sinceAt: FIRST,
    checkedAt: FIRST,
  }))
  const plannerState: PlannerState = {
    ...EMPTY_STATE,
    series: (key) =>
      key.includes('6')
        ? UNKNOWN_SERIES
        : { ...UNKNOWN_SERIES, coverage: [{ ...row, from: OCTOBER, to: OCTOBER + 32 * DAY }], absences: lostHours },
  }
  const planned = planJob({ job, service: SERVICES.generic, plannerState, now: FIRST + 2 * DAY, options: {} })
  expect([...planned].filter(({ reason }) => reason === 'absent')).toHaveLength(3)
})
