import type { Expression, ExpressionBuilder, SqlBool, Transaction } from 'kysely'
import type { Engine } from '../../db/engine.ts'
import type { Store } from '../../db/store.ts'
import type { Database } from '../../db/tables/schema.ts'

/** The result of pruning. */
export interface PruneResult extends DeletedBodies {
  /** Old bodies that open quarantine entries refer to. */
  readonly kept: number
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

/** Counts what `pruneReplies` would delete. */
export async function countPrunable({ kysely }: Pick<Store, 'kysely'>, before: string): Promise<PruneResult> {
  const { kept } = await kysely
    .selectFrom('_reply')
    .where((eb) => eb.and([isOld(eb, before), isEvidence(eb)]))
    .select(({ fn }) => fn.countAll<number>().as('kept'))
    .executeTakeFirstOrThrow()
  const { bodies, bytes } = await kysely
    .selectFrom('_reply')
    .where((eb) => isUnused(eb, before))
    .select(({ fn }) => [fn.countAll<number>().as('bodies'), fn.sum<number>(fn('length', ['body'])).as('bytes')])
    .executeTakeFirstOrThrow()
  return { bodies, bytes: Number(bytes ?? 0), kept }
}

/** Deletes bodies that were last received before an instant, unless open quarantine entries refer to them. */
export const pruneReplies = (store: Store, before: string): Promise<PruneResult> =>
  store.write(async (tx) => {
    const { kept } = await countPrunable({ kysely: tx }, before)
    const unused = (eb: ExpressionBuilder<Database, '_reply'>) => isUnused(eb, before)
    const rows = await tx.selectFrom('_reply').where(unused).select('hash').orderBy('hash').execute()
    const hashes = rows.map(({ hash }) => hash)
    return { ...(await deleteUnused(tx, store.engine, hashes, unused)), kept }
  })

/** Deleted bodies, and their size in the database. */
export interface DeletedBodies {
  readonly bodies: number
  readonly bytes: number
}

/** The number of bodies that one statement locks and deletes. */
const AT_ONCE = 1_000

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
