import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PlannedRequest } from '../../src/job/plannedRequest.ts'
import { readJob } from '../../src/job/read.ts'
import { planJob, sortLatestFirst } from '../../src/plan/planJob.ts'
import { EMPTY_STATE } from '../../src/plan/plannerState.ts'
import { SERVICES } from '../../src/service/services.ts'

const planned = (where: string, to: number): PlannedRequest =>
  ({ entryPath: where, window: { from: to - 1, to } }) as PlannedRequest

test.each([
  [
    'without a budget, a plan has the order of the job',
    '',
    ['catalogue', 'series[1]', 'series[0]', 'series[0]', 'series[0]', 'series[0]', 'content[0]', 'widgets'],
  ],
  [
    'with a budget that may end the run, a plan begins with one request of everything',
    'pace: { callsPerDay: 100 }\n',
    ['catalogue', 'series[1]', 'series[0]', 'series[0]', 'content[0]', 'widgets', 'series[0]', 'series[0]'],
  ],
  [
    'with a budget for which a run waits, a plan has the order of the job',
    'pace: { callsPerMinute: 100 }\n',
    ['catalogue', 'series[1]', 'series[0]', 'series[0]', 'series[0]', 'series[0]', 'content[0]', 'widgets'],
  ],
])('%s', (_title, pace, expected) => {
  const yaml = `name: job
${pace}catalogue: true
series:
  - { indicators: [1, 2], window: { last: 1d }, chunk: 1d }
  - { indicators: [3], datetime: 2025-11-01T12:00 }
content: [{ kinds: [news] }]
widgets: { list: true }
`
  const job = readJob(yaml, 'job.yaml')
  const plan = planJob({ job, service: SERVICES.generic, plannerState: EMPTY_STATE, now: 1_762_000_000, options: {} })
  expect(Array.from(plan, ({ entryPath }) => entryPath)).toEqual(expected)
})

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
