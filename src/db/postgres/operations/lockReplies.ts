import type { Transaction } from 'kysely'
import type { Database } from '../../tables/schema.ts'
import { rowsOf } from '../connection/runSql.ts'

/** Locks bodies of the reply store until the transaction ends, in the order of their hashes; answers which of them are there. */
export async function lockReplies(
  tx: Transaction<Database>,
  hashes: readonly string[],
  purpose: 'keep' | 'delete',
): Promise<readonly string[]> {
  const lock = purpose === 'keep' ? 'share' : 'update'
  const held = `select hash from _reply where hash = any($1) order by hash for ${lock}`
  return (await rowsOf<{ hash: string }>(tx, held, [hashes])).map(({ hash }) => hash)
}
