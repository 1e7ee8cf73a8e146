import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Coverage } from '../../src/judge/stored.ts'
import { decideCoverage } from '../../src/load/coverage/decideCoverage.ts'
import type { Interval } from '../../src/util/time/interval.ts'
import { judgeAt, requirement, store } from '../judge/cases.ts'
import { cases } from '../support/randomCases.ts'
import {
  apply,
  currentCoverage,
  DAY,
  day,
  EMPTY,
  HOUR,
  loadInto,
  type Memory,
  night,
  prepare,
  type Said,
  ZONE,
} from './coverageMemory.ts'

/* Invariants after any history of replies about the hours of three geos. */

const GEOS = [3, 4, 5]
const FIRST = 24
const LAST = 37
const dayIntervals = Array.from({ length: LAST - FIRST }, (_, i) => ({ from: day(FIRST + i), to: day(FIRST + i + 1) }))

const replies = fc
  .record({
    first: fc.integer({ min: FIRST, max: LAST - 1 }),
    length: fc.integer({ min: 1, max: 5 }),
    geos: fc.constantFrom<(readonly number[] | null)[]>(null, null, null, [3], [4], [3, 5]),
    has: fc.subarray(GEOS),
    every: fc.constantFrom(1, 1, 1, 2, 7),
    lacks: fc.integer({ min: 0, max: 30 }),
    outcome: fc.constantFrom('sound', 'sound', 'sound', 'unverified', 'rejects', 'dismissed', 'dismissed somewhere'),
    wait: fc.constantFrom(0, 900, 7 * HOUR, DAY, 3 * DAY),
  })
  .map(({ first, length, geos, has, every, lacks, outcome, wait }) => ({
    wait,
    said: {
      days: [first, Math.min(LAST, first + length)],
      geos,
      has: has.filter((geo) => geos === null || geos.includes(geo)),
      hours: (at: number, geo: number) => ((at - day(first)) / HOUR) % every === 0 && (at / HOUR + geo) % 31 !== lacks,
      rejects: outcome === 'rejects' ? 1 : 0,
      dismissed: [
        ...(outcome === 'dismissed' ? [{ geo: 3, at: day(first) + HOUR }] : []),
        ...(outcome === 'dismissed somewhere' ? [null] : []),
      ],
      // Only geos with values can lack some.
      unverifiedDays: new Map(
        outcome === 'unverified'
          ? has.filter((geo) => geo !== 5 && (geos ?? GEOS).includes(geo)).map((geo) => [geo, [first]])
          : [],
      ),
    } satisfies Omit<Said, 'at'>,
  }))

/** Replies in order of time. */
const histories = fc.array(replies, { minLength: 1, maxLength: 8 }).map((all): Said[] => {
  let at = night(0)
  return all.map(({ wait, said }) => {
    at += wait
    const isOpen = said.rejects > 0
    return { ...said, at, dismissed: isOpen ? [] : said.dismissed }
  })
})

const check = (property: (replies: readonly Said[], memory: Memory) => void): void =>
  fc.assert(
    fc.property(histories, (all) => property(all, all.reduce(loadInto, EMPTY))),
    { numRuns: cases(40) },
  )

const isDisjoint = (rows: readonly Interval[]): boolean =>
  [...rows].sort((a, b) => a.from - b.from).every((row, i, all) => i === 0 || all[i - 1]!.to <= row.from)
const byGeo = <T extends { geo: number }>(rows: readonly T[]) => [...Map.groupBy(rows, ({ geo }) => geo).values()]

/** Returns the effective row of a geo on a day. */
const rowOn = ({ coverage }: Memory, geo: number, { from, to }: Interval): Coverage | undefined => {
  const over = coverage.filter((row) => row.from <= from && row.to >= to)
  return over.find((row) => row.geo === geo) ?? over.find((row) => row.geo === 0)
}

/** Returns the last reply about a geo (0: all geos) on a day. */
const lastOn = (all: readonly Said[], geo: number, { from }: Interval): Said | undefined =>
  all.findLast(
    ({ days, geos }) => day(days![0]) <= from && from < day(days![1]) && (geos == null || geos.includes(geo)),
  )

describe('coverage after any history of replies', () => {
  test('the rows of a geo are disjoint', () =>
    check((_, { coverage }) => {
      for (const rows of byGeo(coverage)) expect(isDisjoint(rows)).toBe(true)
    }))

  test('a repeated reply changes nothing', () =>
    check((all) => {
      const before = all.slice(0, -1).reduce(loadInto, EMPTY)
      const { series, reply, current, stored } = prepare(before, all.at(-1)!)
      const after = apply(stored, decideCoverage(series, reply, current))
      const again = decideCoverage(series, { ...reply, newGeos: [] }, currentCoverage(after, reply))
      expect(again).toMatchObject({ remove: [], insert: [] })
    }))

  test('a reply changes no state outside its window', () =>
    check((all, after) => {
      const before = all.slice(0, -1).reduce(loadInto, EMPTY)
      const [first, last] = all.at(-1)!.days!
      for (const one of dayIntervals.filter(({ from }) => from < day(first) || from >= day(last)))
        for (const geo of [0, ...GEOS]) expect(rowOn(after, geo, one)?.state).toBe(rowOn(before, geo, one)?.state)
    }))

  test('no row looks fresher or settled for longer than it is', () =>
    check((all, { coverage }) => {
      for (const row of coverage)
        for (const one of dayIntervals.filter(({ from, to }) => row.from <= from && row.to >= to)) {
          const { at } = lastOn(all, row.geo, one)!
          expect(row.fetchedAt).toBeLessThanOrEqual(at)
          expect(row.settledFor).toBeLessThanOrEqual(at - one.to)
        }
    }))

  test('exactly the unverified rows have a start time', () =>
    check((_, { coverage }) => {
      for (const { state, sinceAt, fetchedAt } of coverage) {
        expect(sinceAt === null).toBe(state !== 'unverified')
        expect(sinceAt ?? 0).toBeLessThanOrEqual(fetchedAt)
      }
    }))

  test('a day without many final values is unverified for its geo alone, unless the whole reply is', () =>
    check((all, after) => {
      const { unverifiedDays = new Map<number, readonly number[]>(), rejects = 0 } = all.at(-1)!
      for (const [geo, days] of unverifiedDays)
        for (const one of days) {
          const dates = { from: day(one), to: day(one + 1) }
          expect(rowOn(after, geo, dates)).toMatchObject({
            geo: rejects > 0 ? expect.anything() : geo,
            state: 'unverified',
          })
        }
    }))

  test('a complete reply for all geos leaves nothing to request', () =>
    check((all, before) => {
      const { at } = all.at(-1)!
      const { coverage } = loadInto(before, { at, days: [FIRST, LAST], has: GEOS })
      const requirements = [requirement({ from: day(FIRST), to: day(LAST), lookbackS: 2 * DAY, refreshS: HOUR })]
      const spans = judgeAt(requirements, store({ zone: ZONE, timelines: [], coverage }), at + 60)
      expect(spans.filter(({ nextAt }) => nextAt !== null && nextAt <= at + 60)).toEqual([])
      expect(coverage.every(({ geo, state }) => geo === 0 && state === 'values')).toBe(true)
    }))

  test('a first load by valid replies leaves nothing unverified', () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 3, maxLength: 5 })
    const truth = fc.array(fc.tuple(fc.constantFrom(...GEOS), fc.integer({ min: FIRST, max: LAST })), { maxLength: 12 })
    fc.assert(
      fc.property(lengths, truth, fc.boolean(), (sizes, holes, isNewestFirst) => {
        const isHole = (at: number, geo: number) =>
          holes.some(([one, n]) => one === geo && at >= day(n) && at < day(n + 1))
        let next = FIRST
        const windows = sizes.map((size): Said => {
          next += size
          return { at: night(0), days: [next - size, next], has: GEOS, hours: (at, geo) => !isHole(at, geo) }
        })
        const { coverage } = (isNewestFirst ? windows.reverse() : windows).reduce(loadInto, EMPTY)
        expect(coverage.filter(({ state }) => state === 'unverified')).toEqual([])
      }),
    )
  })
})
