import { floorToSecond } from '../base/instant.ts'
import type { Reader } from '../db/open.ts'
import { type SeriesIdentity, seriesKey } from '../job/plannedRequest.ts'
import type { Absence, CoveredInterval, PlannerState, SeriesState } from '../job/plannerState.ts'
import { readUnknown } from './unknown.ts'

interface SeriesRow {
  readonly id: number
  readonly kind: SeriesIdentity['kind']
  readonly indicator_id: number
  readonly time_trunc: string | null
  readonly time_agg: string | null
  readonly geo_agg: string | null
  readonly geo_trunc: string | null
  readonly geo_ids: string | null
  readonly window_s: number | null
  readonly lookback_s: number | null
  readonly geo_count: number
  readonly period_at: number | null
  readonly period_s: number | null
}

const UNKNOWN: SeriesState = { coverage: [], geoCount: 0, changes: [], windowS: null, lookbackS: null }

/** A planner's memory of a database that does not exist yet. */
export const EMPTY_STATE: PlannerState = {
  series: () => UNKNOWN,
  lastAnswer: () => undefined,
  absences: () => [],
  absentAskedAt: () => undefined,
  unknown: () => undefined,
}

/** The identity of a stored series. */
export const identityOf = (
  row: Omit<SeriesRow, 'id' | 'window_s' | 'lookback_s' | 'geo_count' | 'period_at' | 'period_s'>,
): SeriesIdentity => ({
  kind: row.kind,
  indicatorId: row.indicator_id,
  timeTrunc: row.time_trunc,
  timeAgg: row.time_agg,
  geoAgg: row.geo_agg,
  geoTrunc: row.geo_trunc,
  geoIds: row.geo_ids === null ? null : row.geo_ids.split(',').map(Number),
})

function groupBySeries<T extends { readonly seriesId: number }>(rows: readonly T[]): ReadonlyMap<number, T[]> {
  const groups = new Map<number, T[]>()
  for (const row of rows) {
    const group = groups.get(row.seriesId)
    if (group) group.push(row)
    else groups.set(row.seriesId, [row])
  }
  return groups
}

/** What a database holds, as the planner asks for it: series at once, listings one by one. */
export function readPlannerState(db: Reader): PlannerState {
  const coverage = groupBySeries(
    db.all(`select series_id as "seriesId", geo_id as "geoId", from_at as "from", to_at as "to", state, fetched_at as "fetchedAt",
              settled_s as "settledS", since_at as "sinceAt"
            from _coverage order by series_id, geo_id, from_at`) as (CoveredInterval & { seriesId: number })[],
  )
  const changes = groupBySeries(
    db.all('select series_id as "seriesId", from_at as at from _resolution order by from_at') as {
      seriesId: number
      at: number
    }[],
  )
  const series = db.all(
    `select s.*, (select count(*) from series_geo g where g.series_id = s.id) as geo_count, p.at as period_at, p.step_s as period_s
     from series s
     left join (select g.series_id, min(g.geo_id) as geo_id from series_geo g group by g.series_id) f on f.series_id = s.id
     left join observation p on p.series_id = s.id and p.geo_id = f.geo_id and p.at = (
       select max(o.at) from observation o where o.series_id = s.id and o.geo_id = f.geo_id)`,
  )
  const states = new Map(
    (series as SeriesRow[]).map((row) => [
      seriesKey(identityOf(row)),
      {
        coverage: coverage.get(row.id) ?? [],
        geoCount: row.geo_count,
        changes: (changes.get(row.id) ?? []).map(({ at }) => at),
        windowS: row.window_s,
        lookbackS: row.lookback_s,
        period: row.period_at === null ? undefined : { at: row.period_at, step: row.period_s! },
      },
    ]),
  )
  const absences = groupBySeries(
    db.all(`select series_id as "seriesId", geo_id as "geoId", from_at as "from", to_at as "to", step_s as step, since_at as "sinceAt", checked_at as "checkedAt"
            from _absent where checked_at - since_at <= ${181 * 86_400} order by series_id, from_at`) as (Absence & {
      seriesId: number
    })[],
  )
  const absent = new Map(
    (series as SeriesRow[]).flatMap((row) => {
      const own = absences.get(row.id)
      return own ? [[seriesKey(identityOf(row)), own]] : []
    }),
  )
  const unknown = readUnknown(db)
  return {
    absences: (identity) => absent.get(seriesKey(identity)) ?? [],
    absentAskedAt(job) {
      const last = db.get(
        `select f.finished_at from _fetch f cross join _run r on r.id = f.run_id
         where f.reason = 'absent' and r.job = ? order by f.id desc limit 1`,
        [job],
      )
      return typeof last === 'string' ? floorToSecond(last) : undefined
    },
    unknown: (route, id) => unknown.get(`${route} ${id}`),
    series: (identity) => states.get(seriesKey(identity)) ?? UNKNOWN,
    lastAnswer(target) {
      // The last one by number: a clock that has jumped back may have written later times before.
      const last = db.get(
        `select finished_at from _fetch where target = ? and outcome in ('ok', 'empty') order by id desc limit 1`,
        [target],
      )
      return typeof last === 'string' ? floorToSecond(last) : undefined
    },
  }
}
