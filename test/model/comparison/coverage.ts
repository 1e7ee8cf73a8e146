/* Compares the stored ranges (S1–S16), and when each geo was last fetched. */
import { DAY, HOUR, unitsOf } from '../calendar.ts'
import { judgeState } from '../judgedState.ts'
import type { SeriesTruth } from '../oracle.ts'
import { differ, type Scene, timeText } from '../scene.ts'
import { contains, type Interval, includesGeo, unitOf } from '../units.ts'
import type { StoredSeries } from './storedSeries.ts'

interface CoverageRow extends Interval {
  readonly geo: number
  readonly state: string
  readonly at: number
}

/** Returns the geos of which a series was requested, with its known ones; null: all. */
export function requestedGeos({ values, events }: SeriesTruth): (number | null)[] {
  const requested = events
    .filter(({ request }) => request.window)
    .flatMap(({ request }): readonly (number | null)[] => request.geos ?? [null])
  return [...new Set([...values.keys(), ...requested])]
}

/** Returns the units that were ever requested of a series, in order. */
function requestedUnits({ events }: SeriesTruth, trunc: string | null): Interval[] {
  const units = events.flatMap(({ request: { window } }) =>
    window ? unitsOf(window.from, window.to, unitOf(trunc)) : [],
  )
  return [...new Map(units.map((unit) => [unit.from, unit])).values()].sort((a, b) => a.from - b.from)
}

/** Expects exactly the fetched units to be stored, and no unit to look fresher, or older before it is settled. */
export function compareCoverage(scene: Scene, { id, key, trunc }: StoredSeries, truth: SeriesTruth): void {
  const rows = scene.program
    .store()
    .all(
      'select geo_id as geo, from_at as "from", to_at as "to", state, fetched_at as at from _coverage where series_id = ?',
      [id],
    ) as CoverageRow[]
  const units = requestedUnits(truth, trunc)
  for (const geo of requestedGeos(truth))
    for (const unit of units) {
      const about = rows.filter((row) => (row.geo === 0 || row.geo === geo) && contains(row, unit))
      scene.tally.comparisons++
      compareUnit(scene, key, truth, unit, geo, about)
    }
}

/** Compares a unit for a geo, or (null) for all, with the rows that contain it. */
function compareUnit(
  { shortest }: Scene,
  key: string,
  truth: SeriesTruth,
  unit: Interval,
  geo: number | null,
  rows: readonly CoverageRow[],
): void {
  const judged = judgeState(truth, unit, geo)
  // A reply for a single geo takes precedence over a reply for all.
  const row = rows.find((one) => one.geo !== 0) ?? rows[0]
  const place = `coverage of ${key}, geo ${geo ?? 'all'}, ${timeText(unit.from)}`
  const isVerified = row !== undefined && row.state !== 'unverified'
  if (judged.state === 'uncovered' && isVerified) differ(`${place}: verified, but never loaded`, judged, row)
  if (judged.state === 'unverified' && isVerified) differ(`${place}: verified, though it is not`, judged, row)
  if (judged.state !== 'complete') return
  if (!isVerified) differ(`${place}: loaded, but not stored`, judged, rows)
  if (row.at > judged.at) differ(`${place}: fresher than it is`, judged, row)
  // Only units settled for the longest lookback may be merged with older ones (S16).
  const isSettled = judged.at >= unit.to + (shortest.get(key) ?? 2) * DAY - HOUR
  if (row.at < judged.at && !isSettled && geo !== null)
    differ(`${place}: older than it is, and not settled`, judged, row)
}

/** Compares the last successful request of each geo. */
export function compareFreshness({ program, tally }: Scene, { id, key }: StoredSeries, truth: SeriesTruth): void {
  const rows = program
    .store()
    .all('select geo_id as geo, checked_at as at from freshness where series_id = ?', [id]) as {
    geo: number
    at: string
  }[]
  const loaded = truth.events.filter(({ outcome }) => outcome === 'loaded')
  // A reply about one instant may count for all geos.
  const lastInstant = loaded.findLast(({ request }) => request.window === null)
  for (const { geo, at } of rows) {
    const last = loaded.findLast(({ request }) => includesGeo(request, geo))
    tally.comparisons++
    const checked = Date.parse(at) / 1000
    if (last && checked !== last.at && checked !== lastInstant?.at)
      differ(`freshness of ${key}, geo ${geo}`, new Date(last.at * 1000), at)
  }
}
