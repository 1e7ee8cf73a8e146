import type { Transaction } from 'kysely'
import { numbersOf } from '../../base/json.ts'
import { formatMillis } from '../../base/time/instant.ts'
import { createAnswered } from '../../db/queries/answered.ts'
import type { Store } from '../../db/store.ts'
import type { Database } from '../../tables/schema.ts'

/** The open quarantine entries of a fetch, for an update. */
export const openOf = (tx: Transaction<Database>, fetchId: number) =>
  tx.updateTable('_quarantine').where('fetch_id', '=', fetchId).where('resolved_at', 'is', null)

/** Closes quarantine entries of windows and listings that have been answered without rejects since, by any request. */
export async function closeQuarantine(store: Store, nowMs: number): Promise<void> {
  const open = await store.kysely
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select(['f.id as fetchId', 'f.target', 'f.series_id', 'f.from_at', 'f.to_at', 'f.geo_ids'])
    .distinct()
    .where('q.resolved_at', 'is', null)
    .execute()
  const leftOf = createAnswered(store.kysely, true)
  const closed: number[] = []
  for (const { series_id, from_at, to_at, geo_ids, ...row } of open) {
    const left = await leftOf({
      ...row,
      seriesId: series_id,
      window: from_at === null || to_at === null ? null : { from: from_at, to: to_at },
      geoIds: numbersOf(geo_ids),
    })
    if (left.length === 0) closed.push(row.fetchId)
  }
  if (closed.length === 0) return
  await store.write(async (tx) => {
    for (const fetchId of closed)
      await openOf(tx, fetchId)
        .set({ resolved_at: formatMillis(nowMs) })
        .execute()
  })
}
