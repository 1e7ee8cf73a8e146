import type { LocalDay } from '../../util/time/localDay.ts'

/** Totals of the values of one series and geo in one local day: a row of `_day` without its key. */
export interface DayTotals {
  readonly count: number
  readonly hours: number | null
  readonly min: number | null
  readonly max: number | null
  readonly sum: number | null
  readonly energy: number | null
  readonly firstS: number | null
  readonly lastS: number | null
  readonly missing: number
}

/** A local day of a geo with its totals. */
export type GeoDay = readonly [geoId: number, day: LocalDay, totals: DayTotals]
