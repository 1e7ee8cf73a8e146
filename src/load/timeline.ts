import type { Kysely, Transaction } from 'kysely'
import type { Instant } from '../base/instant.ts'
import { type Interval, intersect, subtract } from '../base/interval.ts'
import type { Periods } from '../base/periods.ts'
import { prepared, preparedInsert } from '../db/prepared.ts'
import { geosOf } from '../db/series.ts'
import { ALL_GEOS } from '../job/plannedRequest.ts'
import type { Database } from '../tables/schema.ts'
import { holds } from './held.ts'

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
/** What was fetched longer ago than this is requested for its age alone by nobody: how old exactly does not matter any more. */
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

const rowsOf = (db: Kysely<Database>, of: { seriesId: number }) =>
  db
    .selectFrom('_coverage')
    .select(['geo_id as geoId', 'from_at as from', 'to_at as to', 'state', 'fetched_at as fetchedAt'])
    .select(['settled_s as settledS', 'since_at as sinceAt'])
    .where('series_id', '=', of.seriesId)
    .$narrowType<Pick<Covered, 'state'>>()

const allRows = prepared(rowsOf)
const touchingRows = prepared((db, of: Interval & { seriesId: number; geoId: number }) =>
  rowsOf(db, of).where('geo_id', '=', of.geoId).where('from_at', '<=', of.to).where('to_at', '>=', of.from),
)
const rowsBeside = prepared((db, of: Interval & { seriesId: number }) =>
  rowsOf(db, of).where('from_at', '<', of.to).where('to_at', '>', of.from),
)
const deleteRow = prepared((db, of: { seriesId: number; geoId: number; from: Instant }) =>
  db
    .deleteFrom('_coverage')
    .where('series_id', '=', of.seriesId)
    .where('geo_id', '=', of.geoId)
    .where('from_at', '=', of.from),
)
const insertColumns = preparedInsert('_coverage', [
  ...(['series_id', 'geo_id', 'from_at', 'to_at', 'state', 'fetched_at', 'settled_s', 'since_at'] as const),
])
const insert = (tx: Transaction<Database>, seriesId: number, row: Covered): Promise<number> =>
  insertColumns.run(tx, {
    ...{ series_id: seriesId, geo_id: row.geoId, from_at: row.from, to_at: row.to, state: row.state },
    ...{ fetched_at: row.fetchedAt, settled_s: row.settledS, since_at: row.sinceAt },
  })

/** Puts a window of one geo into its timeline, in place of what was answered there before. */
export async function place(
  tx: Transaction<Database>,
  seriesId: number,
  row: Covered,
  lookbackS: number,
  now: Instant,
  periods?: Periods,
): Promise<void> {
  const { geoId } = row
  const first = await touchingRows.all(tx, { seriesId, geoId, from: row.from, to: row.to })
  // What is left of a neighbour may now be one with its own neighbour.
  const reach = [row, ...first]
  const touching = await touchingRows.all(tx, {
    ...{ seriesId, geoId },
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
  for (const { from } of touching) await deleteRow.run(tx, { seriesId, geoId, from })
  for (const next of mergeCovered([...kept, ...parts], lookbackS, now)) await insert(tx, seriesId, next)
}

/** An answer for all geos is newer than what was answered for one of them: it takes the place of that, too. */
export async function subsume(
  tx: Transaction<Database>,
  seriesId: number,
  window: Interval,
  periods?: Periods,
): Promise<void> {
  for (const row of await rowsBeside.all(tx, { seriesId, from: window.from, to: window.to })) {
    if (row.geoId === ALL_GEOS) continue
    await deleteRow.run(tx, { seriesId, geoId: row.geoId, from: row.from })
    for (const part of without(row, window, periods)) await insert(tx, seriesId, part)
  }
}

/** What was answered before anybody knew how long a period is, is past revision only when what begins in it is over. */
export async function unsettle(tx: Transaction<Database>, seriesId: number, periods: Periods): Promise<void> {
  for (const { geoId, from, to, fetchedAt, settledS } of await allRows.all(tx, { seriesId }))
    if (periods.ceil(to) > to && settledS > fetchedAt - periods.ceil(to))
      await tx
        .updateTable('_coverage')
        .set({ settled_s: fetchedAt - periods.ceil(to) })
        .where('series_id', '=', seriesId)
        .where('geo_id', '=', geoId)
        .where('from_at', '=', from)
        .execute()
}

/** Believes what is in doubt of one geo in a stretch, as it was answered. */
export async function trust(
  tx: Transaction<Database>,
  seriesId: number,
  geoId: number,
  stretch: Interval,
): Promise<void> {
  const rows = await rowsBeside.all(tx, { seriesId, from: stretch.from, to: stretch.to })
  const doubted = rows.filter((row) => row.geoId === geoId && row.state === 'doubt')
  for (const row of doubted) {
    await deleteRow.run(tx, { seriesId, geoId, from: row.from })
    for (const part of subtract([row], [stretch])) await insert(tx, seriesId, { ...row, ...part })
    for (const part of intersect([row], [stretch])) {
      const state = (await holds(tx, seriesId, geoId, part)) ? 'values' : 'empty'
      await insert(tx, seriesId, { ...row, ...part, state, sinceAt: null })
    }
  }
}

/**
 * Where all geos are in doubt, and every known one was answered soundly by itself since, nothing is in doubt any more: it is
 * as old as the oldest of those answers.
 */
export async function settleAll(
  tx: Transaction<Database>,
  seriesId: number,
  window: Interval,
  lookbackS: number,
  now: Instant,
  periods?: Periods,
): Promise<void> {
  const rows = await rowsBeside.all(tx, { seriesId, from: window.from, to: window.to })
  const doubted = rows.filter(({ geoId, state }) => geoId === ALL_GEOS && state === 'doubt')
  const geos = doubted.length === 0 ? [] : await geosOf(tx, seriesId)
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
    await place(tx, seriesId, whole, lookbackS, now, periods)
  }
}

/** A stretch in parts, none of which is partly in one of some others. */
function cutAt(whole: Interval, others: readonly Interval[]): Interval[] {
  const borders = others.flatMap(({ from, to }) => [from, to]).filter((at) => at > whole.from && at < whole.to)
  const ends = [...new Set([...borders, whole.to])].sort((a, b) => a - b)
  return ends.map((to, i) => ({ from: ends[i - 1] ?? whole.from, to }))
}
