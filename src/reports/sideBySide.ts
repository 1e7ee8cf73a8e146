import type { Blocks } from '../db/engine.ts'
import type { Instant } from '../util/time/instant.ts'

/** The rows that several ordered lists have at one instant; undefined for those without one. */
interface Beside<T> {
  readonly at: Instant
  readonly heads: readonly (T | undefined)[]
}

/** Instants at a time. */
const INSTANTS = 64

/** Goes through rows that are ordered by their instant, side by side. */
export async function* sideBySide<T extends readonly [at: Instant, ...unknown[]]>(
  all: readonly Blocks<T>[],
): Blocks<Beside<T>> {
  const iterators = all.map((blocks) => blocks[Symbol.asyncIterator]())
  try {
    const blocks: (readonly T[])[] = all.map(() => [])
    const places = all.map(() => 0)
    let made: Beside<T>[] = []
    for (;;) {
      // An empty block is not the end.
      for (const [i, iterator] of iterators.entries())
        while (places[i] === blocks[i]!.length) {
          const next = await iterator.next()
          if (next.done) break
          blocks[i] = next.value
          places[i] = 0
        }
      const at = blocks.reduce(
        (least, block, i) => Math.min(least, block[places[i]!]?.[0] ?? least),
        Number.POSITIVE_INFINITY,
      )
      if (!Number.isFinite(at)) break
      const heads = blocks.map((block, i) => (block[places[i]!]?.[0] === at ? block[places[i]!++] : undefined))
      if (made.push({ at, heads }) < INSTANTS) continue
      yield made
      made = []
    }
    if (made.length > 0) yield made
  } finally {
    // What was not read to its end ends here.
    for (const iterator of iterators) await iterator.return?.()
  }
}
