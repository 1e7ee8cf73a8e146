import { setImmediate as turn } from 'node:timers/promises'

/** Longer lists are not counted to their end. */
const MOST_COUNTED = 1_000_000

/** Counts the elements of a list that may be endless; null where there are too many. Checks for a signal in between. */
export async function countItems(items: Iterable<unknown>, signal: AbortSignal): Promise<number | null> {
  let count = 0
  for (const _ of items) {
    if (++count > MOST_COUNTED) return null
    if (count % 4096 === 0) await turn()
    if (signal.aborted) return null
  }
  return count
}
