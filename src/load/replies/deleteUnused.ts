import type { Expression, ExpressionBuilder, SqlBool, Transaction } from 'kysely'
import type { Engine } from '../../db/engine.ts'
import type { Database } from '../../db/tables/schema.ts'

/** What was deleted of the reply store. */
export interface Deleted {
  readonly bodies: number
  readonly bytes: number
}

/** How many bodies are locked and deleted by one statement. */
const AT_ONCE = 1_000

/**
 * Deletes those of some bodies, in the order of their hashes, that nobody uses. Whoever refers to a body keeps it locked: asked again
 * once it is locked here, everybody who refers to it is seen.
 */
export async function deleteUnused(
  tx: Transaction<Database>,
  engine: Engine,
  hashes: readonly string[],
  isUnused: (of: ExpressionBuilder<Database, '_reply'>) => Expression<SqlBool>,
): Promise<Deleted> {
  let [bodies, bytes] = [0, 0]
  for (let i = 0; i < hashes.length; i += AT_ONCE) {
    const locked = await engine.lockReplies(tx, hashes.slice(i, i + AT_ONCE), 'delete')
    if (locked.length === 0) continue
    const deleted = await tx
      .deleteFrom('_reply')
      .where('hash', 'in', locked)
      .where(isUnused)
      .returning(({ fn }) => fn<number>('length', ['body']).as('bytes'))
      .execute()
    bodies += deleted.length
    bytes += deleted.reduce((sum, row) => sum + row.bytes, 0)
  }
  return { bodies, bytes }
}
