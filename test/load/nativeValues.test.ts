import { expect, test } from 'vitest'
import type { Rows } from '../../src/db/tables/rows.ts'
import type { PlannedRequest } from '../../src/job/plannedRequest.ts'
import { isNative } from '../../src/load/nativeValues.ts'
import type { Service } from '../../src/service/service.ts'
import { SERVICES } from '../../src/service/services.ts'

/** A service whose sums have the id 9 and a step in seconds; null: never sums. */
const service = (sumsBy: number | null): Service => ({
  ...SERVICES.generic,
  changes: [],
  steps: { byNumber: { 9: sumsBy ?? 3600 }, byWord: {}, coarse: sumsBy === null ? null : 9, native: [] },
})

test.each([
  ['hourly sums, half-hours are native', 3600, 9, 1800, true],
  ['half-hourly sums', 1800, 9, 1800, false],
  ['half-hourly sums with another id', 1800, 10, 1800, false],
  ['half-hourly sums, quarters are native', 1800, 9, 900, true],
  ['no sums', null, 9, 3600, true],
] as const)('a reply is native or coarse by the declared sums: %s', (_name, sumsBy, resolutionId, stepS, verdict) => {
  const window = { from: 0, to: 20 * 86_400 }
  const series = { timeTrunc: null, indicatorId: 1 }
  const planned = { window, series, timeZone: 'Europe/Lisbon', service: service(sumsBy) } as unknown as PlannedRequest
  const rows = {
    resolutionId,
    stepS,
    observations: { geoIds: [3, 3, 3], at: [0, stepS, 2 * stepS], guessed: false },
  } as unknown as Rows
  expect(isNative(planned, rows, { around: { steps: [], isBordered: false }, dayIds: [] })).toBe(verdict)
})

const every = (step: number, ...stray: readonly number[]) =>
  [...Array.from({ length: 24 }, (_, i) => i * step), ...stray].sort((a, b) => a - b)
test.each([
  ['hours with a stray row', [every(3600, 1800)], false],
  ['hours around a clock change by half an hour', [[...every(3600), ...every(3600).map((at) => at + 84_600)]], false],
  ['quarters', [every(900)], true],
  ['quarters with holes', [[0, 900, 1800, 9000, 9900, 10_800]], true],
  ['quarters of one geo and hours of another', [every(900), every(900), every(3600)], false],
  ['quarters of one geo and one value of another', [every(900), [0]], false],
] as const)('a reply with the id of sums is native or coarse: %s', (_name, geos, verdict) => {
  const window = { from: 0, to: 20 * 86_400 }
  const series = { timeTrunc: null, indicatorId: 1 }
  const planned = { window, series, timeZone: 'Europe/Lisbon', service: service(3600) } as unknown as PlannedRequest
  const observations = { geoIds: geos.flatMap((at, geo) => at.map(() => geo)), at: geos.flat(), guessed: false }
  const rows = { resolutionId: 9, stepS: 900, observations } as unknown as Rows
  expect(isNative(planned, rows, { around: { steps: [], isBordered: false }, dayIds: [] })).toBe(verdict)
})
