import { formatMillis } from '../base/instant.ts'
import { createAnswered } from '../db/answered.ts'
import type { Store } from '../db/open.ts'
import type { Reject } from '../tables/rows.ts'
import { acceptAnswers } from './accept.ts'
import { fragmentText } from './dismissed.ts'

/** Where rejects come from: the fetch, its run, and when (epoch milliseconds). */
interface Origin {
  readonly fetchId: number
  readonly runId: number
  readonly ms: number
}

/** Keeps what could not be understood, with its place, the reason and what stood there. */
export function quarantine(store: Store, { fetchId, runId, ms }: Origin, rejects: readonly Reject[]): void {
  for (const { path, reason, fragment, place } of rejects)
    store.run(
      `insert into _quarantine (run_id, fetch_id, path, reason, fragment, created_at, geo_id, at)
       values (?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        ...[runId, fetchId, path, reason, fragmentText(fragment), formatMillis(ms)],
        ...[place?.geoId ?? null, place?.at ?? null],
      ],
    )
}

/** What another reading of a reply makes of its place in quarantine: what is understood now is resolved, what is new is kept. */
export function requarantine(store: Store, origin: Origin, rejects: readonly Reject[], nowMs: number): void {
  const known = store.all('select path, reason from _quarantine where fetch_id = ?', [origin.fetchId]) as Reject[]
  if (known.length === 0 && rejects.length === 0) return
  store.run(
    `update _quarantine set resolved_at = ?
     where fetch_id = ? and resolved_at is null and path not in (select value from json_each(?))`,
    [formatMillis(nowMs), origin.fetchId, JSON.stringify(rejects.map(({ path }) => path))],
  )
  quarantine(
    store,
    origin,
    rejects.filter(
      // One element has one entry, however this version words the reason.
      ({ path, reason }) =>
        !known.some((other) => other.path === path && (other.reason === reason || path.endsWith(']'))),
    ),
  )
}

interface OpenRow {
  readonly fetchId: number
  readonly target: string
  readonly series_id: number | null
  readonly from_at: number | null
  readonly to_at: number | null
  readonly geo_ids: string | null
}

/** Closes what is in quarantine of windows and listings that were read soundly since, by whatever requests. */
export async function closeQuarantine(store: Store, nowMs: number): Promise<void> {
  const open = store.all(`select distinct f.id as "fetchId", f.target, f.series_id, f.from_at, f.to_at, f.geo_ids
    from _quarantine q join _fetch f on f.id = q.fetch_id where q.resolved_at is null`) as OpenRow[]
  const left = createAnswered(store, true)
  const closed = open.filter(
    ({ series_id, from_at, to_at, geo_ids, ...row }) =>
      left({
        ...row,
        seriesId: series_id,
        window: from_at === null || to_at === null ? null : { from: from_at, to: to_at },
        geoIds: geo_ids === null ? null : geo_ids.split(',').map(Number),
      }).length === 0,
  )
  if (closed.length === 0) return
  await store.write(async () => {
    for (const { fetchId } of closed)
      store.run('update _quarantine set resolved_at = ? where fetch_id = ? and resolved_at is null', [
        ...[formatMillis(nowMs), fetchId],
      ])
  })
}

/**
 * Closes entries of the quarantine by hand, with those that say the same of the same series or listing, and says why. An
 * answer of which nothing is open any more is accepted. Answers which entries were closed.
 */
export async function dismiss(store: Store, ids: readonly number[], reason: string, nowMs: number): Promise<number[]> {
  return store.write(async () => {
    const alike = store.all(
      `select q.id, q.fetch_id as "fetchId" from _quarantine q join _fetch f on f.id = q.fetch_id
       where q.resolved_at is null and exists (
         select 1 from _quarantine d join _fetch o on o.id = d.fetch_id
         where d.id in (select value from json_each(?)) and d.resolved_at is null and d.reason = q.reason and d.fragment = q.fragment
           and f.series_id is o.series_id and (f.series_id is not null or f.target = o.target))
       order by q.id`,
      [JSON.stringify(ids)],
    ) as { id: number; fetchId: number }[]
    for (const { id } of alike)
      store.run(
        `update _quarantine set resolved_at = ?, dismissed = ?, dismissed_after = (select max(id) from _fetch) where id = ?`,
        [formatMillis(nowMs), reason, id],
      )
    acceptAnswers(store, new Set(alike.map(({ fetchId }) => fetchId)))
    return alike.map(({ id }) => id)
  })
}
