import { type Interval, intersect, subtract } from '../../base/time/interval.ts'
import type { SeriesEntry } from '../../job/job.ts'
import { ALL_GEOS, type PlannedRequest } from '../../job/plannedRequest.ts'
import type { SeriesState } from '../../job/plannerState.ts'
import { coveredGeos, coversAllGeos, sentGeos } from '../entries.ts'
import { settledBefore } from '../held.ts'
import { type Planning, wantedRange } from '../planning.ts'
import { sizeFor } from '../sizes.ts'
import { isSkipped } from '../unknown.ts'
import { borderUnit, cutterOf } from '../windows.ts'
import { changesOf, type EntrySeries, entrySeries, planWindow } from './entrySeries.ts'
import { type GeoGroup, groupHoles } from './groups.ts'
import { missingOf } from './missing.ts'
import type { MissingLater } from './missingLater.ts'

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

/** What an entry has to request of a series, each interval once: for all geos where a later job needs all, else for the geos that miss it. */
function groupsFor(planning: Planning, one: EntrySeries, wanted: Interval, missingLater: MissingLater): GeoGroup[] {
  const { entry, key } = one
  const missing = coveredGeos(entry).map((geoId) => ({
    geoId,
    holes: planning.requested.left(key, geoId, missingOf(planning, one, wanted, geoId)),
  }))
  const ofAll = coversAllGeos(entry) ? [] : missingLater(key)
  if (ofAll.length === 0) return groupHoles(missing)
  const common = intersect(
    missing.flatMap(({ holes }) => holes),
    ofAll,
  )
  const own = missing.map(({ geoId, holes }) => ({ geoId, holes: subtract(holes, common) }))
  return [...groupHoles([{ geoId: ALL_GEOS, holes: common }]), ...groupHoles(own)]
}

/** Plans an entry with a window: for every indicator what is wanted and not held, in windows on local borders. */
export function* planSeries(
  planning: Planning,
  entry: SeriesEntry,
  missingLater: MissingLater,
): Generator<SeriesRequests> {
  const { service, now, options, requested } = planning
  if (!entry.window) return
  const zone = service.timeZone
  const unit = borderUnit(entry.timeTrunc)
  const wanted = wantedRange(planning, entry.window, unit)
  const windowsOf = cutterOf(zone, unit)
  for (const indicatorId of entry.indicators) {
    const one = entrySeries(planning, entry, indicatorId)
    const { key, state } = one
    const groups = groupsFor(planning, one, wanted, missingLater)
    if (groups.length === 0 || isSkipped(planning, entry.where, entry.kind, indicatorId)) continue
    const settled = settledBefore(zone, now, entry.lookback, unit, one.periods)
    const changes = changesOf(service, one)
    const windowGroups = groups.map(({ geoIds, holes }): WindowGroup => {
      const size = sizeFor(service, entry, state, sentGeos(entry, geoIds))
      const known = state.coverage.some(({ geoId }) => geoId === ALL_GEOS || geoIds.includes(geoId))
      const windows = holes.flatMap((hole) => windowsOf(hole, size, changes))
      requested.add(key, geoIds, holes, windows.length)
      return { geoIds, known, windows }
    })
    const request = (window: Interval, { geoIds, known }: WindowGroup): PlannedRequest => {
      const reason = options.restate ? 'restate' : known ? reasonOf(window, state, settled) : 'missing'
      return planWindow(planning, one, window, { geoIds, settledBefore: settled, reason })
    }
    yield inOrderOfTime(windowGroups, options.newestFirst ?? false, request)
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

/** Why a window of a series with coverage is requested: `missing` where nothing in it was answered; else `refresh` goes before `doubt`. */
function reasonOf(window: Interval, { coverage }: SeriesState, settled: number): PlannedRequest['reason'] {
  const answered = coverage.filter(({ from, to }) => from < window.to && to > window.from)
  if (answered.length === 0) return 'missing'
  return window.to > settled ? 'refresh' : answered.some(({ state }) => state === 'doubt') ? 'doubt' : 'missing'
}
