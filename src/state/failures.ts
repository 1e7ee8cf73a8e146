import { createAnswered, type Left, type Recorded } from '../db/answered.ts'
import type { Reader } from '../db/open.ts'
import { ALL_GEOS, type FailedRequest, type SeriesIdentity } from '../job/plannedRequest.ts'
import { rangeParams } from '../services/request.ts'
import type { AnyParams, RouteName } from '../services/routes.ts'
import { identityOf } from './coverage.ts'

type Stored = Parameters<typeof identityOf>[0]

interface FailedRow {
  readonly fetchId: number
  readonly entry: string
  readonly route: RouteName
  readonly target: string
  readonly params: string
  readonly asked: string | null
  readonly from_at: number | null
  readonly to_at: number | null
  readonly outcome: string
  readonly failed_at: string
  readonly message: string | null
  readonly hint: string | null
  /** The series, where it asked for one. */
  readonly id: number | null
  readonly lookback_s: number | null
}

/** A request that failed and was not answered since. */
export interface Failure extends FailedRow {
  readonly left: readonly Left[]
}

const recorded = (row: FailedRow): Recorded => ({
  fetchId: row.fetchId,
  target: row.target,
  seriesId: row.id,
  window: row.from_at === null || row.to_at === null ? null : { from: row.from_at, to: row.to_at },
  geoIds: row.asked === null ? null : row.asked.split(',').map(Number),
})

/** Every request that failed and of which something is unanswered since, each once, in order. */
export function failures(db: Reader): Failure[] {
  const rows =
    db.all(`select f.id as "fetchId", f.entry, f.route, f.target, f.params, f.geo_ids as asked, f.from_at, f.to_at,
      f.outcome, f.finished_at as failed_at, f.message, f.hint, s.*
    from _fetch f left join series s on s.id = f.series_id
    where f.outcome not in ('ok', 'empty', 'coarse', 'too-large', 'stopped') order by f.id`) as FailedRow[]
  const last = new Map(rows.map((row) => [row.target, row]))
  const left = createAnswered(db, false)
  return [...last.values()]
    .sort((a, b) => a.fetchId - b.fetchId)
    .map((row) => ({ ...row, left: left(recorded(row)) }))
    .filter((failure) => failure.left.length > 0)
}

interface DoubtRow {
  readonly id: number
  readonly geoId: number
  readonly from: number
  readonly to: number
  readonly entry: string | null
  readonly lookback_s: number | null
}

/** Windows whose answers are not believed as a whole, as they would be asked by themselves. */
function doubts(db: Reader): FailedRequest[] {
  const rows = db.all(`select s.*, c.geo_id as "geoId", c.from_at as "from", c.to_at as "to",
      (select f.entry from _fetch f where f.series_id = s.id order by f.id desc limit 1) as entry
    from _coverage c join series s on s.id = c.series_id where c.state = 'doubt' order by s.id, c.geo_id, c.from_at`) as DoubtRow[]
  return rows.map((row) => {
    const series = identityOf(row as unknown as Stored)
    const geoIds = series.geoIds ?? (row.geoId === ALL_GEOS ? undefined : [row.geoId])
    const given: AnyParams = {
      id: series.indicatorId,
      time_trunc: series.timeTrunc ?? undefined,
      time_agg: series.timeAgg ?? undefined,
      geo_agg: series.geoAgg ?? undefined,
      geo_trunc: series.geoTrunc ?? undefined,
      geo_ids: geoIds,
      ...rangeParams(row),
    }
    return {
      where: row.entry ?? 'series',
      route: series.kind,
      params: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
      series,
      geoIds: row.geoId === ALL_GEOS ? null : [row.geoId],
      window: { from: row.from, to: row.to },
      lookbackS: row.lookback_s,
    }
  })
}

/** The parts of a failed request that are still unanswered, as requests of their own; geos that lack the same go together. */
function partsOf({ entry, route, params, id, lookback_s, left, ...row }: Failure): FailedRequest[] {
  const request = { where: entry, route, lookbackS: lookback_s }
  const asked = JSON.parse(params) as AnyParams
  const series: SeriesIdentity | null = id === null ? null : identityOf(row as unknown as Stored)
  const { window, geoIds } = recorded({ entry, route, params, id, lookback_s, ...row })
  if (!series || !window) return [{ ...request, params: asked, series, geoIds, window }]
  const groups = new Map<string, { geoIds: number[]; intervals: Left['intervals'] }>()
  for (const { geoId, intervals } of left) {
    const key = JSON.stringify(intervals)
    groups.set(key, { geoIds: [...(groups.get(key)?.geoIds ?? []), geoId], intervals })
  }
  return [...groups.values()].flatMap((group) =>
    group.intervals.map((interval) => ({
      ...request,
      params: {
        ...asked,
        ...(series.geoAgg === null && geoIds ? { geo_ids: group.geoIds } : {}),
        ...rangeParams(interval),
      },
      series,
      geoIds: geoIds === null ? null : group.geoIds,
      window: interval,
    })),
  )
}

/**
 * Everything that is still unanswered or in doubt, to be asked again as it was. What all geos are asked for comes first, so
 * that what is asked of one of them in the same window can be left out.
 */
export function failedRequests(db: Reader): FailedRequest[] {
  const all = [...failures(db).flatMap(partsOf), ...doubts(db)]
  const isWhole = ({ series, window, geoIds }: FailedRequest): boolean =>
    series !== null && window !== null && geoIds === null
  return [...all.filter(isWhole), ...all.filter((request) => !isWhole(request))]
}
