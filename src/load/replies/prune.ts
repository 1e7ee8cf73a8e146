import type { Expression, ExpressionBuilder, Kysely, SqlBool, Transaction } from 'kysely'
import type { Engine } from '../../db/engine.ts'
import type { Store } from '../../db/store.ts'
import type { Database } from '../../db/tables/schema.ts'
import { findRepeatedRequests } from './repeatedRequests.ts'

/** The number of rows that one statement locks and deletes. */
const AT_ONCE = 1_000

/** The result of pruning. */
export interface PruneResult extends DeletedBodies {
  /** Old bodies that open quarantine entries refer to. */
  readonly kept: number
  /** Records of old requests that later ones repeat. */
  readonly requests: number
}

/** The records and bodies that are no longer needed before an instant. */
interface Prunable {
  readonly hashes: readonly string[]
  readonly requests: readonly number[]
  readonly kept: number
  readonly bytes: number
}

/** Whether a body was last received before an instant. */
const isOld = (eb: ExpressionBuilder<Database, '_reply'>, before: string) =>
  eb.not(
    eb.exists(
      eb
        .selectFrom('_fetch as f')
        .select('f.id')
        .whereRef('f.reply_hash', '=', '_reply.hash')
        .where('f.finished_at', '>=', before),
    ),
  )
/** Whether an open quarantine entry refers to a body. */
const isEvidence = (eb: ExpressionBuilder<Database, '_reply'>) =>
  eb.exists(
    eb
      .selectFrom('_fetch as f')
      .innerJoin('_quarantine as q', 'q.fetch_id', 'f.id')
      .select('f.id')
      .whereRef('f.reply_hash', '=', '_reply.hash')
      .where('q.resolved_at', 'is', null),
  )

const isUnused = (eb: ExpressionBuilder<Database, '_reply'>, before: string) =>
  eb.and([isOld(eb, before), eb.not(isEvidence(eb))])

async function findPrunable(db: Kysely<Database>, before: string): Promise<Prunable> {
  const { kept } = await db
    .selectFrom('_reply')
    .where((eb) => eb.and([isOld(eb, before), isEvidence(eb)]))
    .select(({ fn }) => fn.countAll<number>().as('kept'))
    .executeTakeFirstOrThrow()
  const unused = await db
    .selectFrom('_reply')
    .where((eb) => isUnused(eb, before))
    .select(({ fn }) => ['hash', fn<number>('length', ['body']).as('bytes')])
    .orderBy('hash')
    .execute()
  const hashes = unused.map(({ hash }) => hash)
  const deleted = new Set(hashes)
  const requests = await findRepeatedRequests(db, before, (hash) => !deleted.has(hash))
  return { hashes, requests, kept, bytes: unused.reduce((sum, row) => sum + row.bytes, 0) }
}

/** Counts what `prune` would delete. */
export async function countPrunable({ kysely }: Pick<Store, 'kysely'>, before: string): Promise<PruneResult> {
  const { hashes, requests, kept, bytes } = await findPrunable(kysely, before)
  return { bodies: hashes.length, bytes, kept, requests: requests.length }
}

/**
 * Deletes bodies that were last received before an instant, unless open quarantine entries refer to them, and the records of requests
 * before it that later ones repeat.
 */
export const prune = (store: Store, before: string): Promise<PruneResult> =>
  store.write(async (tx) => {
    const { hashes, requests, kept } = await findPrunable(tx, before)
    const unused = (eb: ExpressionBuilder<Database, '_reply'>) => isUnused(eb, before)
    const bodies = await deleteUnused(tx, store.engine, hashes, unused)
    for (let i = 0; i < requests.length; i += AT_ONCE)
      await tx
        .deleteFrom('_fetch')
        .where('id', 'in', requests.slice(i, i + AT_ONCE))
        .execute()
    return { ...bodies, kept, requests: requests.length }
  })

/** Deleted bodies, and their size in the database. */
export interface DeletedBodies {
  readonly bodies: number
  readonly bytes: number
}

/**
 * Deletes the unused bodies among `hashes`, in this order. Locks them first and then checks their use, because a transaction that
 * refers to a body locks it, too.
 */
export async function deleteUnused(
  tx: Transaction<Database>,
  engine: Engine,
  hashes: readonly string[],
  isUnused: (eb: ExpressionBuilder<Database, '_reply'>) => Expression<SqlBool>,
): Promise<DeletedBodies> {
  let bodies = 0
  let bytes = 0
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
