import type { ExpressionBuilder, Insertable, Transaction } from 'kysely'
import type { Engine } from '../../db/engine.ts'
import { prepareQuery } from '../../db/prepared.ts'
import type { Database } from '../../db/tables/schema.ts'
import type { StoredBody } from '../../util/storedBody.ts'
import { formatMillis } from '../../util/time/instant.ts'
import { deleteUnused } from './prune.ts'

const insertReply = prepareQuery((db, row: Insertable<Database['_reply']>) =>
  db
    .insertInto('_reply')
    .values(row)
    // Another process may be storing the same body: this locks its row, so that it stays, and writes nothing.
    .onConflict((conflict) =>
      conflict
        .column('hash')
        .doUpdateSet({ hash: row.hash })
        .where((eb) => eb.lit(false)),
    ),
)

/** Stores a body in the reply store, equal bodies once, and keeps it there until the transaction ends. */
export async function keepReply(
  tx: Transaction<Database>,
  engine: Engine,
  { hash, compressed }: StoredBody,
  size: number,
  ms: number,
): Promise<void> {
  const [stored] = await engine.lockReplies(tx, [hash], 'keep')
  if (stored !== undefined) return
  await insertReply.run(tx, { hash, body: compressed, bytes: size, first_seen_at: formatMillis(ms) })
}

/** Deletes the bodies of earlier replies to the same request, unless another request or the quarantine refers to them. */
export async function dropEarlier(
  tx: Transaction<Database>,
  engine: Engine,
  target: string,
  fetchId: number,
  hash: string,
): Promise<void> {
  const replies = await earlierReplies.all(tx, { target, fetchId, hash })
  const hashes = replies.map((reply) => reply.hash)
  await deleteUnused(tx, engine, hashes, (eb) => isEarlier(eb, target, fetchId))
}

/** Whether nothing refers to a body but replies to one request, up to a fetch. */
const isEarlier = (eb: ExpressionBuilder<Database, '_reply'>, target: string, fetchId: number) => {
  const fetches = eb.selectFrom('_fetch as f').select('f.id').whereRef('f.reply_hash', '=', '_reply.hash')
  return eb.and([
    eb.not(
      eb.exists(fetches.where((fetch) => fetch.or([fetch('f.target', '<>', target), fetch('f.id', '>', fetchId)]))),
    ),
    eb.not(eb.exists(fetches.innerJoin('_quarantine as q', 'q.fetch_id', 'f.id'))),
  ])
}

const earlierReplies = prepareQuery(
  (db, { target, fetchId, hash }: { target: string; fetchId: number; hash: string }) =>
    db
      .selectFrom('_reply')
      .select('hash')
      .where('hash', '<>', hash)
      .where('hash', 'in', (sub) =>
        sub.selectFrom('_fetch').select('reply_hash').where('target', '=', target).where('id', '<', fetchId),
      )
      .where((reply) => isEarlier(reply, target, fetchId)),
)
