/* Lists that may be endless, such as the requests of a plan: no part of them is kept. */

import { setImmediate as turn } from 'node:timers/promises'

/** Longer lists are not counted to their end. */
const MOST_COUNTED = 1_000_000

/** Counts the elements of a list that may be endless; null where there are too many. Checks for a signal in between. */
export async function countOf(items: Iterable<unknown>, signal: AbortSignal): Promise<number | null> {
  let count = 0
  for (const _ of items) {
    if (++count > MOST_COUNTED) return null
    if (count % 4096 === 0) await turn()
    if (signal.aborted) return null
  }
  return count
}

/**
 * Works through a list, some at a time: an element is only taken when there is room for it, so that a plan of a million requests is
 * never a million promises. Stops taking when `signal` is aborted, or when the work or the list throws; throws the first error
 * when all that was under way has ended.
 */
export async function forEachConcurrently<T>(
  items: Iterable<T>,
  concurrency: number,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const list = items[Symbol.iterator]()
  const failures: unknown[] = []
  const takeEach = async (): Promise<void> => {
    try {
      while (failures.length === 0 && !signal.aborted) {
        const next = list.next()
        if (next.done) return
        await work(next.value)
      }
    } catch (error) {
      failures.push(error)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, takeEach))
  list.return?.()
  // What came after the first error follows from it.
  if (failures.length > 0) throw failures[0]
}
