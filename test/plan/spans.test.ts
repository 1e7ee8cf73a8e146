import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readJob } from '../../src/job/read.ts'
import { plan } from '../../src/library.ts'
import { DAY } from '../../src/util/time/instant.ts'
import { merge } from '../../src/util/time/interval.ts'
import { ceilTo, floorTo } from '../../src/util/time/zone.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { ms, tempStore } from '../support/kit.ts'
import { cases } from '../support/randomCases.ts'
import type { Store } from '../support/testStore.ts'

/* One truth: a plan has exactly the days of the stored spans whose next request has come. */

const ZONE = 'Europe/Madrid'
const NIGHT = ms('2025-11-04T20:15:00Z') / 1000

interface DueSpan {
  readonly from: number
  readonly to: number
  readonly ordinary: 0 | 1
}

/** The spans that the database says are due, on local days. A span without an end ends with the current day. */
function dueSpans(store: Store, now: number): DueSpan[] {
  const rows = store.all(
    `select from_at as "from", coalesce(to_at, ${now}) as "to",
       (reason in ('never requested', 'failed', 'unverified') or state = 'provisional') as ordinary
     from _span where next_at <= ${now} and reason not in ('late', 'no values')`,
  ) as unknown as DueSpan[]
  return rows.map(({ from, to, ordinary }) => ({
    from: floorTo(ZONE, from, 'day'),
    to: ceilTo(ZONE, to, 'day'),
    ordinary,
  }))
}

const hour = (from: number, to: number) => fc.integer({ min: from * 24, max: to * 24 })
const histories = fc.record({
  window: fc.constantFrom('{ last: 3d }', '{ last: 30d }', '{ from: 2025-10-10, to: 2025-11-20 }'),
  lookback: fc.constantFrom('1d', '4d'),
  chunk: fc.constantFrom('1d', '9d', '1mo'),
  begin: hour(-40, -5),
  end: hour(-10, 60),
  lost: fc.array(fc.tuple(hour(-20, 8), fc.integer({ min: 1, max: 40 })), { maxLength: 3 }),
  nights: fc.uniqueArray(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 5 }),
  failing: fc.integer({ min: 0, max: 20 }),
  later: fc.integer({ min: 0, max: 200 }),
})

test('a plan requests the days of the due spans, and of those without values at least one', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const { window, lookback, chunk, begin, end, lost, nights, failing, later } = history
      const store = await tempStore()
      const service = await startHourlyService()
      const yaml = `name: test\nseries: [{ indicators: [5], window: ${window}, lookback: ${lookback}, refresh: 1h, chunk: ${chunk} }]`
      const at = (hours: number) => NIGHT + hours * 3600
      service.state.has = (instant) =>
        instant >= at(begin) &&
        instant < at(end) &&
        !lost.some(([from, count]) => instant >= at(from) && instant < at(from + count))
      for (const night of nights.sort((a, b) => a - b)) {
        service.state.status = () => (night === failing ? 400 : undefined)
        await service.run(store, yaml, (NIGHT + night * DAY) * 1000)
      }
      const now = NIGHT + (nights.at(-1)! + later / 10) * DAY
      const job = readJob(yaml, 'test.yaml')
      const planned = [...(await plan(job, { store, now: () => now }))]
      const due = dueSpans(store, now)
      const isOrdinary = ({ reason }: { readonly reason: string }) => reason !== 'absent'
      const days = (spans: readonly { readonly from: number; readonly to: number }[]) =>
        merge(spans.map(({ from, to }) => ({ from, to })))
      expect(days(planned.filter(isOrdinary).map((one) => one.window!))).toEqual(
        days(due.filter(({ ordinary }) => ordinary === 1)),
      )
      const others = days(due.filter(({ ordinary }) => ordinary === 0))
      const repeated = planned.filter((one) => !isOrdinary(one))
      for (const { window } of repeated)
        expect(others.some(({ from, to }) => window!.from >= from && window!.to <= to)).toBe(true)
      if (others.length > 0 && later > 10) expect(repeated.length).toBeGreaterThan(0)
    }),
    { numRuns: cases(6) },
  )
})
