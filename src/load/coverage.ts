import type { Transaction } from 'kysely'
import type { Instant } from '../base/instant.ts'
import type { Interval } from '../base/interval.ts'
import { prepared } from '../db/prepared.ts'
import { ALL_GEOS, type PlannedRequest } from '../job/plannedRequest.ts'
import type { Observations, Place } from '../tables/rows.ts'
import type { Database } from '../tables/schema.ts'
import { absent, seriesPeriods } from './absent.ts'
import { absentBeside, absentNoMore } from './earlier.ts'
import { firstOf, followsStep, holds, lastOf } from './held.ts'
import { withPlaces } from './regular.ts'
import type { StoredSeries } from './series.ts'
import { type Covered, endOf, place, settleAll, subsume, unsettle } from './timeline.ts'

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

/** Two days, as a job has it when it says nothing. */
const DEFAULT_LOOKBACK = 172_800

/** A geo whose last value is older than this has ended. */
const ENDED = 182 * 86_400

/**
 * What an answer for all geos leaves in doubt of the geos that it lacks: the whole window where values of one are held in it;
 * else what is past revision of it, unless the geo follows no step, begins later, or ended long before.
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
    const [first, last] = [await firstOf.first(tx, { seriesId, geoId }), await lastOf.first(tx, { seriesId, geoId })]
    if (!first || !last) continue
    if (await holds(tx, seriesId, geoId, window)) {
      missing.push({ geoId, ...window })
      continue
    }
    const to = Math.min(window.to, settledBefore)
    const isExpected = window.from < to && to > first.at && window.from < last.at + ENDED
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

/** Since when a geo is missing: what borders on a stretch in which it was missed before goes on with it. */
const missingSince = async (
  tx: Transaction<Database>,
  seriesId: number,
  { geoId, from, to }: Interval & { geoId: number },
  now: Instant,
): Promise<Instant> => (await doubtBeside.first(tx, { seriesId, geoId, from, to }))?.since ?? now

/** How an answer is to be taken. */
export interface Taking {
  /** It is not believed as a whole. */
  readonly open: boolean
  /** The geos that nobody knew before. */
  readonly born?: readonly number[]
  /** What in it could not be understood and was dismissed before: the values that it would be, where that is told. */
  readonly dismissed?: readonly (Place | undefined)[]
}

/**
 * Records what was answered in a window, for every geo that was requested, and what was not in the answer. Whether it is past
 * revision is not said: whoever asks judges it by an own lookback.
 */
export async function cover(
  tx: Transaction<Database>,
  series: StoredSeries,
  planned: PlannedRequest,
  rows: Observations,
  now: Instant,
  { open, born = [], dismissed = [] }: Taking,
): Promise<void> {
  const { window } = planned
  if (!window) return absentNoMore(tx, { series, planned, rows, now })
  const seriesId = series.id
  const lookbackS = await longestLookback(tx, series, planned)
  const present = new Set(rows.geoIds)
  const places = dismissed.flatMap((place) => place ?? [])
  const answered = new Set([...present, ...places.map(({ geoId }) => geoId)])
  const followed = await seriesPeriods(tx, { series, planned, window, rows })
  const periods = followed?.isCalendar ? followed : undefined
  if (periods && born.length > 0) await unsettle(tx, seriesId, periods)
  const put = (geoId: number, state: Covered['state'], stretch: Interval = window, since = now): Promise<void> =>
    place(
      tx,
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
    const has = geoId === ALL_GEOS ? present.size > 0 : present.has(geoId)
    const held = !has && (await holds(tx, seriesId, geoId, window))
    // An answer without the values that it once had is not believed: they stay, and it is requested again.
    const doubtful = open || (held && dismissed.length === 0)
    const lacking: (Interval & { geoId: number; since: Instant })[] = []
    if (geoId === ALL_GEOS && !doubtful && has)
      for (const one of await missingGeos(tx, series, window, answered, Math.min(planned.settledBefore, now)))
        lacking.push({ ...one, since: await missingSince(tx, seriesId, one, now) })
    if (geoId === ALL_GEOS) await subsume(tx, seriesId, window, periods)
    await put(geoId, doubtful ? 'doubt' : has || held ? 'values' : 'empty')
    if (doubtful) doubted.push(geoId)
    for (const missing of lacking) {
      await put(missing.geoId, 'doubt', missing, missing.since)
      doubted.push(missing.geoId)
    }
  }
  if (!planned.geoIds.includes(ALL_GEOS)) await settleAll(tx, seriesId, window, lookbackS, now, periods)
  // What was dismissed without a place, or of a geo of which nothing else came, may be any of what is missing.
  if (places.length < dismissed.length || (dismissed.length > 0 && present.size === 0)) doubted.push(...planned.geoIds)
  else doubted.push(...[...answered].filter((geoId) => !present.has(geoId)))
  const answer = { series, planned, window, rows: withPlaces(rows, places), now, doubted: new Set(doubted) }
  await absent(tx, answer)
  await absentBeside(tx, answer, born, lookbackS)
}
