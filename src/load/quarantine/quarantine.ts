import type { Insertable, Transaction } from 'kysely'
import { prepareQuery } from '../../db/prepared.ts'
import type { Store } from '../../db/store.ts'
import type { Reject } from '../../db/tables/rows.ts'
import type { Database } from '../../db/tables/schema.ts'
import { formatMillis } from '../../util/time/instant.ts'
import { updateOpenEntries } from './closeQuarantine.ts'
import { fragmentText } from './dismissed.ts'

/** The origin of rejects. */
interface Origin {
  readonly fetchId: number
  readonly runId: number
  /** Epoch milliseconds. */
  readonly recordedMs: number
}

/** Stores rejects in the quarantine. */
export async function quarantine(
  tx: Transaction<Database>,
  { fetchId, runId, recordedMs }: Origin,
  rejects: readonly Reject[],
): Promise<void> {
  const origin = { run_id: runId, fetch_id: fetchId, created_at: formatMillis(recordedMs) }
  for (const { path, reason, fragment } of rejects)
    await insertReject.run(tx, { ...origin, path, reason, fragment: fragmentText(fragment) })
}

const insertReject = prepareQuery((db, row: Insertable<Database['_quarantine']>) =>
  db.insertInto('_quarantine').values(row),
)

const entriesByFetch = prepareQuery((db, { fetchId }: { fetchId: number }) =>
  db.selectFrom('_quarantine').select(['path', 'reason']).where('fetch_id', '=', fetchId),
)

/** Updates the quarantine after a reply was parsed again: closes entries that this version can parse, and stores new ones. */
export async function requarantine(
  tx: Transaction<Database>,
  origin: Origin,
  rejects: readonly Reject[],
  nowMs: number,
): Promise<void> {
  const stored = await entriesByFetch.all(tx, { fetchId: origin.fetchId })
  if (stored.length === 0 && rejects.length === 0) return
  await updateOpenEntries(tx, origin.fetchId)
    .set({ resolved_at: formatMillis(nowMs) })
    .where(
      'path',
      'not in',
      rejects.map(({ path }) => path),
    )
    .execute()
  await quarantine(
    tx,
    origin,
    rejects.filter(
      // An element of a list has one entry, even if this version gives another reason.
      ({ path, reason }) =>
        !stored.some((entry) => entry.path === path && (entry.reason === reason || path.endsWith(']'))),
    ),
  )
}

/**
 * Dismisses quarantine entries, with those of equal reason and fragment in the same series or listing. Coverage changes when the
 * range is requested again. Returns the ids of the dismissed entries.
 */
export async function dismiss(store: Store, ids: readonly number[], reason: string, nowMs: number): Promise<number[]> {
  return store.write(async (tx) => {
    const alike = await tx
      .selectFrom('_quarantine as q')
      .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
      .select('q.id')
      .where('q.resolved_at', 'is', null)
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('_quarantine as d')
            .innerJoin('_fetch as o', 'o.id', 'd.fetch_id')
            .select('d.id')
            .where('d.id', 'in', ids)
            .where('d.resolved_at', 'is', null)
            .whereRef('d.reason', '=', 'q.reason')
            .whereRef('d.fragment', '=', 'q.fragment')
            .whereRef('f.series_id', 'is not distinct from', 'o.series_id')
            .where((eb) => eb.or([eb('f.series_id', 'is not', null), eb('f.target', '=', eb.ref('o.target'))])),
        ),
      )
      .orderBy('q.id')
      .execute()
    await tx
      .updateTable('_quarantine')
      .set((eb) => ({
        resolved_at: formatMillis(nowMs),
        dismissed: reason,
        dismissed_after: eb.selectFrom('_fetch').select(({ fn }) => fn.max('id').as('id')),
      }))
      .where(
        'id',
        'in',
        alike.map(({ id }) => id),
      )
      .execute()
    return alike.map(({ id }) => id)
  })
}
