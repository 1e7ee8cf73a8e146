import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readJob } from '../../src/job/read.ts'
import { borderUnit } from '../../src/judge/finality.ts'
import { planJob } from '../../src/plan/planJob.ts'
import { EMPTY_STATE } from '../../src/plan/plannerState.ts'
import { halveWindow, withWindow } from '../../src/plan/windows.ts'
import { SERVICES } from '../../src/service/services.ts'
import { floorTo, startOfDate, type Unit } from '../../src/util/time/zone.ts'
import { emulate, ms, requestedWindow, runJob, serve, tempStore } from '../support/kit.ts'
import { cases } from '../support/randomCases.ts'

const ZONE = 'Europe/Madrid'
const NOW = ms('2025-11-04T12:00:00Z')
const TRUNCS = ['five_minutes', 'ten_minutes', 'fifteen_minutes', 'hour', 'day', 'month', 'year'] as const
const targetsOf = (yaml: string) => [
  ...planJob({
    job: readJob(`name: t\n${yaml}`, 'j'),
    service: SERVICES.generic,
    plannerState: EMPTY_STATE,
    now: NOW / 1000,
    options: {},
  } as unknown as Parameters<typeof planJob>[0]),
]

test('no window or half of a window cuts a bucket, for any chunk', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...TRUNCS),
      fc.constantFrom('1h', '1d', '10d', '3w', '45d', '1mo', '5mo', '18mo', '2y'),
      fc.integer({ min: 0, max: 3000 }),
      fc.integer({ min: 1, max: 1500 }),
      (trunc, chunk, first, length) => {
        const date = (n: number) => new Date(Date.UTC(2015, 0, 1) + n * 86_400_000).toISOString().slice(0, 10)
        const requests = targetsOf(
          `series:\n  - { indicators: [1], timeTrunc: ${trunc}, timeAgg: sum, chunk: ${chunk}, window: { from: ${date(first)}, to: ${date(first + length)} } }`,
        )
        const unit: Unit = borderUnit(trunc)
        const isBorder = (at: number): boolean => floorTo(ZONE, at, unit) === at
        let next = floorTo(ZONE, startOfDate(ZONE, date(first))!, unit)
        for (const { window } of requests) {
          expect(window!.from).toBe(next)
          expect([isBorder(window!.from), isBorder(window!.to)]).toEqual([true, true])
          next = window!.to
        }
        expect(next).toBeGreaterThanOrEqual(startOfDate(ZONE, date(first + length))!)
        let [planned] = requests
        for (let left = 40; left > 0; left--) {
          const pieces = halveWindow(planned!)
          expect(pieces[0]!.from).toBe(planned!.window!.from)
          expect(pieces.at(-1)!.to).toBe(planned!.window!.to)
          for (const [i, { from, to }] of pieces.entries()) {
            expect([isBorder(from), isBorder(to), from < to]).toEqual([true, true, true])
            if (i > 0) expect(from).toBe(pieces[i - 1]!.to)
          }
          if (pieces.length === 1) break
          planned = withWindow(planned!, pieces[0]!)
          expect(left).toBeGreaterThan(1)
        }
        expect(floorTo(ZONE, planned!.window!.to - 1, unit)).toBe(planned!.window!.from)
      },
    ),
    { numRuns: cases(20) },
  )
})

test.each([
  ['month', 70 * 86_400, 96],
  ['year', 400 * 86_400, 8],
])(
  'windows grouped by %s are halved until the service accepts them, and the size is stored',
  async (trunc, limit, buckets) => {
    const emulator = await emulate({ now: NOW / 1000 })
    let refused = 0
    const server = await serve(async (request, response) => {
      const { from, end } = requestedWindow(request)
      if (end - from > limit) {
        refused++
        response.writeHead(504).end('<html>timeout</html>')
        return
      }
      const answer = await fetch(`${emulator.url}${request.url}`, { headers: { 'x-api-key': emulator.key } })
      response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text())
    })
    const store = await tempStore()
    const yaml = (from: string) =>
      `series:\n  - { indicators: [10207], timeTrunc: ${trunc}, timeAgg: sum, window: { from: ${from}, to: 2025-01-01 } }`
    const first = await runJob(store, server, yaml('2017-01-01'), { now: NOW })
    expect(first.outcome).toBe('done')
    expect(store.get('select count(*) from observation')).toBe(buckets)
    expect(store.get('select max(step_s) from observation')).toBe(trunc === 'month' ? 31 * 86_400 + 3600 : 366 * 86_400)
    expect(refused).toBeLessThan(12)
    const learned = refused
    await runJob(store, server, yaml('2015-01-01'), { now: NOW })
    expect(refused - learned).toBeLessThanOrEqual(2)
    expect(store.get('select count(*) from observation')).toBe(trunc === 'month' ? buckets + 24 : buckets + 2)
  },
)
