import type { Blocks } from '../db/engine.ts'
import type { Instant } from '../util/time/instant.ts'

/** The rows of several lists at one instant; undefined for lists without one. */
interface AlignedRows<T> {
  readonly at: Instant
  readonly heads: readonly (T | undefined)[]
}

/** Instants of a block. */
const BLOCK_INSTANTS = 64

/** Merges lists of rows in the order of their instants, one element for each instant. */
export async function* mergeByInstant<T extends readonly [at: Instant, ...unknown[]]>(
  lists: readonly Blocks<T>[],
): Blocks<AlignedRows<T>> {
  const iterators = lists.map((blocks) => blocks[Symbol.asyncIterator]())
  try {
    const blocks: (readonly T[])[] = lists.map(() => [])
    const places = lists.map(() => 0)
    let aligned: AlignedRows<T>[] = []
    for (;;) {
      // An empty block is not the end.
      for (const [i, iterator] of iterators.entries())
        while (places[i] === blocks[i]!.length) {
          const next = await iterator.next()
          if (next.done) break
          blocks[i] = next.value
          places[i] = 0
        }
      const at = Math.min(...blocks.map((block, i) => block[places[i]!]?.[0] ?? Number.POSITIVE_INFINITY))
      if (!Number.isFinite(at)) break
      const heads = blocks.map((block, i) => (block[places[i]!]?.[0] === at ? block[places[i]!++] : undefined))
      if (aligned.push({ at, heads }) < BLOCK_INSTANTS) continue
      yield aligned
      aligned = []
    }
    if (aligned.length > 0) yield aligned
  } finally {
    // Ends statements that were not read to their end.
    for (const iterator of iterators) await iterator.return?.()
  }
}
