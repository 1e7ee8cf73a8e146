import { ALL_GEOS } from '../db/tables/codes.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { findSettledBorder } from '../judge/finality.ts'
import type { Span } from '../judge/judgeTypes.ts'
import { announcedChanges } from '../service/resolutions.ts'
import type { Service } from '../service/service.ts'
import type { Size } from '../service/windowSizes.ts'
import { HOUR, type Instant } from '../util/time/instant.ts'
import { type Interval, merge, overlaps } from '../util/time/interval.ts'
import { startOfDate } from '../util/time/zone.ts'
import { dueIntervals } from './due.ts'
import { type SelectedSeries, sentGeos, toParams } from './entries.ts'
import { isSkipped } from './freshness.ts'
import { type GeoGroup, groupHoles } from './geoGroups.ts'
import type { SeriesState } from './plannerState.ts'
import { type PlanContext, planRequest } from './planning.ts'
import { chooseSize } from './sizes.ts'
import { cutCached } from './windows.ts'

/** The windows that one series needs, in order, and the request for each. */
export interface DueWindows {
  readonly key: string
  /** Windows that end until then have only final data. */
  readonly settledBefore: Instant
  readonly windows: readonly Interval[]
  /** The expected number of periods in the replies. */
  readonly periods: number
  readonly plan: (window: Interval) => PlannedRequest
}

/** Plans a series: cuts what is due into windows. Null if nothing is. With `restate`, all that is selected is due. */
export function planSeries(planning: PlanContext, selected: SelectedSeries, due: readonly Span[]): DueWindows | null {
  const { job, service, options, requested } = planning
  const { entry, series, key, state } = selected
  const groups = groupDue(planning, selected, due)
  if (groups.length === 0 || isSkipped(planning, entry.path, entry.route, series.indicatorId)) return null
  const { settledBefore, cut, request } = createWindows(planning, selected)
  const windowGroups = groups.map(({ geoIds, holes }) => {
    const isCovered = state.coverage.some(({ geo }) => geo === ALL_GEOS || geoIds.includes(geo))
    const windows = cut(holes, chooseSize(service, entry, state, geoIds))
    requested.add(key, geoIds, holes)
    return { geoIds, isCovered, windows }
  })
  const [firstGroup] = windowGroups
  const groupByWindow =
    windowGroups.length > 1
      ? new Map(windowGroups.flatMap((group) => group.windows.map((window) => [window, group])))
      : null
  const windows = groupByWindow ? [...groupByWindow.keys()].sort((a, b) => a.from - b.from) : firstGroup!.windows
  return {
    key,
    settledBefore,
    windows: job.newestFirst ? windows.toReversed() : windows,
    periods: windowGroups.reduce(
      (sum, { geoIds, windows }) =>
        sum + windows.reduce((inner, window) => inner + countPeriods(window, geoIds, state), 0),
      0,
    ),
    plan(window) {
      const { geoIds, isCovered } = groupByWindow?.get(window) ?? firstGroup!
      const reason = isCovered ? findReason(window, state, settledBefore) : 'missing'
      return request(window, { geoIds, reason: options.restate ? 'restate' : reason })
    },
  }
}

/** The intervals that an entry has to request of a series, each once, for the geos for which they are due. */
const groupDue = (
  { options, requested }: PlanContext,
  { key, geoIds, requirement }: SelectedSeries,
  due: readonly Span[],
): GeoGroup[] =>
  groupHoles(
    geoIds.map((geoId) => {
      const intervals = options.restate ? merge([requirement]) : dueIntervals(due, geoId)
      return { geoId, holes: requested.findRemaining(key, geoId, intervals) }
    }),
  )

/** Why a window of a series with coverage is requested. `refresh` takes precedence over `unverified`. */
function findReason(window: Interval, { coverage }: SeriesState, settledBefore: Instant): PlannedRequest['reason'] {
  const covering = coverage.filter((row) => overlaps(row, window))
  if (covering.length === 0) return 'missing'
  if (window.to > settledBefore) return 'refresh'
  return covering.some(({ state }) => state === 'unverified') ? 'unverified' : 'missing'
}

/** Returns the functions that cut holes of a series on local borders, and plan the request for a window. */
export function createWindows(planning: PlanContext, selected: SelectedSeries) {
  const { service, now } = planning
  const { entry, series, state, longestLookbackS, finality } = selected
  const changes = listChanges(service, selected)
  const settledBefore = findSettledBorder(now, finality)
  return {
    settledBefore,
    cut: (holes: readonly Interval[], size: Size): Interval[] =>
      holes.flatMap((hole) => cutCached(service.timeZone, hole, size, changes, finality.unit)),
    request(window: Interval, details: Pick<PlannedRequest, 'geoIds' | 'reason'>): PlannedRequest {
      const params = toParams(entry, series.indicatorId, sentGeos(entry, details.geoIds))
      const periods = countPeriods(window, details.geoIds, state)
      const extra = { ...details, series, window, settledBefore, lookbackS: longestLookbackS, periods }
      return planRequest(planning, entry.path, entry.route, params, extra)
    },
  }
}

/** The expected number of periods in the reply to a request. A series is considered hourly until a value shows its step. */
function countPeriods({ from, to }: Interval, geoIds: readonly number[], { period, timelines }: SeriesState): number {
  const geos = geoIds.includes(ALL_GEOS) ? Math.max(1, timelines.length) : geoIds.length
  return (geos * (to - from)) / (period?.step ?? HOUR)
}

/** Lists the stored and announced changes of resolution of a series: no window spans one. */
function listChanges(
  service: Service,
  { series: { indicatorId, timeTrunc }, state: { changes } }: SelectedSeries,
): Instant[] {
  const announced = timeTrunc === null ? announcedChanges(service.changes, indicatorId) : []
  return [...changes, ...announced.map((date) => startOfDate(service.timeZone, date)!)].sort((a, b) => a - b)
}
