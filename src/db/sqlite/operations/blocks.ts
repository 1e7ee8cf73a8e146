import type { Blocks } from '../../engine.ts'

/** Rows at a time: to wait for a block costs as much as to read one row. */
const ROWS = 64

/** The rows of a statement, which begins when the first are read and ends with the reading. */
export async function* inBlocks<T>(begin: () => IterableIterator<T>): Blocks<T> {
  let block: T[] = []
  for (const row of begin()) {
    if (block.push(row) < ROWS) continue
    yield block
    block = []
  }
  if (block.length > 0) yield block
}
