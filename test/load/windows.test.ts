import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatLocal, startOfDate } from '../../src/util/time/zone.ts'
import { cases } from '../support/randomCases.ts'
import type { Store } from '../support/testStore.ts'
import { loadReplies, type Sent, type SentValue, storeWithSeries } from './loads.ts'

/* Missing periods depend on the stored values alone: not on the cuts, the order and the repetition of requests. */

const ZONE = 'Europe/Madrid'
const HOUR = 3600
const DAY = 86_400
const GEOS = [3, 4]
/** The clocks go back on the twenty-sixth day. */
const DAYS = 44
const dayStart = (n: number): number => {
  const date = new Date(Date.UTC(2025, 9, 1 + n)).toISOString().slice(0, 10)
  return startOfDate(ZONE, date)!
}
const BEGIN = dayStart(0)
const END = dayStart(DAYS)
const dayStarts = Array.from({ length: DAYS + 1 }, (_, n) => dayStart(n))
const dayOf = (at: number): number => dayStarts.findLastIndex((start) => start <= at)

/** Quarter-hours with their local seconds since midnight. */
const quarters = Array.from({ length: (END - BEGIN) / 900 }, (_, i) => {
  const at = BEGIN + i * 900
  const [hour, minute] = formatLocal(ZONE, at).slice(11, 16).split(':').map(Number) as [number, number]
  return { at, clock: hour * HOUR + minute * 60 }
})
const periodsOf = (step: number, offset: number): number[] =>
  quarters.filter(({ clock }) => clock % step === offset).map(({ at }) => at)

/** The contents of a geo: its periods, and its values in them. */
interface Contents {
  readonly periods: readonly number[]
  readonly values: readonly { readonly at: number; readonly value: number | null }[]
}

const holes = fc.array(fc.tuple(fc.nat(10_000), fc.constantFrom(1, 1, 2, 5, 30)), { maxLength: 6 })

/** A timeline with one step: some periods are lost, some are null, some values are off the periods. */
const steady = fc
  .record({
    grid: fc.constantFrom([900, 0], [HOUR, 0], [HOUR, 1800], [6 * HOUR, 0], [DAY, 0], [DAY, 6 * HOUR]),
    holes,
    nulls: holes,
    strays: fc.array(fc.nat(10_000), { maxLength: 2 }),
    begin: fc.nat(10),
    sun: fc.boolean(),
  })
  .map(({ grid: [step, offset], holes, nulls, strays, begin, sun }): Contents => {
    const all = periodsOf(step!, offset!)
    const inRanges = (ranges: readonly (readonly [number, number])[], i: number): boolean =>
      ranges.some(([first, length]) => i >= first % all.length && i < (first % all.length) + length)
    const isDark = (at: number): boolean => {
      const hour = Number(formatLocal(ZONE, at).slice(11, 13))
      return sun && step! <= HOUR && (hour < 8 || hour > 17)
    }
    const kept = all.flatMap((at, i) =>
      dayOf(at) < begin || inRanges(holes, i) || isDark(at) ? [] : [{ at, value: inRanges(nulls, i) ? null : i }],
    )
    const extra = strays.map((n) => ({ at: BEGIN + (n % DAYS) * DAY + 12 * HOUR + 420, value: 1 }))
    return { periods: all, values: [...kept, ...extra].sort((a, b) => a.at - b.at) }
  })

/** A timeline whose step changes, inside a day or between two. */
const changing = fc
  .record({ change: fc.integer({ min: 15, max: 28 }), hour: fc.constantFrom(0, 0, 11), isFiner: fc.boolean(), holes })
  .map(({ change, hour, isFiner, holes }): Contents => {
    const border = dayStart(change) + hour * HOUR
    const [first, second] = isFiner ? [HOUR, 900] : [900, HOUR]
    const periods = [
      ...periodsOf(first, 0).filter((at) => at < border),
      ...periodsOf(second, 0).filter((at) => at >= border),
    ]
    const isLost = (i: number): boolean =>
      holes.some(([begin, length]) => i >= begin % periods.length && i < (begin % periods.length) + length)
    return { periods, values: periods.flatMap((at, i) => (isLost(i) ? [] : [{ at, value: i }])) }
  })

/** Windows of whole days that cover everything, in any order, some of them twice. */
const plans = fc
  .record({
    cuts: fc.uniqueArray(fc.integer({ min: 1, max: DAYS - 1 }), { maxLength: 14 }),
    order: fc.array(fc.nat(1000), { minLength: 20, maxLength: 20 }),
    repeated: fc.array(fc.tuple(fc.nat(DAYS - 1), fc.integer({ min: 1, max: 9 })), { maxLength: 3 }),
    geosApart: fc.boolean(),
  })
  .map(({ cuts, order, repeated, geosApart }) => {
    const borders = [0, ...cuts.sort((a, b) => a - b), DAYS]
    const windows = borders.slice(1).map((to, i) => ({ from: dayStart(borders[i]!), to: dayStart(to) }))
    const shuffled = windows
      .map((window, i) => ({ window, rank: order[i % order.length]! }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ window }) => window)
    const again = repeated.map(([from, days]) => ({ from: dayStart(from), to: dayStart(Math.min(DAYS, from + days)) }))
    return { windows: [...shuffled, ...again], geosApart }
  })

/** The replies of a service with these contents. All of them are final. */
function replies(
  contents: readonly Contents[],
  windows: readonly { from: number; to: number }[],
  geosApart: boolean,
): Sent[] {
  const all: SentValue[] = contents.flatMap(({ values }, i) => values.map((row) => ({ geo: GEOS[i]!, ...row })))
  return windows.flatMap((window, n) =>
    (geosApart ? GEOS.map((geo) => [geo]) : [[0]]).map((geoIds): Sent => {
      const values = all.filter(
        ({ geo, at }) => at >= window.from && at < window.to && (geoIds[0] === 0 || geoIds[0] === geo),
      )
      return {
        window,
        geoIds,
        values,
        fetchedAt: END + 90 * DAY + n * 60,
        isGuessed: n % 2 === 0,
        step: n % 3 === 0 ? 900 : HOUR,
      }
    }),
  )
}

/** The missing periods of a geo, one by one. */
function missingOf(store: Store, geo: number): { at: number; reason: string }[] {
  const rows = store.all('select from_at, to_at, step_s, missing, reason from _absent where geo_id = ? order by 1', [
    geo,
  ]) as { from_at: number; to_at: number; step_s: number | null; missing: number | null; reason: string }[]
  return rows.flatMap(({ from_at, to_at, step_s, missing, reason }) => {
    const step = step_s ?? DAY
    // Steps over an hour follow the local clock. Without a step, days of which some value is missing.
    const phase = step_s === null ? 0 : quarters.find(({ at }) => at === from_at)!.clock
    const begins =
      step <= HOUR
        ? Array.from({ length: (to_at - from_at) / step }, (_, i) => from_at + i * step)
        : quarters
            .filter(({ at, clock }) => at >= from_at && at < to_at && (clock - phase) % step === 0)
            .map(({ at }) => at)
    if (missing !== null) expect(begins).toHaveLength(missing)
    return begins.map((at) => ({ at, reason }))
  })
}

/** All that follows from the stored values, without the times and ids of replies. */
function verdicts(store: Store) {
  const regular = `exists (select 1 from _cadence c where c.geo_id = o.geo_id and c.kind = 'regular')`
  return {
    cadence: store.all('select geo_id, from_at, kind, step_s, anchor_at from _cadence order by 1, 2'),
    missing: GEOS.map((geo) => missingOf(store, geo)),
    timelines: store.all('select geo_id, first_at, last_at, kind from series_geo order by 1'),
    days: store.all('select geo_id, month, day, count, step_s, offset_s, strays from _day order by 1, 2, 3'),
    steps: store.all(`select geo_id, at, step_s from observation o where ${regular} order by 1, 2`),
    hours: store.all(`select geo_id, month, day, hours, energy from _day o where ${regular} order by 1, 2, 3`),
    revisions: store.get('select count(*) from observation_revision'),
  }
}

async function verdictsAfter(sent: readonly Sent[]) {
  const store = await storeWithSeries(ZONE)
  await loadReplies(store, ZONE, sent)
  return verdicts(store)
}

describe('the verdict about missing periods', () => {
  test('the missing periods are the same for any cuts, order and repetition of requests', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(steady, changing),
        fc.oneof(steady, changing),
        plans,
        async (a, b, { windows, geosApart }) => {
          const whole = await verdictsAfter(replies([a, b], [{ from: BEGIN, to: END }], false))
          expect(await verdictsAfter(replies([a, b], windows, geosApart))).toEqual(whole)
          expect(whole.revisions).toBe(0)
        },
      ),
      { numRuns: cases(8) },
    )
  })

  test('exactly the periods without a value between the first and the last one of a regular timeline are missing', async () => {
    await fc.assert(
      fc.asyncProperty(steady, plans, async (contents, { windows }) => {
        const { periods, values } = contents
        const present = new Set(values.flatMap(({ at, value }) => (value === null ? [] : [at])))
        const nulls = new Set(values.flatMap(({ at, value }) => (value === null ? [at] : [])))
        // A day is whole with seven eighths of its periods, and seven whole days in a row show a regular timeline.
        const isWhole = (day: number): boolean => {
          const ofDay = periods.filter((at) => dayOf(at) === day)
          return ofDay.filter((at) => present.has(at)).length >= (ofDay.length * 7) / 8
        }
        let streak = 0
        let longest = 0
        for (let day = 0; day < DAYS; day++) {
          streak = isWhole(day) ? streak + 1 : 0
          longest = Math.max(longest, streak)
        }
        const { missing, cadence } = await verdictsAfter(replies([contents], windows, false))
        if (longest < 7) return
        const first = Math.min(...present)
        const last = Math.max(...present)
        const expected = periods
          .filter((at) => at > first && at < last && !present.has(at))
          .map((at) => ({ at, reason: nulls.has(at) ? 'null' : 'absent' }))
        expect(cadence).toHaveLength(1)
        expect(missing[0]).toEqual(expected)
      }),
      { numRuns: cases(8) },
    )
  })
})
