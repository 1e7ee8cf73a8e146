import type { Transaction } from 'kysely'
import { DAY, type Instant } from '../../base/time/instant.ts'
import type { Interval } from '../../base/time/interval.ts'
import { prepared } from '../../db/prepared.ts'
import { DEFAULT_LOOKBACK } from '../../job/normalize.ts'
import type { PlannedRequest } from '../../job/plannedRequest.ts'
import type { ObservationKey, Observations } from '../../tables/rows.ts'
import type { Database } from '../../tables/schema.ts'
import type { CoveredState } from '../../tables/series.ts'
import { ALL_GEOS } from '../../tables/sql/allGeos.ts'
import type { StoredSeries } from '../storedSeries.ts'
import { recordAbsences, seriesPeriods } from './absent.ts'
import { endAbsences, recordEarlierAbsences } from './earlier.ts'
import { firstValueOf, followsStep, hasValues, lastValueOf } from './held.ts'
import { rangesByGeo, withObservations } from './regular.ts'
import { clearDoubtOfAll, lastPeriodEnd, limitSettled, putCoverage, subsume } from './timeline.ts'

/** The longest lookback that a series was requested with so far, this request included. */
async function longestLookback(
  tx: Transaction<Database>,
  { id, lookbackS: known }: StoredSeries,
  { lookbackS }: PlannedRequest,
): Promise<number> {
  if (lookbackS === null || (known !== null && known >= lookbackS)) return known ?? lookbackS ?? DEFAULT_LOOKBACK
  await tx.updateTable('series').set({ lookback_s: lookbackS }).where('id', '=', id).execute()
  return lookbackS
}

/** Seconds. A geo whose last value is older is taken to have ended. */
const GEO_ENDED_AFTER_S = 182 * DAY

/**
 * Intervals in doubt because an answer for all geos lacks a geo: the whole window where values of that geo are stored in it,
 * else the part past revision, unless the geo follows no step, begins later, or ended long before.
 */
async function missingGeos(
  tx: Transaction<Database>,
  { id: seriesId, geoIds }: StoredSeries,
  window: Interval,
  answered: ReadonlySet<number>,
  settledBefore: Instant,
): Promise<(Interval & { geoId: number })[]> {
  const missing: (Interval & { geoId: number })[] = []
  for (const geoId of geoIds) {
    if (answered.has(geoId)) continue
    const [first, last] = [
      await firstValueOf.first(tx, { seriesId, geoId }),
      await lastValueOf.first(tx, { seriesId, geoId }),
    ]
    if (!first || !last) continue
    if (await hasValues(tx, seriesId, geoId, window)) {
      missing.push({ geoId, ...window })
      continue
    }
    const to = Math.min(window.to, settledBefore)
    const isExpected = window.from < to && to > first.at && window.from < last.at + GEO_ENDED_AFTER_S
    if (isExpected && (await followsStep(tx, seriesId, geoId, window))) missing.push({ geoId, from: window.from, to })
  }
  return missing
}

const doubtBeside = prepared((db, of: Interval & { seriesId: number; geoId: number }) =>
  db
    .selectFrom('_coverage')
    .select(({ fn }) => fn.min('since_at').as('since'))
    .where('series_id', '=', of.seriesId)
    .where('geo_id', '=', of.geoId)
    .where('state', '=', 'doubt')
    .where('from_at', '<=', of.to)
    .where('to_at', '>=', of.from),
)

/** Since when a geo is missing: an adjacent interval in doubt continues, with its time. */
const missingSince = async (
  tx: Transaction<Database>,
  seriesId: number,
  { geoId, from, to }: Interval & { geoId: number },
  now: Instant,
): Promise<Instant> => Math.min((await doubtBeside.first(tx, { seriesId, geoId, from, to }))?.since ?? now, now)

/** What is known of an answer apart from its rows. */
export interface AnswerState {
  /** Whether it is not trusted as a whole: something in it could not be understood. */
  readonly doubtful: boolean
  /** The geos that came for the first time. */
  readonly newGeoIds?: readonly number[]
  /** What in it could not be understood and was dismissed before: the observations that these would be, where that is known. */
  readonly dismissed?: readonly (ObservationKey | undefined)[]
}

/**
 * Records what was answered in a window for every requested geo, and what the answer lacks. It does not record whether that is
 * past revision: each reader decides that by its own lookback.
 */
export async function cover(
  tx: Transaction<Database>,
  series: StoredSeries,
  planned: PlannedRequest,
  rows: Observations,
  now: Instant,
  { doubtful, newGeoIds = [], dismissed = [] }: AnswerState,
): Promise<void> {
  const { window } = planned
  if (!window) return endAbsences(tx, { series, planned, rows, now })
  const seriesId = series.id
  const lookbackS = await longestLookback(tx, series, planned)
  const present = new Set(rangesByGeo(rows).keys())
  const keys = dismissed.flatMap((key) => key ?? [])
  const answered = new Set([...present, ...keys.map(({ geoId }) => geoId)])
  const followed = await seriesPeriods(tx, { series, planned, window, rows })
  const periods = followed?.isCalendar ? followed : undefined
  if (periods && newGeoIds.length > 0) await limitSettled(tx, seriesId, periods)
  const put = (geoId: number, state: CoveredState, interval: Interval = window, since = now): Promise<void> =>
    putCoverage(
      tx,
      seriesId,
      {
        geoId,
        from: interval.from,
        to: interval.to,
        state,
        fetchedAt: now,
        settledS: now - lastPeriodEnd(interval, periods),
        sinceAt: state === 'doubt' ? since : null,
      },
      lookbackS,
      now,
      periods,
    )
  const doubted: number[] = []
  for (const geoId of planned.geoIds) {
    const has = geoId === ALL_GEOS ? present.size > 0 : present.has(geoId)
    const held = !has && (await hasValues(tx, seriesId, geoId, window))
    // An answer without values that are stored is not trusted: they stay, and the window is requested again.
    const inDoubt = doubtful || (held && dismissed.length === 0)
    const lacking: (Interval & { geoId: number; since: Instant })[] = []
    if (geoId === ALL_GEOS && !inDoubt && has)
      for (const one of await missingGeos(tx, series, window, answered, Math.min(planned.settledBefore, now)))
        lacking.push({ ...one, since: await missingSince(tx, seriesId, one, now) })
    if (geoId === ALL_GEOS) await subsume(tx, seriesId, window, periods)
    await put(geoId, inDoubt ? 'doubt' : has || held ? 'values' : 'empty')
    if (inDoubt) doubted.push(geoId)
    for (const missing of lacking) {
      await put(missing.geoId, 'doubt', missing, missing.since)
      doubted.push(missing.geoId)
    }
  }
  if (!planned.geoIds.includes(ALL_GEOS)) await clearDoubtOfAll(tx, seriesId, window, lookbackS, now, periods)
  // A dismissed reject without instant and geo, or of a geo without other values, may be any of the missing values.
  if (keys.length < dismissed.length || (dismissed.length > 0 && present.size === 0)) doubted.push(...planned.geoIds)
  else doubted.push(...[...answered].filter((geoId) => !present.has(geoId)))
  const answer = { series, planned, window, rows: withObservations(rows, keys), now, doubted: new Set(doubted) }
  await recordAbsences(tx, answer)
  await recordEarlierAbsences(tx, answer, newGeoIds, lookbackS)
}
