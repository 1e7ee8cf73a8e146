import { floorToSecond } from '../base/instant.ts'
import type { Reader } from '../db/open.ts'
import { type SeriesIdentity, seriesKey } from '../job/ask.ts'
import type { Held, Memory, SeriesState } from '../job/memory.ts'

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
  readonly geo_count: number
}

const UNKNOWN: SeriesState = { coverage: [], geoCount: 0, changes: [], windowS: null }

/** A planner's memory of a database that does not exist yet. */
export const NOTHING_HELD: Memory = { series: () => UNKNOWN, lastAnswer: () => undefined }

/** The identity of a stored series. */
export const identityOf = (row: Omit<SeriesRow, 'id' | 'window_s' | 'geo_count'>): SeriesIdentity => ({
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
export function readMemory(db: Reader): Memory {
  const coverage = groupBySeries(
    db.all(`select series_id as "seriesId", geo_id as "geoId", from_at as "from", to_at as "to", state, fetched_at as "fetchedAt"
            from _coverage order by series_id, geo_id, from_at`) as (Held & { seriesId: number })[],
  )
  const changes = groupBySeries(
    db.all('select series_id as "seriesId", from_at as at from _resolution order by from_at') as {
      seriesId: number
      at: number
    }[],
  )
  const series = db.all(
    `select s.*, (select count(*) from series_geo g where g.series_id = s.id) as geo_count from series s`,
  )
  const states = new Map(
    (series as SeriesRow[]).map((row) => [
      seriesKey(identityOf(row)),
      {
        coverage: coverage.get(row.id) ?? [],
        geoCount: row.geo_count,
        changes: (changes.get(row.id) ?? []).map(({ at }) => at),
        windowS: row.window_s,
      },
    ]),
  )
  return {
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
