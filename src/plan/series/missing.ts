import { type Interval, merge, subtract } from '../../base/time/interval.ts'
import { ALL_GEOS } from '../../job/plannedRequest.ts'
import type { CoveredInterval, SeriesState } from '../../job/plannerState.ts'
import { type Freshness, stillGood } from '../held.ts'
import type { Planning } from '../planning.ts'
import { borderUnit } from '../windows.ts'
import type { EntrySeries } from './entrySeries.ts'

/** The intervals that need not be requested for a geo. Coverage of the geo alone goes before coverage of all geos. */
function goodOf(geoId: number, { coverage }: SeriesState, freshness: Freshness): Interval[] {
  const own: CoveredInterval[] = []
  const all: CoveredInterval[] = []
  const others: CoveredInterval[] = []
  for (const row of coverage) (row.geoId === ALL_GEOS ? all : row.geoId === geoId ? own : others).push(row)
  const good = (rows: readonly CoveredInterval[]): Interval[] => rows.map((row) => stillGood(row, freshness))
  if (geoId !== ALL_GEOS) return merge([...good(own), ...subtract(good(all), own)])
  // Where one geo is in doubt, all geos are requested again.
  const doubted = others.filter(({ state }) => state === 'doubt')
  return subtract(good(all), subtract(doubted, good(doubted)))
}

/** The intervals of a range that an entry has to request for a geo of one of its series. */
export function missingOf(
  { service, now, options }: Planning,
  { entry: { timeTrunc, lookback, refresh }, state, periods }: EntrySeries,
  wanted: Interval,
  geoId: number,
): Interval[] {
  if (options.restate || state.coverage.length === 0) return subtract([wanted], [])
  const zone = service.timeZone
  return subtract(
    [wanted],
    goodOf(geoId, state, { zone, now, lookback, refresh, unit: borderUnit(timeTrunc), periods }),
  )
}
