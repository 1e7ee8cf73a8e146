import type { Instant } from '../base/instant.ts'
import { type Interval, intersect, subtract } from '../base/interval.ts'
import type { Periods } from '../base/periods.ts'
import type { Store } from '../db/open.ts'
import { ALL_GEOS, type PlannedRequest } from '../job/plannedRequest.ts'
import type { Observations } from '../tables/rows.ts'
import { absent, absentBefore, followsStep, geosOf, seriesPeriods } from './absent.ts'

/** A row of coverage, with the geo that it is of. */
interface Covered extends Interval {
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
const endOf = ({ to }: Interval, periods?: Periods): Instant => Math.max(to, periods?.ceil(to) ?? to)

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
const holds = (store: Store, seriesId: number, geoId: number, { from, to }: Interval): boolean =>
  store.get(
    `select 1 from series_geo g join observation o on o.series_id = g.series_id and o.geo_id = g.geo_id
     where g.series_id = ? and (? = 0 or g.geo_id = ?) and o.at between ? and ? limit 1`,
    [seriesId, geoId, geoId, from, to - 1],
  ) !== undefined

/** The longest lookback that a series was asked with so far, this ask included. */
function longestLookback(store: Store, seriesId: number, { lookbackS }: PlannedRequest): number {
  const known = store.get('select lookback_s from series where id = ?', [seriesId]) as number | null
  if (lookbackS === null || (known !== null && known >= lookbackS)) return known ?? lookbackS ?? DEFAULT_LOOKBACK
  store.run('update series set lookback_s = ? where id = ?', [lookbackS, seriesId])
  return lookbackS
}

/** Two days, as a job has it when it says nothing. */
const DEFAULT_LOOKBACK = 172_800

/** Puts a window of one geo into its timeline, in place of what was answered there before. */
function place(store: Store, seriesId: number, row: Covered, lookbackS: number, now: Instant, periods?: Periods): void {
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
function subsume(store: Store, seriesId: number, window: Interval, periods?: Periods): void {
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
function unsettle(store: Store, seriesId: number, periods: Periods): void {
  const rows = store.all(`select ${COLUMNS} from _coverage where series_id = ?`, [seriesId]) as Covered[]
  for (const { geoId, from, to, fetchedAt, settledS } of rows)
    if (periods.ceil(to) > to && settledS > fetchedAt - periods.ceil(to))
      store.run('update _coverage set settled_s = ? where series_id = ? and geo_id = ? and from_at = ?', [
        ...[fetchedAt - periods.ceil(to), seriesId, geoId, from],
      ])
}

/** A geo whose last value is older than this has ended. */
const ENDED = 182 * 86_400

/**
 * What an answer for all geos leaves in doubt of the geos that it lacks: the whole window where values of one are held in it;
 * else what is past revision of it, unless the geo follows no step, begins later, or ended long before.
 */
function missingGeos(
  store: Store,
  seriesId: number,
  window: Interval,
  answered: ReadonlySet<number>,
  settledBefore: Instant,
): (Interval & { geoId: number })[] {
  const lacking = geosOf(store, seriesId).filter((geoId) => !answered.has(geoId))
  return lacking.flatMap((geoId) => {
    const [first, last] = ['min', 'max'].map((end) =>
      store.get(`select ${end}(at) from observation where series_id = ? and geo_id = ?`, [seriesId, geoId]),
    ) as [Instant | null, Instant | null]
    if (first === null || last === null) return []
    if (holds(store, seriesId, geoId, window)) return { geoId, ...window }
    const to = Math.min(window.to, settledBefore)
    const isExpected = window.from < to && to > first && window.from < last + ENDED
    return isExpected && followsStep(store, seriesId, geoId, window) ? { geoId, from: window.from, to } : []
  })
}

/** Since when a geo is missing: what borders on a stretch in which it was missed before goes on with it. */
const missingSince = (
  store: Store,
  seriesId: number,
  { geoId, from, to }: Interval & { geoId: number },
  now: Instant,
) =>
  (store.get(
    `select min(since_at) from _coverage
     where series_id = ? and geo_id = ? and state = 'doubt' and from_at <= ? and to_at >= ?`,
    [seriesId, geoId, to, from],
  ) as Instant | null) ?? now

/**
 * Records what was answered in a window, for every geo that was asked, and what was not in the answer. Whether it is past
 * revision is not said: whoever asks judges it by an own lookback. `open`: the answer is not believed as a whole. `born`: the
 * geos that nobody knew before.
 */
export function cover(
  store: Store,
  seriesId: number,
  planned: PlannedRequest,
  rows: Observations,
  now: Instant,
  open: boolean,
  born: readonly number[] = [],
): void {
  const { window } = planned
  if (!window) return
  const lookbackS = longestLookback(store, seriesId, planned)
  const answered = new Set(rows.geoIds)
  const followed = seriesPeriods(store, { seriesId, planned, window, rows })
  const periods = followed?.isCalendar ? followed : undefined
  if (periods && born.length > 0) unsettle(store, seriesId, periods)
  const put = (geoId: number, state: Covered['state'], stretch: Interval = window, since = now): void =>
    place(
      store,
      seriesId,
      {
        ...{ geoId, from: stretch.from, to: stretch.to, state, fetchedAt: now },
        settledS: now - endOf(stretch, periods),
        sinceAt: state === 'doubt' ? since : null,
      },
      lookbackS,
      now,
      periods,
    )
  const doubted: number[] = []
  for (const geoId of planned.geoIds) {
    const has = geoId === ALL_GEOS ? answered.size > 0 : answered.has(geoId)
    // An answer without the values that it once had is not believed: they stay, and it is asked again.
    const doubtful = open || (!has && holds(store, seriesId, geoId, window))
    const lacking =
      geoId !== ALL_GEOS || doubtful || !has
        ? []
        : missingGeos(store, seriesId, window, answered, Math.min(planned.settledBefore, now)).map((missing) => ({
            ...missing,
            since: missingSince(store, seriesId, missing, now),
          }))
    if (geoId === ALL_GEOS) subsume(store, seriesId, window, periods)
    put(geoId, doubtful ? 'doubt' : has ? 'values' : 'empty')
    if (doubtful) doubted.push(geoId)
    for (const missing of lacking) {
      put(missing.geoId, 'doubt', missing, missing.since)
      doubted.push(missing.geoId)
    }
  }
  const answer = { seriesId, planned, window, rows, now, doubted: new Set(doubted) }
  absentBefore(store, answer, born)
  absent(store, answer)
}
