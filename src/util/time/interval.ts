import type { Instant } from './instant.ts'

/** A half-open interval of time, `[from, to)`. */
export interface Interval {
  /** First instant. */
  readonly from: Instant
  /** First instant after the interval. */
  readonly to: Instant
}

/** The same set of instants as disjoint, non-adjacent intervals in order; empty ones vanish. */
export function merge(intervals: readonly Interval[]): Interval[] {
  const merged: { from: Instant; to: Instant }[] = []
  for (const { from, to } of intervals.filter(({ from, to }) => from < to).sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else merged.push({ from, to })
  }
  return merged
}

/** What is in `wanted` and in none of `stored`, in order. */
export function subtract(wanted: readonly Interval[], stored: readonly Interval[]): Interval[] {
  const holes: Interval[] = []
  const taken = merge(stored)
  let next = 0
  for (const want of merge(wanted)) {
    let { from } = want
    while (next < taken.length && taken[next]!.to <= from) next++
    for (let i = next; i < taken.length && taken[i]!.from < want.to; i++) {
      const { from: start, to: end } = taken[i]!
      if (from < start) holes.push({ from, to: start })
      from = Math.max(from, end)
    }
    if (from < want.to) holes.push({ from, to: want.to })
  }
  return holes
}

/** What is in both sets, in order. */
export function intersect(a: readonly Interval[], b: readonly Interval[]): Interval[] {
  const common: Interval[] = []
  const left = merge(a)
  const right = merge(b)
  for (let i = 0, j = 0; i < left.length && j < right.length; ) {
    const from = Math.max(left[i]!.from, right[j]!.from)
    const to = Math.min(left[i]!.to, right[j]!.to)
    if (from < to) common.push({ from, to })
    if (left[i]!.to < right[j]!.to) i++
    else j++
  }
  return common
}
