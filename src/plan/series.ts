import { announcedChanges } from '../api/changes.ts'
import type { AnyParams } from '../api/routes.ts'
import type { Instant } from '../base/instant.ts'
import { type Interval, merge, subtract } from '../base/interval.ts'
import { startOfDate } from '../base/zone.ts'
import { ALL_GEOS, type Ask, type SeriesIdentity } from '../job/ask.ts'
import type { SeriesEntry } from '../job/job.ts'
import type { SeriesState } from '../job/memory.ts'
import { resolveMoment } from '../job/moment.ts'
import { type Freshness, isDue, settledBefore, stillGood } from './held.ts'
import { ask, type Planning, wantedRange } from './planning.ts'
import { firstSize, sizeOf } from './sizes.ts'
import { borderUnit, cut, type Size } from './windows.ts'

/** The dataset that an entry means for one of its indicators. */
const identityOf = (entry: SeriesEntry, indicatorId: number): SeriesIdentity => ({
  kind: entry.kind,
  indicatorId,
  timeTrunc: entry.timeTrunc,
  timeAgg: entry.timeAgg,
  geoAgg: entry.geoAgg,
  geoTrunc: entry.geoTrunc,
  geoIds: entry.geoAgg === null || entry.geoIds.length === 0 ? null : [...entry.geoIds].sort((a, b) => a - b),
})

/** The parameters that all requests of an entry share. */
const questionOf = (entry: SeriesEntry, id: number, geoIds: readonly number[]): AnyParams => ({
  id,
  locale: entry.locale,
  time_trunc: entry.timeTrunc ?? undefined,
  time_agg: entry.timeAgg ?? undefined,
  geo_agg: entry.geoAgg ?? undefined,
  geo_trunc: entry.geoTrunc ?? undefined,
  geo_ids: geoIds.length === 0 ? undefined : geoIds,
})

interface Group {
  readonly geoIds: number[]
  readonly holes: readonly Interval[]
  readonly known: boolean
}

/** Geos that miss the same stretches go into one request. */
function groupByHoles(
  geoIds: readonly number[],
  wanted: Interval,
  state: SeriesState,
  freshness: Freshness | null,
): Group[] {
  const groups = new Map<string, Group>()
  for (const geoId of geoIds) {
    const rows = state.coverage.filter((row) => row.geoId === ALL_GEOS || row.geoId === geoId)
    const good = freshness ? rows.map((row) => stillGood(row, freshness)) : []
    const holes = subtract([wanted], merge(good))
    if (holes.length === 0) continue
    const key = holes.map(({ from, to }) => `${from}-${to}`).join()
    const group = groups.get(key)
    if (group) group.geoIds.push(geoId)
    else groups.set(key, { geoIds: [geoId], holes, known: rows.length > 0 })
  }
  return [...groups.values()]
}

/** Plans one entry: for every indicator what is wanted and not held, in windows on local borders. */
export function* planSeries(planning: Planning, entry: SeriesEntry): Generator<Ask> {
  const { job, memory, now, options } = planning
  const zone = job.timeZone
  if (!entry.window) return yield* planInstant(planning, entry)
  const unit = borderUnit(entry.timeTrunc)
  const wanted = wantedRange(planning, entry.window, unit)
  const freshness: Freshness = { zone, now, lookback: entry.lookback, refresh: entry.refresh, unit }
  const settled = settledBefore(zone, now, entry.lookback, unit)
  const windowsOf = createCutter(zone)
  for (const indicatorId of entry.indicators) {
    const series = identityOf(entry, indicatorId)
    const state = memory.series(series)
    const announced = series.timeTrunc === null ? announcedChanges(indicatorId) : []
    const changes = [...state.changes, ...announced.map((date) => startOfDate(zone, date)!)].sort((a, b) => a - b)
    // With geo_agg the geos are part of the dataset; otherwise each geo is held on its own.
    const geoIds = entry.geoIds.length === 0 || series.geoAgg !== null ? [ALL_GEOS] : entry.geoIds
    for (const group of groupByHoles(geoIds, wanted, state, options.restate ? null : freshness)) {
      const sent = series.geoAgg === null ? group.geoIds.filter((geoId) => geoId !== ALL_GEOS) : entry.geoIds
      const size = sizeFor(entry, series, sent.length || state.geoCount || null, state.windowS)
      const windows = group.holes.flatMap((hole) => windowsOf(hole, size, changes))
      for (const window of options.newestFirst ? windows.reverse() : windows)
        yield ask(
          planning,
          entry.where,
          entry.kind === 'indicator' ? 'indicator' : 'offer_indicator',
          { ...questionOf(entry, indicatorId, sent), start_date: window.from, end_date: window.to - 1 },
          {
            series,
            geoIds: group.geoIds,
            window,
            settledBefore: settled,
            reason: options.restate ? 'restate' : group.known && window.to > settled ? 'refresh' : 'missing',
          },
        )
    }
  }
}

/** Cuts holes into windows, those of the last series again where they are the same: most series of a job miss the same, and a local calendar is slow. */
function createCutter(zone: string): (hole: Interval, size: Size, changes: readonly Instant[]) => readonly Interval[] {
  const remembered = new Map<string, readonly Interval[]>()
  return (hole, size, changes) => {
    const key = [hole.from, hole.to, size.count, size.unit, ...changes].join()
    let windows = remembered.get(key)
    if (!windows) {
      windows = [...cut(zone, hole, size, changes)]
      if (remembered.size >= REMEMBERED) remembered.clear()
      remembered.set(key, windows)
    }
    return windows
  }
}

/** Holes whose windows are remembered. */
const REMEMBERED = 64

/** The window size: what the job says, else what was learned, else the first guess. */
function sizeFor(entry: SeriesEntry, series: SeriesIdentity, geos: number | null, windowS: number | null): Size {
  if (entry.chunk) return sizeOf(entry.chunk)
  const first = firstSize(series.kind, series.timeTrunc, geos)
  return windowS === null ? first : { unit: 'day', count: Math.max(1, Math.floor(windowS / 86_400)) }
}

/** An entry with `datetime`: one request an indicator, for one instant. */
function* planInstant(planning: Planning, entry: SeriesEntry): Generator<Ask> {
  const { job, memory, now, options } = planning
  if (!entry.datetime) return
  const datetime = resolveMoment(entry.datetime, job.timeZone, now)
  const freshness: Freshness = {
    zone: job.timeZone,
    now,
    lookback: entry.lookback,
    refresh: entry.refresh,
    unit: 'day',
  }
  for (const indicatorId of entry.indicators) {
    const route = entry.kind === 'indicator' ? 'indicator' : 'offer_indicator'
    const params = { ...questionOf(entry, indicatorId, entry.geoIds), datetime }
    const planned = ask(planning, entry.where, route, params, { series: identityOf(entry, indicatorId), geoIds: [] })
    const window = { from: datetime, to: datetime + 1 }
    if (options.restate || isDue(memory.lastAnswer(planned.request.target), window, freshness)) yield planned
  }
}
