import type { Instant } from '../base/instant.ts'
import { type Interval, intersect, subtract } from '../base/interval.ts'
import type { Periods } from '../base/periods.ts'
import type { Store } from '../db/open.ts'
import { ALL_GEOS } from '../job/plannedRequest.ts'
import { geosOf } from './absent.ts'

/** A row of coverage, with the geo that it is of. */
export interface Covered extends Interval {
  readonly geoId: number
  readonly state: 'values' | 'empty' | 'doubt'
  readonly fetchedAt: Instant
  /** The longest lookback for which every part of it was past revision when it was fetched. */
  readonly settledS: number
  readonly sinceAt: Instant | null
}

/** Fetched within these seconds of each other counts as fetched together. */
const TOGETHER = 900
/** What was fetched longer ago than this is asked for its age alone by nobody: how old exactly does not matter any more. */
const OLD = 12 * 3600

/** Whether two neighbours may be one row without making a part of it look older or fresher than it is to anybody who asks. */
function joins(a: Covered, b: Covered, lookbackS: number, now: Instant): boolean {
  if (a.to !== b.from || a.state !== b.state || a.sinceAt !== b.sinceAt) return false
  if (a.fetchedAt === b.fetchedAt) return true
  // The longer ago a doubt was looked at, the sooner it is again: the whole of it then.
  if (a.state !== 'doubt' && Math.min(a.settledS, b.settledS) < lookbackS) return false
  return Math.abs(a.fetchedAt - b.fetchedAt) <= TOGETHER || Math.max(a.fetchedAt, b.fetchedAt) <= now - OLD
}

function mergeCovered(rows: readonly Covered[], lookbackS: number, now: Instant): Covered[] {
  const merged: Covered[] = []
  for (const row of [...rows].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1)
    if (last && joins(last, row, lookbackS, now))
      merged[merged.length - 1] = {
        ...last,
        to: row.to,
        fetchedAt: Math.min(last.fetchedAt, row.fetchedAt),
        settledS: Math.min(last.settledS, row.settledS),
      }
    else merged.push(row)
  }
  return merged
}

/** What is left of a row without a window. A part ends sooner than the whole, so it may have been past revision for longer. */
const without = (row: Covered, window: Interval, periods?: Periods): Covered[] =>
  subtract([row], [window]).map((part) => ({
    ...row,
    ...part,
    settledS: Math.max(row.settledS, row.fetchedAt - endOf(part, periods)),
  }))

/** When all that begins in a stretch is over. */
export const endOf = ({ to }: Interval, periods?: Periods): Instant => Math.max(to, periods?.ceil(to) ?? to)

const COLUMNS = `geo_id as "geoId", from_at as "from", to_at as "to", state, fetched_at as "fetchedAt", settled_s as "settledS", since_at as "sinceAt"`

const remove = (store: Store, seriesId: number, { geoId, from }: Covered): void => {
  store.run('delete from _coverage where series_id = ? and geo_id = ? and from_at = ?', [seriesId, geoId, from])
}

const insert = (store: Store, seriesId: number, row: Covered): void => {
  store.run(
    `insert into _coverage (series_id, geo_id, from_at, to_at, state, fetched_at, settled_s, since_at)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
    [seriesId, row.geoId, row.from, row.to, row.state, row.fetchedAt, row.settledS, row.sinceAt],
  )
}

/** Whether values of a window are held. */
export const holds = (store: Store, seriesId: number, geoId: number, { from, to }: Interval): boolean =>
  store.get(
    `select 1 from series_geo g join observation o on o.series_id = g.series_id and o.geo_id = g.geo_id
     where g.series_id = ? and (? = 0 or g.geo_id = ?) and o.at between ? and ? limit 1`,
    [seriesId, geoId, geoId, from, to - 1],
  ) !== undefined

/** Puts a window of one geo into its timeline, in place of what was answered there before. */
export function place(
  store: Store,
  seriesId: number,
  row: Covered,
  lookbackS: number,
  now: Instant,
  periods?: Periods,
): void {
  const beside = ({ from, to }: Interval) =>
    store.all(`select ${COLUMNS} from _coverage where series_id = ? and geo_id = ? and from_at <= ? and to_at >= ?`, [
      ...[seriesId, row.geoId, to, from],
    ]) as Covered[]
  const first = beside(row)
  // What is left of a neighbour may now be one with its own neighbour.
  const reach = [row, ...first]
  const touching = beside({
    from: Math.min(...reach.map(({ from }) => from)),
    to: Math.max(...reach.map(({ to }) => to)),
  })
  const doubted = row.state === 'doubt' ? touching.filter(({ state }) => state === 'doubt') : []
  // What was in doubt before has been so since then.
  const parts = [
    ...subtract([row], doubted).map((part) => ({ ...row, ...part })),
    ...doubted.flatMap(({ sinceAt, ...old }) => intersect([row], [old]).map((part) => ({ ...row, ...part, sinceAt }))),
  ]
  const kept = touching.flatMap((old) => without(old, row, periods))
  for (const old of touching) remove(store, seriesId, old)
  for (const next of mergeCovered([...kept, ...parts], lookbackS, now)) insert(store, seriesId, next)
}

/** An answer for all geos is newer than what was answered for one of them: it takes the place of that, too. */
export function subsume(store: Store, seriesId: number, window: Interval, periods?: Periods): void {
  const beside = store.all(
    `select ${COLUMNS} from _coverage where series_id = ? and geo_id <> 0 and from_at < ? and to_at > ?`,
    [seriesId, window.to, window.from],
  ) as Covered[]
  for (const row of beside) {
    remove(store, seriesId, row)
    for (const part of without(row, window, periods)) insert(store, seriesId, part)
  }
}

/** What was answered before anybody knew how long a period is, is past revision only when what begins in it is over. */
export function unsettle(store: Store, seriesId: number, periods: Periods): void {
  const rows = store.all(`select ${COLUMNS} from _coverage where series_id = ?`, [seriesId]) as Covered[]
  for (const { geoId, from, to, fetchedAt, settledS } of rows)
    if (periods.ceil(to) > to && settledS > fetchedAt - periods.ceil(to))
      store.run('update _coverage set settled_s = ? where series_id = ? and geo_id = ? and from_at = ?', [
        ...[fetchedAt - periods.ceil(to), seriesId, geoId, from],
      ])
}

/** Believes what is in doubt of one geo in a stretch, as it was answered. */
export function trust(store: Store, seriesId: number, geoId: number, stretch: Interval): void {
  const doubted = store.all(
    `select ${COLUMNS} from _coverage where series_id = ? and geo_id = ? and state = 'doubt' and from_at < ? and to_at > ?`,
    [seriesId, geoId, stretch.to, stretch.from],
  ) as Covered[]
  for (const row of doubted) {
    remove(store, seriesId, row)
    for (const part of subtract([row], [stretch])) insert(store, seriesId, { ...row, ...part })
    for (const part of intersect([row], [stretch])) {
      const state = holds(store, seriesId, geoId, part) ? 'values' : 'empty'
      insert(store, seriesId, { ...row, ...part, state, sinceAt: null })
    }
  }
}

/**
 * Where all geos are in doubt, and every known one was answered soundly by itself since, nothing is in doubt any more: it is
 * as old as the oldest of those answers.
 */
export function settleAll(
  store: Store,
  seriesId: number,
  window: Interval,
  lookbackS: number,
  now: Instant,
  periods?: Periods,
) {
  const rows = store.all(`select ${COLUMNS} from _coverage where series_id = ? and from_at < ? and to_at > ?`, [
    seriesId,
    window.to,
    window.from,
  ]) as Covered[]
  const doubted = rows.filter(({ geoId, state }) => geoId === ALL_GEOS && state === 'doubt')
  const geos = doubted.length === 0 ? [] : geosOf(store, seriesId)
  if (geos.length === 0) return
  const own = rows.filter(({ geoId, state }) => geoId !== ALL_GEOS && state !== 'doubt')
  const sound = geos.reduce(
    (left, geo) =>
      intersect(
        left,
        own.filter(({ geoId }) => geoId === geo),
      ),
    intersect(doubted, [window]),
  )
  for (const part of sound.flatMap((whole) => cutAt(whole, own))) {
    const over = own.filter(({ from, to }) => from <= part.from && to >= part.to)
    const settled = over.map((row) => Math.max(row.settledS, row.fetchedAt - endOf(part, periods)))
    const state = over.some((row) => row.state === 'values') ? 'values' : 'empty'
    const fetchedAt = Math.min(...over.map((row) => row.fetchedAt))
    const whole = { geoId: ALL_GEOS, ...part, state, fetchedAt, settledS: Math.min(...settled), sinceAt: null } as const
    place(store, seriesId, whole, lookbackS, now, periods)
  }
}

/** A stretch in parts, none of which is partly in one of some others. */
function cutAt(whole: Interval, others: readonly Interval[]): Interval[] {
  const borders = others.flatMap(({ from, to }) => [from, to]).filter((at) => at > whole.from && at < whole.to)
  const ends = [...new Set([...borders, whole.to])].sort((a, b) => a - b)
  return ends.map((to, i) => ({ from: ends[i - 1] ?? whole.from, to }))
}
