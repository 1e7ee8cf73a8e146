import { formatMillis } from '../base/instant.ts'
import { canonical } from '../base/json.ts'
import { createAnswered } from '../db/answered.ts'
import type { Store } from '../db/open.ts'
import type { Reject } from '../tables/rows.ts'

const MAX_FRAGMENT = 4_096

/** What stood there, as JSON; a part of it where it is long, a word where it cannot be written. */
function fragmentText(fragment: unknown): string {
  try {
    return (canonical(fragment ?? null) ?? 'null').slice(0, MAX_FRAGMENT)
  } catch (error) {
    if (error instanceof RangeError) return '"nested too deeply to be written"'
    throw error
  }
}

/** Where rejects come from: the fetch, its run, and when (epoch milliseconds). */
interface Origin {
  readonly fetchId: number
  readonly runId: number
  readonly ms: number
}

/** Keeps what could not be understood, with its place, the reason and what stood there. */
export function quarantine(store: Store, { fetchId, runId, ms }: Origin, rejects: readonly Reject[]): void {
  for (const { path, reason, fragment } of rejects)
    store.run(
      'insert into _quarantine (run_id, fetch_id, path, reason, fragment, created_at) values (?, ?, ?, ?, ?, ?)',
      [runId, fetchId, path, reason, fragmentText(fragment), formatMillis(ms)],
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
    rejects.filter(({ path, reason }) => !known.some((other) => other.path === path && other.reason === reason)),
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

/** Closes entries of the quarantine by hand, and says why. Answers which of them were open. */
export async function dismiss(store: Store, ids: readonly number[], reason: string, nowMs: number): Promise<number[]> {
  return store.write(async () =>
    ids.filter(
      (id) =>
        store.run('update _quarantine set resolved_at = ?, dismissed = ? where id = ? and resolved_at is null', [
          ...[formatMillis(nowMs), reason, id],
        ]) > 0,
    ),
  )
}
