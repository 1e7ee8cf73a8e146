import { expect, test } from 'vitest'
import type { PlannedRequest } from '../../src/job/plannedRequest.ts'
import { judge } from '../../src/plan/resolution.ts'
import { checkService } from '../../src/services/declared.ts'
import type { Rows } from '../../src/tables/rows.ts'

/** A service that sums under number 9 in steps of so many seconds; null: one that never sums. */
const service = (sumsBy: number | null) =>
  checkService(
    {
      ...{ name: 'sums', vendor: 'sums-api', baseUrl: null, timeZone: 'Europe/Lisbon' },
      steps: { byNumber: { 9: sumsBy ?? 3600 }, byWord: {}, coarse: sumsBy === null ? null : 9, native: [] },
    },
    'test',
  )

test.each([
  ['sums by the hour: half an hour is finer', 3600, 9, 1800, 'native'],
  ['sums by the half hour', 1800, 9, 1800, 'sums'],
  ['sums by the half hour under another number', 1800, 10, 1800, 'unsure'],
  ['sums by the half hour: a quarter is finer', 1800, 9, 900, 'native'],
  ['no sums', null, 9, 3600, 'native'],
] as const)('%s', (_name, sumsBy, resolutionId, stepS, verdict) => {
  const window = { from: 0, to: 20 * 86_400 }
  const series = { timeTrunc: null, indicatorId: 1 }
  const planned = { window, series, timeZone: 'Europe/Lisbon', service: service(sumsBy) } as unknown as PlannedRequest
  const rows = { resolutionId, stepS, observations: { at: [0], guessed: false } } as unknown as Rows
  expect(judge(planned, rows, { steps: [], bordered: false }, [])).toBe(verdict)
})
