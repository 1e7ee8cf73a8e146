import type { Transaction } from 'kysely'
import { prepared, preparedInsert } from '../../db/prepared.ts'
import type { Store } from '../../db/store.ts'
import type { Reject } from '../../db/tables/rows.ts'
import type { Database } from '../../db/tables/schema.ts'
import { formatMillis } from '../../util/time/instant.ts'
import { acceptReplies } from './accept.ts'
import { openOf } from './closeQuarantine.ts'
import { fragmentText } from './dismissed.ts'

/** Where rejects come from: the fetch, its run, and when (epoch milliseconds). */
interface Origin {
  readonly fetchId: number
  readonly runId: number
  readonly ms: number
}

/** Stores rejects: path, reason and fragment of the body. */
export async function quarantine(
  tx: Transaction<Database>,
  { fetchId, runId, ms }: Origin,
  rejects: readonly Reject[],
): Promise<void> {
  const origin = { run_id: runId, fetch_id: fetchId, created_at: formatMillis(ms) }
  for (const { path, reason, fragment, observation } of rejects)
    await insertReject.run(tx, {
      ...origin,
      path,
      reason,
      fragment: fragmentText(fragment),
      geo_id: observation?.geoId ?? null,
      at: observation?.at ?? null,
    })
}

const insertReject = preparedInsert('_quarantine', [
  ...(['run_id', 'fetch_id', 'path', 'reason', 'fragment', 'created_at', 'geo_id', 'at'] as const),
])

const knownOf = prepared((db, of: { fetchId: number }) =>
  db.selectFrom('_quarantine').select(['path', 'reason']).where('fetch_id', '=', of.fetchId),
)

/** Updates the quarantine after a reply was parsed again: entries that are understood now are closed, new ones are stored. */
export async function requarantine(
  tx: Transaction<Database>,
  origin: Origin,
  rejects: readonly Reject[],
  nowMs: number,
): Promise<void> {
  const known = await knownOf.all(tx, { fetchId: origin.fetchId })
  if (known.length === 0 && rejects.length === 0) return
  await openOf(tx, origin.fetchId)
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
      // An element of a list has one entry, whatever reason this version gives.
      ({ path, reason }) =>
        !known.some((other) => other.path === path && (other.reason === reason || path.endsWith(']'))),
    ),
  )
}

/**
 * Closes quarantine entries on request of the user, with those of equal reason and fragment of the same series or listing. An
 * answer without open entries is accepted. Returns the entries that were closed.
 */
export async function dismiss(store: Store, ids: readonly number[], reason: string, nowMs: number): Promise<number[]> {
  return store.write(async (tx) => {
    const alike = await tx
      .selectFrom('_quarantine as q')
      .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
      .select(['q.id', 'q.fetch_id'])
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
            .where((of) => of.or([of('f.series_id', 'is not', null), of('f.target', '=', of.ref('o.target'))])),
        ),
      )
      .orderBy('q.id')
      .execute()
    await tx
      .updateTable('_quarantine')
      .set((of) => ({
        resolved_at: formatMillis(nowMs),
        dismissed: reason,
        dismissed_after: of.selectFrom('_fetch').select(({ fn }) => fn.max('id').as('id')),
      }))
      .where(
        'id',
        'in',
        alike.map(({ id }) => id),
      )
      .execute()
    await acceptReplies(tx, new Set(alike.map(({ fetch_id }) => fetch_id)))
    return alike.map(({ id }) => id)
  })
}
