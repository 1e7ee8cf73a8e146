import type { Instant } from '../base/instant.ts'
import { type Interval, subtract } from '../base/interval.ts'
import type { Store } from '../db/open.ts'
import { ALL_GEOS, type Ask } from '../job/ask.ts'
import type { Observations } from '../tables/rows.ts'

interface Covered extends Interval {
  readonly state: string
  readonly fetchedAt: Instant
}

/** Neighbours of one state are one row; provisional ones only when they were fetched together, for each is asked again in its own time. */
function mergeCovered(rows: readonly Covered[]): Covered[] {
  const merged: { from: Instant; to: Instant; state: string; fetchedAt: Instant }[] = []
  for (const row of [...rows].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1)
    const joins =
      last !== undefined &&
      last.to === row.from &&
      last.state === row.state &&
      (row.state !== 'provisional' || last.fetchedAt === row.fetchedAt)
    if (joins) {
      last.to = row.to
      last.fetchedAt = Math.min(last.fetchedAt, row.fetchedAt)
    } else merged.push({ ...row })
  }
  return merged
}

/** What an answer makes of its window: final where it is past revision, empty there when nothing came, provisional otherwise. */
function statesOf(window: Interval, settled: Instant, hasRows: boolean, fetchedAt: Instant): Covered[] {
  const border = Math.min(Math.max(settled, window.from), window.to)
  return [
    { from: window.from, to: border, state: hasRows ? 'final' : 'empty', fetchedAt },
    { from: border, to: window.to, state: 'provisional', fetchedAt },
  ].filter(({ from, to }) => from < to)
}

/** Whether values of a window are held. */
const holds = (store: Store, seriesId: number, geoId: number, { from, to }: Interval): boolean =>
  store.get(
    `select 1 from series_geo g join observation o on o.series_id = g.series_id and o.geo_id = g.geo_id
     where g.series_id = ? and (? = 0 or g.geo_id = ?) and o.at between ? and ? limit 1`,
    [seriesId, geoId, geoId, from, to - 1],
  ) !== undefined

/** Records a window as held, for every geo that was asked. `open`: nothing of it counts as final, whatever its age. */
export function cover(store: Store, seriesId: number, ask: Ask, rows: Observations, now: Instant, open: boolean): void {
  const { window } = ask
  if (!window) return
  for (const geoId of ask.geoIds) {
    const has = rows.at.some((_, i) => geoId === ALL_GEOS || rows.geoIds[i] === geoId)
    // An answer without the values that it once had is not believed for good: they stay, and it is asked again.
    const doubtful = open || (!has && holds(store, seriesId, geoId, window))
    const settled = doubtful ? window.from : ask.settledBefore
    const touching = store.all(
      `select from_at as "from", to_at as "to", state, fetched_at as "fetchedAt" from _coverage
       where series_id = ? and geo_id = ? and from_at <= ? and to_at >= ?`,
      [seriesId, geoId, window.to, window.from],
    ) as Covered[]
    const kept = touching.flatMap((row) => subtract([row], [window]).map((piece) => ({ ...row, ...piece })))
    const next = mergeCovered([...kept, ...statesOf(window, settled, has, now)])
    for (const row of touching)
      store.run('delete from _coverage where series_id = ? and geo_id = ? and from_at = ?', [seriesId, geoId, row.from])
    for (const row of next)
      store.run(
        'insert into _coverage (series_id, geo_id, from_at, to_at, state, fetched_at) values (?, ?, ?, ?, ?, ?)',
        [seriesId, geoId, row.from, row.to, row.state, row.fetchedAt],
      )
  }
}
