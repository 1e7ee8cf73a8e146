import { ALL_GEOS } from '../../db/tables/codes.ts'
import type { SeriesEntry } from '../../job/job.ts'
import type { PlannedRequest } from '../../job/plannedRequest.ts'
import type { SeriesState } from '../../job/plannerState.ts'
import type { Interval } from '../../util/time/interval.ts'
import { isSkipped } from '../freshness.ts'
import type { Planning } from '../planning.ts'
import { sizeFor } from '../sizes.ts'
import { seriesOf } from './entrySeries.ts'
import { type MissingLater, missingGroups } from './missing.ts'
import { splitIntoWindows } from './seriesWindows.ts'

/** The requests of one series: its windows in order, and the request of each, built lazily. */
export interface SeriesRequests {
  readonly windows: readonly Interval[]
  readonly requests: Iterable<PlannedRequest>
}

/** Windows that are requested for the same geos, and whether there is coverage of one of these. */
interface WindowGroup {
  readonly geoIds: readonly number[]
  readonly known: boolean
  readonly windows: readonly Interval[]
}

/** Plans an entry with a window: for every indicator what is wanted and not stored, in windows on local borders. */
export function* planSeries(
  planning: Planning,
  entry: SeriesEntry,
  missingLater: MissingLater,
): Generator<SeriesRequests> {
  const { job, service, options, requested } = planning
  for (const one of seriesOf(planning, entry)) {
    const { series, key, state } = one
    const groups = missingGroups(planning, one, missingLater)
    if (groups.length === 0 || isSkipped(planning, entry.path, entry.route, series.indicatorId)) continue
    const own = splitIntoWindows(planning, one)
    const windowGroups = groups.map(({ geoIds, holes }): WindowGroup => {
      const known = state.coverage.some(({ geo }) => geo === ALL_GEOS || geoIds.includes(geo))
      const windows = own.cut(holes, sizeFor(service, entry, state, geoIds))
      requested.add(key, geoIds, holes, windows.length)
      return { geoIds, known, windows }
    })
    const request = (window: Interval, { geoIds, known }: WindowGroup): PlannedRequest => {
      const reason = options.restate ? 'restate' : known ? requestReason(window, state, own.settledBefore) : 'missing'
      return own.request(window, { geoIds, reason })
    }
    yield inOrderOfTime(windowGroups, job.newestFirst, request)
  }
}

/** The windows of one series, oldest or newest first, each with its request. */
function inOrderOfTime(
  windowGroups: readonly WindowGroup[],
  newestFirst: boolean,
  request: (window: Interval, windowGroups: WindowGroup) => PlannedRequest,
): SeriesRequests {
  const of =
    windowGroups.length > 1
      ? new Map(windowGroups.flatMap((one) => one.windows.map((window) => [window, one])))
      : undefined
  const windows = of ? [...of.keys()].sort((a, b) => a.from - b.from) : windowGroups[0]!.windows
  const ordered = newestFirst ? windows.toReversed() : windows
  return {
    windows: ordered,
    requests: ordered.values().map((window) => request(window, of?.get(window) ?? windowGroups[0]!)),
  }
}

/** Why a window of a series with coverage is requested: `missing` where nothing in it was answered; else `refresh` goes before `unverified`. */
function requestReason(window: Interval, { coverage }: SeriesState, settled: number): PlannedRequest['reason'] {
  const answered = coverage.filter(({ from, to }) => from < window.to && to > window.from)
  if (answered.length === 0) return 'missing'
  return window.to > settled
    ? 'refresh'
    : answered.some(({ state }) => state === 'unverified')
      ? 'unverified'
      : 'missing'
}
