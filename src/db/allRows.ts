import type { Blocks } from './engine.ts'

/** All rows of blocks at once, where they are known to be few or a whole is made of them. */
export async function allRows<T>(blocks: Blocks<T> | Iterable<readonly T[]>): Promise<T[]> {
  const all: T[] = []
  for await (const block of blocks) for (const row of block) all.push(row)
  return all
}
