import { setImmediate as turn } from 'node:timers/promises'

/** Longer lists are not counted to their end. */
const MOST_COUNTED = 1_000_000

/** How many elements a list has that may be endless, where that can be told soon. Between some of them a signal is heard. */
export async function countOf(items: Iterable<unknown>, signal: AbortSignal): Promise<number | null> {
  let count = 0
  for (const _ of items) {
    if (++count > MOST_COUNTED) return null
    if (count % 4096 === 0) await turn()
    if (signal.aborted) return null
  }
  return count
}
