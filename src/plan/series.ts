import { type Interval, merge, subtract } from '../base/interval.ts'
import type { SeriesEntry } from '../job/job.ts'
import { resolveMoment } from '../job/moment.ts'
import { ALL_GEOS, type PlannedRequest, seriesKey } from '../job/plannedRequest.ts'
import type { CoveredInterval, SeriesState } from '../job/plannerState.ts'
import { rangeParams } from '../services/request.ts'
import { type Freshness, isDue, settledBefore, stillGood } from './held.ts'
import { type Planning, planRequest, wantedRange } from './planning.ts'
import {
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
import { borderUnit } from './windows.ts'

interface Group {
  readonly geoIds: number[]
  readonly holes: readonly Interval[]
  readonly known: boolean
}

/** What need not be asked of a geo. What it was asked for by itself is newer than what all geos were asked for. */
function goodOf(geoId: number, { coverage }: SeriesState, freshness: Freshness): Interval[] {
  const own: CoveredInterval[] = []
  const all: CoveredInterval[] = []
  const others: CoveredInterval[] = []
  for (const row of coverage) (row.geoId === ALL_GEOS ? all : row.geoId === geoId ? own : others).push(row)
  const good = (rows: readonly CoveredInterval[]): Interval[] => rows.map((row) => stillGood(row, freshness))
  if (geoId !== ALL_GEOS) return merge([...good(own), ...subtract(good(all), own)])
  // All geos are asked again where one of them is in doubt.
  const doubted = others.filter(({ state }) => state === 'doubt')
  return subtract(good(all), subtract(doubted, good(doubted)))
}

/** Geos that miss the same stretches go into one request. `missing` says what a geo misses. */
function groupByHoles(
  geoIds: readonly number[],
  { coverage }: SeriesState,
  missing: (geoId: number) => readonly Interval[],
): Group[] {
  const groups = new Map<string, Group>()
  for (const geoId of geoIds) {
    const holes = missing(geoId)
    if (holes.length === 0) continue
    const key = holes.map(({ from, to }) => `${from}-${to}`).join()
    const group = groups.get(key)
    const known = coverage.some((row) => row.geoId === ALL_GEOS || row.geoId === geoId)
    if (group) group.geoIds.push(geoId)
    else groups.set(key, { geoIds: [geoId], holes, known })
  }
  return [...groups.values()]
}

/** Plans one entry: for every indicator what is wanted and not held, in windows on local borders. */
export function* planSeries(planning: Planning, entry: SeriesEntry): Generator<PlannedRequest> {
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
    const periods = knownPeriods(zone, state)
    const freshness: Freshness = { zone, now, lookback: entry.lookback, refresh: entry.refresh, unit, periods }
    const settled = settledBefore(zone, now, entry.lookback, unit, periods)
    const lookbackS = Math.max(state.lookbackS ?? 0, lookbacksOf(job).get(key)!)
    const changes = changesOf(planning.service, series, state)
    const groups = groupByHoles(geosOf(entry), state, (geoId) =>
      asked.left(key, geoId, subtract([wanted], options.restate ? [] : goodOf(geoId, state, freshness))),
    )
    for (const { geoIds, holes, known } of groups) {
      if (isPassedOver(planning, entry.where, routeOf(entry), indicatorId)) break
      const sent = sentGeos(entry, geoIds)
      const size = sizeFor(planning.service, entry, state, sent)
      const windows = holes.flatMap((hole) => windowsOf(hole, size, changes))
      asked.add(key, geoIds, holes, windows.length)
      for (const window of options.newestFirst ? windows.reverse() : windows)
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
