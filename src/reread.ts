import type { Taped } from './audit/tape.ts'
import { createAside } from './base/aside.ts'
import { ShapeError } from './base/errors.ts'
import type { Rows } from './tables/rows.ts'
import { transformPacked } from './transform/transform.ts'

/** The rows of a stored reply; null where it still cannot be read. One that was refused whole is believed only when nothing is wrong in it now. */
export function reread({ ask, outcome, packed, size }: Taped): Rows | null {
  try {
    const rows = transformPacked(packed, size, ask)
    return outcome === 'shape' && rows.rejects.length > 0 ? null : rows
  } catch (error) {
    if (error instanceof ShapeError) return null
    throw error
  }
}

/** What another thread made of a reply. */
export interface Reread {
  readonly rows: Rows | null
}

const aside = createAside<Taped, Reread>(import.meta.url, 'rereading')

/** Smaller bodies are not worth the way to the other thread. */
const WORTH = 16 * 1024

/** Reads a stored reply in another thread, while this one writes the rows of those before. Without one it is read here: slower, and the same. */
export async function rereadAside(taped: Taped): Promise<Rows | null> {
  if (taped.size < WORTH) return reread(taped)
  const answer = await aside.ask(taped)
  return answer ? answer.rows : reread(taped)
}
