import type { Kysely, Transaction } from 'kysely'
import type { Instant } from '../../base/time/instant.ts'
import { type Interval, intersect, subtract } from '../../base/time/interval.ts'
import type { Periods } from '../../base/time/periods.ts'
import { prepared, preparedInsert } from '../../db/prepared.ts'
import { geosOf } from '../../db/queries/seriesIdentity.ts'
import type { CoveredInterval } from '../../job/plannerState.ts'
import type { Database } from '../../tables/schema.ts'
import { ALL_GEOS } from '../../tables/sql/allGeos.ts'
import { hasValues } from './held.ts'

/** Seconds. Answers fetched this close to each other count as fetched at once. */
const SAME_TIME_S = 900
/** Seconds. The age of an older answer is never a reason to request it again, so it need not be kept exactly. */
const OLD_ANSWER_S = 12 * 3600

/** Whether two adjacent rows may become one without either part looking older or fresher than it is to any reader. */
function canMergeCovered(a: CoveredInterval, b: CoveredInterval, lookbackS: number, now: Instant): boolean {
  if (a.to !== b.from || a.state !== b.state || a.sinceAt !== b.sinceAt) return false
  if (a.fetchedAt === b.fetchedAt) return true
  // An interval in doubt is requested again as a whole, so its age may be that of its oldest part.
  if (a.state !== 'doubt' && Math.min(a.settledS, b.settledS) < lookbackS) return false
  return Math.abs(a.fetchedAt - b.fetchedAt) <= SAME_TIME_S || Math.max(a.fetchedAt, b.fetchedAt) <= now - OLD_ANSWER_S
}

function mergeCovered(rows: readonly CoveredInterval[], lookbackS: number, now: Instant): CoveredInterval[] {
  const merged: CoveredInterval[] = []
  for (const row of [...rows].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1)
    if (last && canMergeCovered(last, row, lookbackS, now))
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

/** What is left of a row outside a window. A part may end sooner than the whole, and so may have been past revision for longer. */
const without = (row: CoveredInterval, window: Interval, periods?: Periods): CoveredInterval[] =>
  subtract([row], [window]).map((part) => ({
    ...row,
    ...part,
    settledS: Math.max(row.settledS, row.fetchedAt - lastPeriodEnd(part, periods)),
  }))

/** When the last period that begins in an interval has ended. */
export const lastPeriodEnd = ({ to }: Interval, periods?: Periods): Instant => Math.max(to, periods?.ceil(to) ?? to)

const coverageRows = (db: Kysely<Database>, of: { seriesId: number }) =>
  db
    .selectFrom('_coverage')
    .select(['geo_id as geoId', 'from_at as from', 'to_at as to', 'state', 'fetched_at as fetchedAt'])
    .select(['settled_s as settledS', 'since_at as sinceAt'])
    .where('series_id', '=', of.seriesId)

const allCoverage = prepared(coverageRows)
const touchingRows = prepared((db, of: Interval & { seriesId: number; geoId: number }) =>
  coverageRows(db, of).where('geo_id', '=', of.geoId).where('from_at', '<=', of.to).where('to_at', '>=', of.from),
)
const overlappingRows = prepared((db, of: Interval & { seriesId: number }) =>
  coverageRows(db, of).where('from_at', '<', of.to).where('to_at', '>', of.from),
)
const deleteCovered = prepared((db, of: { seriesId: number; geoId: number; from: Instant }) =>
  db
    .deleteFrom('_coverage')
    .where('series_id', '=', of.seriesId)
    .where('geo_id', '=', of.geoId)
    .where('from_at', '=', of.from),
)
const insertColumns = preparedInsert('_coverage', [
  ...(['series_id', 'geo_id', 'from_at', 'to_at', 'state', 'fetched_at', 'settled_s', 'since_at'] as const),
])
const insertCovered = (tx: Transaction<Database>, seriesId: number, row: CoveredInterval): Promise<void> =>
  insertColumns.run(tx, {
    series_id: seriesId,
    geo_id: row.geoId,
    from_at: row.from,
    to_at: row.to,
    state: row.state,
    fetched_at: row.fetchedAt,
    settled_s: row.settledS,
    since_at: row.sinceAt,
  })

/** Stores a row of coverage in place of what was stored for its geo and interval before. */
export async function putCoverage(
  tx: Transaction<Database>,
  seriesId: number,
  row: CoveredInterval,
  lookbackS: number,
  now: Instant,
  periods?: Periods,
): Promise<void> {
  const { geoId } = row
  const first = await touchingRows.all(tx, { seriesId, geoId, from: row.from, to: row.to })
  // What is left of an adjacent row may now be merged with the row next to it.
  const reach = [row, ...first]
  const touching = await touchingRows.all(tx, {
    seriesId,
    geoId,
    from: Math.min(...reach.map(({ from }) => from)),
    to: Math.max(...reach.map(({ to }) => to)),
  })
  const doubted = row.state === 'doubt' ? touching.filter(({ state }) => state === 'doubt') : []
  // What was in doubt before keeps the time at which that began.
  const parts = [
    ...subtract([row], doubted).map((part) => ({ ...row, ...part })),
    ...doubted.flatMap(({ sinceAt, ...old }) =>
      intersect([row], [old]).map((part) => ({ ...row, ...part, sinceAt: Math.min(sinceAt ?? now, now) })),
    ),
  ]
  const kept = touching.flatMap((old) => without(old, row, periods))
  for (const { from } of touching) await deleteCovered.run(tx, { seriesId, geoId, from })
  for (const next of mergeCovered([...kept, ...parts], lookbackS, now)) await insertCovered(tx, seriesId, next)
}

/** Removes what single geos have in a window: an answer for all geos replaces it. */
export async function subsume(
  tx: Transaction<Database>,
  seriesId: number,
  window: Interval,
  periods?: Periods,
): Promise<void> {
  for (const row of await overlappingRows.all(tx, { seriesId, from: window.from, to: window.to })) {
    if (row.geoId === ALL_GEOS) continue
    await deleteCovered.run(tx, { seriesId, geoId: row.geoId, from: row.from })
    for (const part of without(row, window, periods)) await insertCovered(tx, seriesId, part)
  }
}

/** Lowers `settled_s` of rows from before the length of a period was known: a window is past revision only when the last period that begins in it is. */
export async function limitSettled(tx: Transaction<Database>, seriesId: number, periods: Periods): Promise<void> {
  for (const { geoId, from, to, fetchedAt, settledS } of await allCoverage.all(tx, { seriesId }))
    if (periods.ceil(to) > to && settledS > fetchedAt - periods.ceil(to))
      await tx
        .updateTable('_coverage')
        .set({ settled_s: fetchedAt - periods.ceil(to) })
        .where('series_id', '=', seriesId)
        .where('geo_id', '=', geoId)
        .where('from_at', '=', from)
        .execute()
}

/** Ends the doubt about one geo in an interval: its last answer counts. */
export async function clearDoubt(
  tx: Transaction<Database>,
  seriesId: number,
  geoId: number,
  interval: Interval,
): Promise<void> {
  const rows = await overlappingRows.all(tx, { seriesId, from: interval.from, to: interval.to })
  const doubted = rows.filter((row) => row.geoId === geoId && row.state === 'doubt')
  for (const row of doubted) {
    await deleteCovered.run(tx, { seriesId, geoId, from: row.from })
    for (const part of subtract([row], [interval])) await insertCovered(tx, seriesId, { ...row, ...part })
    for (const part of intersect([row], [interval])) {
      const state = (await hasValues(tx, seriesId, geoId, part)) ? 'values' : 'empty'
      await insertCovered(tx, seriesId, { ...row, ...part, state, sinceAt: null })
    }
  }
}

/**
 * Ends the doubt about all geos where every known geo has been answered without rejects by itself since; the result is as old
 * as the oldest of those answers.
 */
export async function clearDoubtOfAll(
  tx: Transaction<Database>,
  seriesId: number,
  window: Interval,
  lookbackS: number,
  now: Instant,
  periods?: Periods,
): Promise<void> {
  const rows = await overlappingRows.all(tx, { seriesId, from: window.from, to: window.to })
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
  for (const part of sound.flatMap((whole) => splitAt(whole, own))) {
    const covering = own.filter(({ from, to }) => from <= part.from && to >= part.to)
    const settled = covering.map((row) => Math.max(row.settledS, row.fetchedAt - lastPeriodEnd(part, periods)))
    const state = covering.some((row) => row.state === 'values') ? 'values' : 'empty'
    const fetchedAt = Math.min(...covering.map((row) => row.fetchedAt))
    const whole = { geoId: ALL_GEOS, ...part, state, fetchedAt, settledS: Math.min(...settled), sinceAt: null } as const
    await putCoverage(tx, seriesId, whole, lookbackS, now, periods)
  }
}

/** An interval split at the borders of others, so that each part is inside or outside each of them. */
function splitAt(whole: Interval, others: readonly Interval[]): Interval[] {
  const borders = others.flatMap(({ from, to }) => [from, to]).filter((at) => at > whole.from && at < whole.to)
  const ends = [...new Set([...borders, whole.to])].sort((a, b) => a - b)
  return ends.map((to, i) => ({ from: ends[i - 1] ?? whole.from, to }))
}
