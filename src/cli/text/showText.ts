import { oneLine } from '../../util/text.ts'
import { formatLocal } from '../../util/time/zone.ts'
import { chartText, findScale, mean, shortNumber } from '../terminal/brailleChart.ts'

/** A series of one geo, with the range of its stored values. */
export interface ShownLine {
  readonly seriesId: number
  readonly zone: string
  readonly name: string
  readonly unit: string | null
  readonly geoId: number
  readonly geoName: string | null
  readonly firstAt: number
  readonly lastAt: number
}

/** A series with its values in the shown range. */
export interface ShownRange extends ShownLine {
  readonly from: number
  readonly to: number
  /** The timestamp at which the values were known; null for the current ones. */
  readonly asOf: string | null
  readonly step: number
  /** One value for each step; null if there is none. */
  readonly values: readonly (number | null)[]
}

/** Lines of a chart, and its maximum width. */
const CHART_LINES = 12
const MAX_CHART_WIDTH = 160

export const showJson = ({ values, step, name, unit, geoId, geoName, from, asOf }: ShownRange): object[] => [
  { name, unit, geo_id: geoId, geo_name: geoName, from, step_s: step, values, ...(asOf !== null && { as_of: asOf }) },
]

/** Draws a chart for a terminal with this number of columns. */
export function showText({ name, geoName, unit, asOf, zone, values, from, to }: ShownRange, columns: number): string {
  const numbers = values.filter((value) => value !== null)
  const { low, high } = findScale(numbers)
  const width = Math.min(columns, MAX_CHART_WIDTH)
  const state = asOf === null ? '' : `, as known at ${formatLocal(zone, Math.floor(Date.parse(asOf) / 1000))}`
  const head = oneLine(`${name}${geoName ? `, ${geoName}` : ''}${unit ? ` (${unit})` : ''}${state}`)
  const [begin, end] = [from, to].map((at) => formatLocal(zone, at).slice(0, 16))
  return [
    numbers.length === 0
      ? `${head}: no values in this range`
      : `${head}: mean ${shortNumber(mean(numbers))}, from ${shortNumber(low)} to ${shortNumber(high)}`,
    ...chartText(values, { width, height: CHART_LINES, low, high }),
    `${begin!.padEnd(width - 16)}${end}`,
  ].join('\n')
}
