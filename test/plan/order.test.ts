import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PlannedRequest } from '../../src/job/plannedRequest.ts'
import { sortLatestFirst } from '../../src/plan/planJob.ts'

const planned = (where: string, to: number): PlannedRequest =>
  ({ entryPath: where, window: { from: to - 1, to } }) as PlannedRequest

test('requests are sorted by their latest end and keep the order within each series', () =>
  fc.assert(
    fc.property(fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 50 })), { maxLength: 8 }), (lanes) => {
      const series = lanes.map((ends, i) => [...ends].sort((a, b) => b - a).map((to) => planned(`${i}`, to)))
      const ordered = [
        ...sortLatestFirst(
          series.map((requests) => ({
            windows: requests.map(({ window }) => window!),
            plan: (window) => requests.find((request) => request.window === window)!,
          })),
        ),
      ]
      expect(ordered).toHaveLength(series.flat().length)
      expect(ordered.map(({ window }) => window!.to)).toEqual(
        ordered.map(({ window }) => window!.to).sort((a, b) => b - a),
      )
      for (const [i, requests] of series.entries())
        expect(ordered.filter(({ entryPath: where }) => where === `${i}`)).toEqual(requests)
    }),
  ))
