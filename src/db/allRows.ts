import type { Blocks } from './engine.ts'

/** All rows of blocks in one list: for results that are known to be small, or needed as a whole. */
export async function allRows<T>(blocks: Blocks<T> | Iterable<readonly T[]>): Promise<T[]> {
  const all: T[] = []
  for await (const block of blocks) for (const row of block) all.push(row)
  return all
}
