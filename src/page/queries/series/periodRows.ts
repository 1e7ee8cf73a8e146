import type { Extremes } from '../../../db/engine.ts'
import type { Reader } from '../../../db/store.ts'
import type { Measure } from '../../../db/tables/sql/expressions.ts'
import type { Interval } from '../../../util/time/interval.ts'
import { type PeriodUnit, periodBorders } from '../periods.ts'
import { drawnSummary, type Line, NO_VALUES, type Summary, summarize } from './window.ts'

/** A series; if it measures power or energy, its summaries have the energy. */
export type MeasuredLine = Line & { readonly measure?: Measure | null }

/** A period with its extremes, its mean or sum, and its number of values. */
export interface PeriodRow extends Interval, Omit<Extremes, 'sum'> {
  /** MWh; only for a period with several values of power. */
  readonly energy?: number | null
}

/** The number that stands for a period: the sum of energies, whose periods may differ; else the mean. */
export const mainNumber = ({ mean, sum }: Extremes, measure: Measure | null = null): number | null =>
  measure === 'energy' ? sum : mean

/** The row of a period: its extremes as they are drawn, its energy as a sum. */
export function summaryRow([{ from, to }, extremes]: Summary, line: MeasuredLine): PeriodRow {
  const { measure } = line
  const { count, seconds, min, max } = drawnSummary(line, extremes)
  const row = { from, to, count, seconds, min, max, mean: mainNumber(extremes, measure) }
  if (measure !== 'power') return row
  return { ...row, energy: row.mean === null ? null : (row.mean * seconds) / 3600 }
}

/** The row of a period without values. */
export const emptyRow = (period: Interval, line: MeasuredLine): PeriodRow => summaryRow([period, NO_VALUES], line)

/** Summarizes a range by local periods: current, or as known after a fetch. */
export async function summarizeByUnit(
  db: Reader,
  line: MeasuredLine,
  range: Interval,
  unit: PeriodUnit,
  fetchId: number | null,
): Promise<PeriodRow[]> {
  const borders = periodBorders(line.zone, range, unit)
  const summaries = await summarize(db, line, borders, fetchId, unit === 'hour' ? 'values' : 'days')
  return summaries.map((summary) => summaryRow(summary, line))
}
