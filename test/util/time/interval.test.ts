import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Interval, intersect, merge, subtract } from '../../../src/util/time/interval.ts'

const interval = fc.tuple(fc.nat(60), fc.nat(12)).map(([from, length]) => ({ from, to: from + length }))
const intervals = fc.array(interval, { maxLength: 8 })
const seconds = (list: readonly Interval[]): Set<number> => {
  const set = new Set<number>()
  for (const { from, to } of list) for (let i = from; i < to; i++) set.add(i)
  return set
}
/** Whether intervals are disjoint, sorted, separate and not empty. */
const tidy = (list: readonly Interval[]) =>
  list.every(({ from, to }, i) => from < to && (i === 0 || list[i - 1]!.to < from))

test('merge keeps the set of seconds', () => {
  fc.assert(
    fc.property(intervals, (a) => {
      expect(seconds(merge(a))).toEqual(seconds(a))
      expect(tidy(merge(a))).toBe(true)
    }),
  )
})

test('subtract returns the difference of the sets', () => {
  fc.assert(
    fc.property(intervals, intervals, (a, b) => {
      const result = subtract(a, b)
      expect(seconds(result)).toEqual(seconds(a).difference(seconds(b)))
      expect(tidy(result)).toBe(true)
    }),
  )
})

test('intersect returns the intersection of the sets', () => {
  fc.assert(
    fc.property(intervals, intervals, (a, b) => {
      expect(seconds(intersect(a, b))).toEqual(seconds(a).intersection(seconds(b)))
      expect(tidy(intersect(a, b))).toBe(true)
    }),
  )
})
