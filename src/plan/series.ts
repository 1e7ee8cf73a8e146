import { type Interval, intersect, subtract } from '../base/interval.ts'
import type { SeriesEntry } from '../job/job.ts'
import { resolveMoment } from '../job/moment.ts'
import { ALL_GEOS, type PlannedRequest, seriesKey } from '../job/plannedRequest.ts'
import type { SeriesState } from '../job/plannerState.ts'
import { rangeParams } from '../services/request.ts'
import { type Group, groupsOf } from './groups.ts'
import { type Freshness, isDue, settledBefore } from './held.ts'
import { missingOf } from './missing.ts'
import { type Planning, planRequest, wantedRange } from './planning.ts'
import {
  asksAll,
  changesOf,
  cutterOf,
  geosOf,
  identityOf,
  knownPeriods,
  lookbacksOf,
  questionOf,
  routeOf,
  sentGeos,
  sizeFor,
} from './question.ts'
import { isPassedOver } from './unknown.ts'
import type { Whole } from './whole.ts'
import { borderUnit } from './windows.ts'

/** A window that is asked for some geos, and whether anything is held of one of them. */
interface Ask {
  readonly window: Interval
  readonly geoIds: readonly number[]
  readonly sent: readonly number[]
  readonly known: boolean
}

/** What an entry misses of a series, each stretch once: for all geos where a later job asks for all, else for those that miss it. */
function groupsFor(
  planning: Planning,
  entry: SeriesEntry,
  key: string,
  state: SeriesState,
  wanted: Interval,
  whole: Whole,
): Group[] {
  const missing = geosOf(entry).map((geoId) => ({
    geoId,
    holes: planning.asked.left(key, geoId, missingOf(planning, entry, state, wanted, geoId)),
  }))
  const ofAll = asksAll(entry) ? [] : whole(key)
  if (ofAll.length === 0) return groupsOf(missing)
  const common = intersect(
    missing.flatMap(({ holes }) => holes),
    ofAll,
  )
  const own = missing.map(({ geoId, holes }) => ({ geoId, holes: subtract(holes, common) }))
  return [...groupsOf([{ geoId: ALL_GEOS, holes: common }]), ...groupsOf(own)]
}

/** Plans one entry: for every indicator what is wanted and not held, in windows on local borders. */
export function* planSeries(planning: Planning, entry: SeriesEntry, whole: Whole): Generator<PlannedRequest> {
  const { job, service, plannerState, now, options, asked } = planning
  const zone = service.timeZone
  if (!entry.window) return yield* planInstant(planning, entry)
  const unit = borderUnit(entry.timeTrunc)
  const wanted = wantedRange(planning, entry.window, unit)
  const windowsOf = cutterOf(zone, unit)
  for (const indicatorId of entry.indicators) {
    const series = identityOf(entry, indicatorId)
    const key = seriesKey(series)
    const state = plannerState.series(series)
    const groups = groupsFor(planning, entry, key, state, wanted, whole)
    if (groups.length === 0 || isPassedOver(planning, entry.where, routeOf(entry), indicatorId)) continue
    const settled = settledBefore(zone, now, entry.lookback, unit, knownPeriods(zone, state))
    const lookbackS = Math.max(state.lookbackS ?? 0, lookbacksOf(job).get(key)!)
    const changes = changesOf(planning.service, series, state)
    const asks = groups.flatMap(({ geoIds, holes }): Ask[] => {
      const sent = sentGeos(entry, geoIds)
      const size = sizeFor(planning.service, entry, state, sent)
      const known = state.coverage.some(({ geoId }) => geoId === ALL_GEOS || geoIds.includes(geoId))
      const windows = holes.flatMap((hole) => windowsOf(hole, size, changes))
      asked.add(key, geoIds, holes, windows.length)
      return windows.map((window) => ({ window, geoIds, sent, known }))
    })
    if (groups.length > 1) asks.sort((a, b) => a.window.from - b.window.from)
    for (const { window, geoIds, sent, known } of options.newestFirst ? asks.reverse() : asks)
      yield planRequest(
        planning,
        entry.where,
        routeOf(entry),
        { ...questionOf(entry, indicatorId, sent), ...rangeParams(window) },
        {
          series,
          geoIds,
          window,
          settledBefore: settled,
          lookbackS,
          reason: options.restate ? 'restate' : known ? reasonOf(window, state, settled) : 'missing',
        },
      )
  }
}

/** Why a window of a series that is held in part is asked: what may still be revised is more than what is in doubt. */
const reasonOf = (window: Interval, { coverage }: SeriesState, settled: number): PlannedRequest['reason'] =>
  window.to > settled
    ? 'refresh'
    : coverage.some(({ state, from, to }) => state === 'doubt' && from < window.to && to > window.from)
      ? 'doubt'
      : 'missing'

/** An entry with `datetime`: one request an indicator, for one instant. */
function* planInstant(planning: Planning, entry: SeriesEntry): Generator<PlannedRequest> {
  const { job, service, plannerState, now, options, asked } = planning
  if (!entry.datetime) return
  const datetime = resolveMoment(entry.datetime, job.timeZone, now)
  const freshness: Freshness = {
    zone: service.timeZone,
    now,
    lookback: entry.lookback,
    refresh: entry.refresh,
    unit: 'day',
  }
  for (const indicatorId of entry.indicators) {
    const params = { ...questionOf(entry, indicatorId, entry.geoIds), datetime }
    const extra = { series: identityOf(entry, indicatorId), geoIds: [] }
    const planned = planRequest(planning, entry.where, routeOf(entry), params, extra)
    const { target } = planned.request
    const window = { from: datetime, to: datetime + 1 }
    if (!options.restate && !isDue(plannerState.lastAnswer(target), window, freshness)) continue
    if (isPassedOver(planning, entry.where, routeOf(entry), indicatorId)) continue
    if (asked.takes(target)) yield planned
  }
}
