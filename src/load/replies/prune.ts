import type { ExpressionBuilder } from 'kysely'
import type { Store } from '../../db/store.ts'
import type { Database } from '../../db/tables/schema.ts'
import { type Deleted, deleteUnused } from './deleteUnused.ts'

/** What pruning did: bodies and bytes that were deleted, and old bodies that stay as evidence. */
export interface Pruned extends Deleted {
  readonly kept: number
}

/** Whether a body was last received before a moment. */
const isOld = (of: ExpressionBuilder<Database, '_reply'>, before: string) =>
  of.not(
    of.exists(
      of
        .selectFrom('_fetch as f')
        .select('f.id')
        .whereRef('f.reply_hash', '=', '_reply.hash')
        .where('f.finished_at', '>=', before),
    ),
  )
/** Whether an open quarantine entry refers to a body. */
const isEvidence = (of: ExpressionBuilder<Database, '_reply'>) =>
  of.exists(
    of
      .selectFrom('_fetch as f')
      .innerJoin('_quarantine as q', 'q.fetch_id', 'f.id')
      .select('f.id')
      .whereRef('f.reply_hash', '=', '_reply.hash')
      .where('q.resolved_at', 'is', null),
  )

/** Deletes the bodies that were last received before a moment, except those that open quarantine entries refer to. */
export const pruneReplies = (store: Store, before: string): Promise<Pruned> =>
  store.write(async (tx) => {
    const isUnused = (of: ExpressionBuilder<Database, '_reply'>) => of.and([isOld(of, before), of.not(isEvidence(of))])
    const { kept } = await tx
      .selectFrom('_reply')
      .where((of) => of.and([isOld(of, before), isEvidence(of)]))
      .select(({ fn }) => fn.countAll<number>().as('kept'))
      .executeTakeFirstOrThrow()
    const unused = await tx.selectFrom('_reply').where(isUnused).select('hash').orderBy('hash').execute()
    const hashes = unused.map(({ hash }) => hash)
    return { ...(await deleteUnused(tx, store.engine, hashes, isUnused)), kept }
  })
