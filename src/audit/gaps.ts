import type { Instant } from '../base/instant.ts'
import { type Interval, intersect, merge, subtract } from '../base/interval.ts'
import { addUnits, floorTo, formatLocal } from '../base/zone.ts'
import type { Reader } from '../db/open.ts'
import { ALL_GEOS } from '../job/ask.ts'

/** A hole inside the range of a series: never asked, asked in vain, or asked and absent at the source. */
export interface Gap {
  readonly series_id: number
  readonly indicator_id: number
  readonly time_trunc: string | null
  readonly geo_id: number
  /** First instant of the hole and first instant after it, local with offset. */
  readonly from: string
  readonly to: string
  readonly reason: 'unasked' | 'failed' | 'absent'
  /** Seconds of a period, and how many periods are missing; null where no value tells the step. */
  readonly step_s: number | null
  readonly missing: number | null
  /** How many periods the local day in which the hole begins has in all: 23, 24 or 25 hours, 92, 96 or 100 quarters. */
  readonly expected_in_day: number | null
}

interface SeriesRow {
  readonly id: number
  readonly indicator_id: number
  readonly time_trunc: string | null
  readonly time_zone: string
}

interface Run extends Interval {
  readonly step: number
}

/** Stretches without a hole of one series and geo: neighbours that follow each other are one. */
const runsOf = (db: Reader, seriesId: number, geoId: number): Run[] =>
  db.all(
    `select min(at) as "from", max(at + step_s) as "to", step_s as step from (
       select at, step_s, sum(fresh) over (order by at) as stretch from (
         select at, step_s, lag(at + step_s) over (order by at) is not at or lag(step_s) over (order by at) is not step_s as fresh
         from observation where series_id = ? and geo_id = ?))
     group by stretch order by 1`,
    [seriesId, geoId],
  ) as Run[]

const coveredOf = (db: Reader, seriesId: number, geoId: number, states: string): Interval[] =>
  db.all(
    `select from_at as "from", to_at as "to" from _coverage where series_id = ? and geo_id in (0, ?) and state in (${states})`,
    [seriesId, geoId],
  ) as Interval[]

/** Windows whose last request failed. */
const failedOf = (db: Reader, seriesId: number): Interval[] =>
  db.all(
    `select f.from_at as "from", f.to_at as "to" from _fetch f
     where f.series_id = ? and f.from_at is not null and f.outcome not in ('ok', 'empty', 'coarse')
       and f.id = (select max(l.id) from _fetch l where l.target = f.target)`,
    [seriesId],
  ) as Interval[]

/** Every hole of every series, between the first and the last instant that was asked for. Values that may still come are none. */
export function findGaps(db: Reader): Gap[] {
  const gaps: Gap[] = []
  const all = db.all('select id, indicator_id, time_trunc, time_zone from series order by id') as SeriesRow[]
  for (const series of all) {
    const asked = (
      db.all('select distinct geo_id from _coverage where series_id = ?', [series.id]) as { geo_id: number }[]
    ).map(({ geo_id }) => geo_id)
    const valued = (
      db.all('select geo_id from series_geo where series_id = ?', [series.id]) as { geo_id: number }[]
    ).map(({ geo_id }) => geo_id)
    const failed = failedOf(db, series.id)
    const add = (geo: number, hole: Interval, reason: Gap['reason'], step: number | null) =>
      gaps.push(describe(series, geo, hole, reason, step))
    for (const geo of [...new Set([...asked, ...(failed.length > 0 && asked.length === 0 ? [ALL_GEOS] : [])])]) {
      const covered = merge(coveredOf(db, series.id, geo, "'final', 'provisional', 'empty'"))
      const ends = [...covered, ...failed]
      const whole = { from: Math.min(...ends.map(({ from }) => from)), to: Math.max(...ends.map(({ to }) => to)) }
      const holes = subtract([whole], covered)
      for (const hole of subtract(holes, failed)) add(geo, hole, 'unasked', null)
      for (const hole of intersect(holes, failed)) add(geo, hole, 'failed', null)
    }
    for (const geo of valued) {
      const runs = runsOf(db, series.id, geo)
      const settled = coveredOf(db, series.id, geo, "'final', 'empty'")
      for (const hole of subtract(settled, runs)) add(geo, hole, 'absent', stepBeside(runs, hole))
    }
  }
  return gaps
}

/** The step of the values that end where a hole begins, or begin where it ends. */
function stepBeside(runs: readonly Run[], hole: Interval): number | null {
  const beside = runs.findLast(({ to }) => to <= hole.from) ?? runs.find(({ from }) => from >= hole.to)
  return beside?.step ?? null
}

function describe(
  series: SeriesRow,
  geo: number,
  { from, to }: Interval,
  reason: Gap['reason'],
  step: number | null,
): Gap {
  const zone = series.time_zone
  const day: Instant = floorTo(zone, from, 'day')
  return {
    series_id: series.id,
    indicator_id: series.indicator_id,
    time_trunc: series.time_trunc,
    geo_id: geo,
    from: formatLocal(zone, from),
    to: formatLocal(zone, to),
    reason,
    step_s: step,
    missing: step === null ? null : Math.round((to - from) / step),
    expected_in_day: step === null ? null : Math.max(1, Math.round((addUnits(zone, day, 'day', 1) - day) / step)),
  }
}
