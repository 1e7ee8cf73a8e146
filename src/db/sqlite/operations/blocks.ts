import type { Blocks } from '../../engine.ts'

/** Rows that are read at a time: waiting for a block costs as much as reading one row. */
const ROWS_PER_BLOCK = 64

/** The rows of a statement, which begins with the first read and ends with the last. */
export async function* inBlocks<T>(begin: () => IterableIterator<T>): Blocks<T> {
  let block: T[] = []
  for (const row of begin()) {
    if (block.push(row) < ROWS_PER_BLOCK) continue
    yield block
    block = []
  }
  if (block.length > 0) yield block
}
