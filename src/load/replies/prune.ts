import type { ExpressionBuilder } from 'kysely'
import type { Store } from '../../db/store.ts'
import type { Database } from '../../tables/schema.ts'

/** What pruning did: bodies and bytes that were deleted, and old bodies that stay as evidence. */
export interface Pruned {
  readonly bodies: number
  readonly bytes: number
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
    const old = tx.selectFrom('_reply').where((of) => isOld(of, before))
    const { kept } = await old
      .where(isEvidence)
      .select(({ fn }) => fn.countAll<number>().as('kept'))
      .executeTakeFirstOrThrow()
    const { bytes } = await old
      .where((of) => of.not(isEvidence(of)))
      .select(({ fn }) => fn.sum<number | null>(fn('length', ['body'])).as('bytes'))
      .executeTakeFirstOrThrow()
    const { numDeletedRows } = await tx
      .deleteFrom('_reply')
      .where((of) => of.and([isOld(of, before), of.not(isEvidence(of))]))
      .executeTakeFirstOrThrow()
    return { bodies: Number(numDeletedRows), bytes: bytes ?? 0, kept }
  })
