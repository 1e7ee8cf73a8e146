import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { borderUnit } from '../../src/judge/finality.ts'
import { cut, widen } from '../../src/plan/windows.ts'
import type { Size } from '../../src/service/windowSizes.ts'
import { addUnits, floorTo, formatLocal, startOfDate, transitions } from '../../src/util/time/zone.ts'

const MADRID = 'Europe/Madrid'
const day = (date: string) => startOfDate(MADRID, date)!
const sizes = fc.record({
  unit: fc.constantFrom('day', 'month', 'year'),
  count: fc.integer({ min: 1, max: 9 }),
}) as fc.Arbitrary<Size>

describe('windows', () => {
  test.each([
    ['2025-01-01', '2025-04-01', { unit: 'month', count: 1 }, ['2025-01-01', '2025-02-01', '2025-03-01']],
    ['2025-01-15', '2025-03-10', { unit: 'month', count: 1 }, ['2025-01-15', '2025-02-01', '2025-03-01']],
    ['2025-03-29', '2025-04-01', { unit: 'day', count: 1 }, ['2025-03-29', '2025-03-30', '2025-03-31']],
    ['2024-02-01', '2025-02-01', { unit: 'month', count: 6 }, ['2024-02-01', '2024-08-01']],
    ['2025-01-01', '2025-01-01', { unit: 'day', count: 1 }, []],
  ] as const)('the range %s to %s is cut into windows of %o', (from, to, size, starts) => {
    const windows = [...cut(MADRID, { from: day(from), to: day(to) }, size)]
    expect(windows.map((window) => formatLocal(MADRID, window.from).slice(0, 10))).toEqual(starts)
  })

  test('each instant from 1990 to 2040 is in exactly one window, across clock changes', () => {
    const changes = transitions(MADRID).filter(({ at }) => at > day('1990-01-01') && at < day('2040-01-01'))
    expect(changes).toHaveLength(100)
    for (const { at } of changes)
      fc.assert(
        fc.property(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 40 }), sizes, (before, after, size) => {
          const here = floorTo(MADRID, at, 'day')
          const whole = { from: addUnits(MADRID, here, 'day', -before), to: addUnits(MADRID, here, 'day', after) }
          let next = whole.from
          for (const { from, to } of cut(MADRID, whole, size)) {
            expect(from).toBe(next)
            expect(to).toBeGreaterThan(from)
            expect(floorTo(MADRID, from, 'day')).toBe(from)
            next = to
          }
          expect(next).toBe(whole.to)
        }),
        { numRuns: 4 },
      )
  })

  test('no window spans a known change of resolution', () => {
    const change = day('2025-10-01')
    const windows = [
      ...cut(MADRID, { from: day('2025-07-01'), to: day('2026-01-01') }, { unit: 'month', count: 12 }, [change]),
    ]
    expect(windows.map(({ from, to }) => [from, to])).toEqual([
      [day('2025-07-01'), change],
      [change, day('2026-01-01')],
    ])
  })

  test.each([
    [null, 'day'],
    ['hour', 'day'],
    ['day', 'day'],
    ['month', 'month'],
    ['year', 'year'],
  ] as const)('windows of a series grouped by %s begin and end at the start of a %s', (trunc, unit) => {
    const { from, to } = widen(MADRID, { from: day('2025-03-10'), to: day('2025-03-12') }, borderUnit(trunc))
    expect([floorTo(MADRID, from, unit), floorTo(MADRID, to, unit)]).toEqual([from, to])
    expect(from).toBeLessThanOrEqual(day('2025-03-10'))
    expect(to).toBeGreaterThanOrEqual(day('2025-03-12'))
  })
})
