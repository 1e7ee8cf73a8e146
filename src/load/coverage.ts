import type { Instant } from '../base/instant.ts'
import type { Interval } from '../base/interval.ts'
import type { Store } from '../db/open.ts'
import { ALL_GEOS, type PlannedRequest } from '../job/plannedRequest.ts'
import type { Observations, Place } from '../tables/rows.ts'
import { absent, absentBefore, followsStep, geosOf, seriesPeriods } from './absent.ts'
import { withPlaces } from './regular.ts'
import { type Covered, endOf, holds, place, settleAll, subsume, unsettle } from './timeline.ts'

/** The longest lookback that a series was asked with so far, this ask included. */
function longestLookback(store: Store, seriesId: number, { lookbackS }: PlannedRequest): number {
  const known = store.get('select lookback_s from series where id = ?', [seriesId]) as number | null
  if (lookbackS === null || (known !== null && known >= lookbackS)) return known ?? lookbackS ?? DEFAULT_LOOKBACK
  store.run('update series set lookback_s = ? where id = ?', [lookbackS, seriesId])
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
 * Records what was answered in a window, for every geo that was asked, and what was not in the answer. Whether it is past
 * revision is not said: whoever asks judges it by an own lookback.
 */
export function cover(
  store: Store,
  seriesId: number,
  planned: PlannedRequest,
  rows: Observations,
  now: Instant,
  { open, born = [], dismissed = [] }: Taking,
): void {
  const { window } = planned
  if (!window) return
  const lookbackS = longestLookback(store, seriesId, planned)
  const present = new Set(rows.geoIds)
  const places = dismissed.flatMap((place) => place ?? [])
  const answered = new Set([...present, ...places.map(({ geoId }) => geoId)])
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
    const has = geoId === ALL_GEOS ? present.size > 0 : present.has(geoId)
    const held = !has && holds(store, seriesId, geoId, window)
    // An answer without the values that it once had is not believed: they stay, and it is asked again.
    const doubtful = open || (held && dismissed.length === 0)
    const lacking =
      geoId !== ALL_GEOS || doubtful || !has
        ? []
        : missingGeos(store, seriesId, window, answered, Math.min(planned.settledBefore, now)).map((missing) => ({
            ...missing,
            since: missingSince(store, seriesId, missing, now),
          }))
    if (geoId === ALL_GEOS) subsume(store, seriesId, window, periods)
    put(geoId, doubtful ? 'doubt' : has || held ? 'values' : 'empty')
    if (doubtful) doubted.push(geoId)
    for (const missing of lacking) {
      put(missing.geoId, 'doubt', missing, missing.since)
      doubted.push(missing.geoId)
    }
  }
  if (!planned.geoIds.includes(ALL_GEOS)) settleAll(store, seriesId, window, lookbackS, now, periods)
  // What was dismissed without a place, or of a geo of which nothing else came, may be any of what is missing.
  if (places.length < dismissed.length || (dismissed.length > 0 && present.size === 0)) doubted.push(...planned.geoIds)
  else doubted.push(...[...answered].filter((geoId) => !present.has(geoId)))
  const answer = { seriesId, planned, window, rows: withPlaces(rows, places), now, doubted: new Set(doubted) }
  absentBefore(store, answer, born)
  absent(store, answer)
}
