import type { Transaction } from 'kysely'
import { createPartFinder, hasLaterInstant, isFailure, isSeriesFetched } from '../../db/queries/fetchOutcomes.ts'
import type { Store } from '../../db/store.ts'
import { isAboutValues } from '../../db/tables/rows.ts'
import type { Database } from '../../db/tables/schema.ts'
import { toWindow } from '../../job/plannedRequest.ts'
import { parseNumbers } from '../../util/json.ts'
import { formatMillis } from '../../util/time/instant.ts'

/** The open quarantine entries of a fetch, for an update. */
export const updateOpenEntries = (tx: Transaction<Database>, fetchId: number) =>
  tx.updateTable('_quarantine').where('fetch_id', '=', fetchId).where('resolved_at', 'is', null)

/**
 * Closes quarantine entries of windows and listings that later replies covered without rejects. Entries about other parts of a series
 * reply are closed by its next reply without rejects, whatever its window. Entries about an instant, such as `now`, are closed when
 * their entry of the job has a reply about another one.
 */
export async function closeQuarantine(store: Store, nowMs: number): Promise<void> {
  const open = await store.kysely
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select([
      'q.id',
      'q.path',
      'f.outcome',
      'f.id as fetchId',
      'f.target',
      'f.series_id',
      'f.from_at',
      'f.to_at',
      'f.geo_ids',
    ])
    .where('q.resolved_at', 'is', null)
    .execute()
  const entriesByFetch = Map.groupBy(open, ({ fetchId }) => fetchId)
  const findMissingParts = createPartFinder(store.kysely, true)
  const closed: number[] = []
  for (const entries of entriesByFetch.values()) {
    const { series_id, from_at, to_at, geo_ids, outcome, ...row } = entries[0]!
    const missing = await findMissingParts({
      ...row,
      seriesId: series_id,
      window: toWindow({ from_at, to_at }),
      geoIds: parseNumbers(geo_ids),
    })
    const isPast = series_id !== null && from_at === null && (await hasLaterInstant(store.kysely, row.fetchId))
    const closable = missing.length === 0 || isPast ? entries : entries.filter((entry) => !isAboutValues(entry))
    const isReplaced =
      missing.length === 0 ||
      isPast ||
      (series_id !== null && !isFailure(outcome) && (await isSeriesFetched(store.kysely, row.fetchId, series_id)))
    if (isReplaced) closed.push(...closable.map(({ id }) => id))
  }
  if (closed.length === 0) return
  await store.write(async (tx) => {
    for (const id of closed)
      await tx
        .updateTable('_quarantine')
        .set({ resolved_at: formatMillis(nowMs) })
        .where('id', '=', id)
        .where('resolved_at', 'is', null)
        .execute()
  })
}
