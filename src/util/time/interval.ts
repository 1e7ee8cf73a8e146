import type { Instant } from './instant.ts'

/** A half-open interval of time, `[from, to)`. */
export interface Interval {
  /** First instant. */
  readonly from: Instant
  /** First instant after the interval. */
  readonly to: Instant
}

/** An interval without any instant. */
export const NO_TIME: Interval = { from: 0, to: 0 }

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

/** Whether two intervals have an instant in common. */
export const overlaps = (a: Interval, b: Interval): boolean => a.from < b.to && a.to > b.from

/** The smallest interval that contains all of these, at least one. */
export const hull = (intervals: readonly Interval[]): Interval => ({
  from: Math.min(...intervals.map(({ from }) => from)),
  to: Math.max(...intervals.map(({ to }) => to)),
})

/** The parts of `minuend` outside `subtrahend`, in order. */
export function subtract(minuend: readonly Interval[], subtrahend: readonly Interval[]): Interval[] {
  const rest: Interval[] = []
  const taken = merge(subtrahend)
  let next = 0
  for (const { from: start, to: end } of merge(minuend)) {
    let from = start
    while (next < taken.length && taken[next]!.to <= from) next++
    for (let i = next; i < taken.length && taken[i]!.from < end; i++) {
      if (from < taken[i]!.from) rest.push({ from, to: taken[i]!.from })
      from = Math.max(from, taken[i]!.to)
    }
    if (from < end) rest.push({ from, to: end })
  }
  return rest
}

/** The intervals in both sets, in order. */
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

/** Splits an interval at the instants inside it. */
export function splitAt(interval: Interval, borders: readonly Instant[]): Interval[] {
  const { from, to } = interval
  const isInside = (at: Instant): boolean => at > from && at < to
  // Most rows have no border inside, and there are many rows.
  if (!borders.some(isInside)) return [interval]
  const inside = [...new Set(borders.filter(isInside))].sort((a, b) => a - b)
  return [from, ...inside].map((at, i) => ({ from: at, to: inside[i] ?? to }))
}
