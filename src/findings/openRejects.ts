import type { Reader } from '../db/store.ts'
import { listTurn } from '../plan/turns.ts'
import type { AnyParams } from '../service/routes.ts'

/** A reason without the values in it: `value "x" is not a number` and `value "y" is not a number` are of one kind. */
const reasonKind = (reason: string): string => reason.replaceAll(/"(?:[^"\\]|\\.)*"|\d+/g, '…')

/**
 * Reads the open quarantine entries, in order of their replies. Entries with the same `key` come from one series, or one listing of any
 * day, and have reasons of one kind: a person dismisses all or none of them.
 */
export async function readOpenRejects({ kysely }: Pick<Reader, 'kysely'>) {
  const rows = await kysely
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .innerJoin('_run as r', 'r.id', 'f.run_id')
    .leftJoin('series as s', 's.id', 'f.series_id')
    .select(['q.id', 'q.fetch_id', 'q.path', 'q.reason', 'q.fragment', 'f.series_id', 'f.target', 'f.finished_at'])
    .select(['f.route', 'f.params', 'f.rows_rejected', 'f.run_id', 'r.job_id'])
    .select(['s.kind', 's.indicator_id', 's.time_trunc', 's.geo_agg'])
    .select(({ selectFrom }) =>
      selectFrom('_quarantine as a')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .whereRef('a.fetch_id', '=', 'q.fetch_id')
        .as('stored'),
    )
    .where('q.resolved_at', 'is', null)
    .orderBy('q.fetch_id')
    .orderBy('q.id')
    .execute()
  return rows.map((row) => {
    const list = row.series_id ?? listTurn(row.route, JSON.parse(row.params) as AnyParams, false)
    return { ...row, key: `${list} ${reasonKind(row.reason)}` }
  })
}

type OpenReject = Awaited<ReturnType<typeof readOpenRejects>>[number]

/**
 * Counts different rejects of some replies: a later reply may repeat those of an earlier one. Of a reply with many, only the first ones
 * are stored.
 */
export function countRejects(entries: readonly OpenReject[]): number {
  const most = new Map<string | null, number>()
  let unlisted = 0
  for (const reply of Map.groupBy(entries, ({ fetch_id }) => fetch_id).values()) {
    for (const [fragment, alike] of Map.groupBy(reply, (entry) => entry.fragment))
      most.set(fragment, Math.max(most.get(fragment) ?? 0, alike.length))
    unlisted = Math.max(unlisted, reply[0]!.rows_rejected - Number(reply[0]!.stored))
  }
  return [...most.values()].reduce((sum, n) => sum + n, unlisted)
}
