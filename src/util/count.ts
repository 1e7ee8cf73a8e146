import { setImmediate as turn } from 'node:timers/promises'

/** Counting stops here. */
const MAX_COUNT = 1_000_000

/** Counts items, which may be endless; null if there are too many or the signal is aborted. */
export async function countItems(items: Iterable<unknown>, signal: AbortSignal): Promise<number | null> {
  let count = 0
  for (const _ of items) {
    if (++count > MAX_COUNT) return null
    if (count % 4096 === 0) await turn()
    if (signal.aborted) return null
  }
  return count
}
