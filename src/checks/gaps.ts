import { addUnits, floorTo } from '../base/time/zone.ts'
import type { NamedSeries } from '../db/engine.ts'
import type { Reader } from '../db/store.ts'
import type { GapReason } from '../tables/sql/gapReason.ts'

/** A gap in the range of a series: never requested, requested without success, answered in doubt, or absent at the source. */
export interface Gap extends NamedSeries {
  readonly geo_id: number
  /** First instant of the gap and first instant after it, local with offset. */
  readonly from: string
  readonly to: string
  readonly reason: GapReason
  /** Seconds of a period, and how many periods are missing; null where no value shows the step. */
  readonly step_s: number | null
  readonly missing: number | null
  /** How many periods the local day in which the gap begins has in all: 23, 24 or 25 hours, 92, 96 or 100 quarter-hours. */
  readonly expected_in_day: number | null
  /**
   * The earliest time (UTC) at which a sync requests it again, for the reasons `absent` and `doubt`; null if no sync will, because no
   * job wants it any more, or because it has been absent for half a year. Also null for `unasked` and `failed`, which the next sync
   * requests; if the service does not know the indicator, the failure in `status` has the time.
   */
  readonly next_at: string | null
}

/** Every gap of every series, in order: the rows of the view `gaps`. Values that may still come are not gaps. */
export async function findGaps({ kysely }: Reader): Promise<Gap[]> {
  const rows = await kysely
    .selectFrom('gaps as g')
    .innerJoin('series as s', 's.id', 'g.series_id')
    .selectAll('g')
    .select(['s.time_zone', 's.geo_agg'])
    .orderBy('g.series_id')
    .orderBy('g.geo_id')
    .orderBy('g.from_at')
    .orderBy('g.to_at')
    .execute()
  return rows.map(({ from_local, to_local, from_at, time_zone, ...gap }) => {
    const day = floorTo(time_zone, from_at, 'day')
    const length = addUnits(time_zone, day, 'day', 1) - day
    return {
      series_id: gap.series_id,
      kind: gap.kind,
      indicator_id: gap.indicator_id,
      time_trunc: gap.time_trunc,
      geo_agg: gap.geo_agg,
      geo_id: gap.geo_id,
      from: from_local,
      to: to_local,
      reason: gap.reason,
      step_s: gap.step_s,
      missing: gap.missing,
      expected_in_day: gap.step_s === null ? null : Math.max(1, Math.round(length / gap.step_s)),
      next_at: gap.next_at,
    }
  })
}
