import type { Revision } from '../../db/engine.ts'
import { oneLine, quantity } from '../../util/text.ts'
import { floorToSecond, formatUtc } from '../../util/time/instant.ts'
import { formatLocal } from '../../util/time/zone.ts'
import { chartText, findScale, mean, shortNumber } from '../terminal/brailleChart.ts'
import { tableText } from '../terminal/table.ts'

/** A series of one geo, with the range of its stored values. */
export interface ShownSeries {
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
export interface DrawnSeries extends ShownSeries {
  /** The end of the caption: the version of the values, if it is not the current one. */
  readonly state: string
  readonly step: number
  /** One value for each step; null if there is none. */
  readonly values: (number | null)[]
}

export interface Shown {
  readonly all: readonly DrawnSeries[]
  readonly from: number
  readonly to: number
  /** The version of the values: a timestamp, `first` (as first stored) or `now`. */
  readonly then: string
  /** The revisions of the first series since then; null without `--revisions`. */
  readonly revised: readonly Revision[] | null
  /** The current values of the first series, if it is compared with an earlier version. */
  readonly current: DrawnSeries | null
}

/** Lines of a chart, and its maximum width. */
const CHART_LINES = 12
const MAX_CHART_WIDTH = 160
/** Listed times of revisions. */
const MAX_REVISIONS = 20

export const drawnValues = ({ values }: DrawnSeries): number[] => values.filter((value) => value !== null)

/** Lists the times of revisions, the latest first, each with its values and the largest change. */
function revisionsTable(revisions: readonly Revision[], zone: string): string {
  if (revisions.length === 0) return 'No revisions in this range.'
  const minute = (at: number) => formatLocal(zone, at).slice(0, 16)
  const rows = [...Map.groupBy(revisions, ({ revisedAt }) => revisedAt)].map(([revisedAt, together]) => {
    const times = together.map(({ at }) => at).sort((a, b) => a - b)
    const changes = together.flatMap(({ before, after }) =>
      before === null || after === null ? [] : [Math.abs(after - before)],
    )
    return [
      ...[floorToSecond(revisedAt), times[0]!, times.at(-1)!].map(minute),
      together.length,
      together.filter(({ withdrawn }) => withdrawn).length,
      changes.length === 0 ? '' : shortNumber(changes.reduce((a, b) => Math.max(a, b))),
    ]
  })
  const columns = ['revised at', 'first value', 'last value', 'values', 'withdrawn', 'largest change']
  const hidden = rows.length - MAX_REVISIONS
  const more = hidden > 0 ? `\n… and ${quantity(hidden, 'earlier revision time')}; --json lists all.` : ''
  const table = tableText({ columns, rows: rows.slice(0, MAX_REVISIONS) })
  return `${quantity(revisions.length, 'value')} revised:\n${table}${more}`
}

/** Marks every column of a chart in which a value was revised. */
function revisionMarks(revisions: readonly Revision[], from: number, to: number, width: number): string {
  const columns = new Array<string>(width).fill(' ')
  for (const { at } of revisions) columns[Math.min(width - 1, Math.floor(((at - from) / (to - from)) * width))] = '▲'
  return columns.join('').trimEnd()
}

function caption(drawn: DrawnSeries): string {
  const { name, geoName, unit, state } = drawn
  const numbers = drawnValues(drawn)
  const { low, high } = findScale(numbers)
  const head = oneLine(`${name}${geoName ? `, ${geoName}` : ''}${unit ? ` (${unit})` : ''}${state}`)
  return numbers.length === 0
    ? `${head}: no values in this range`
    : `${head}: mean ${shortNumber(mean(numbers))}, from ${shortNumber(low)} to ${shortNumber(high)}`
}

/** Compares two series in the periods of the longer step in which both have values. */
function comparisonText(a: DrawnSeries, b: DrawnSeries): string {
  const step = Math.max(a.step, b.step)
  const means = (series: DrawnSeries): (number | null)[] =>
    Array.from({ length: Math.ceil((a.values.length * a.step) / step) }, (_, i) => {
      const part = series.values.slice((i * step) / series.step, ((i + 1) * step) / series.step)
      const numbers = part.filter((value) => value !== null)
      return numbers.length === 0 ? null : mean(numbers)
    })
  const meansB = means(b)
  const pairs = means(a).flatMap((x, i): [number, number][] => {
    const y = meansB[i] ?? null
    return x === null || y === null ? [] : [[x, y]]
  })
  if (pairs.length < 2) return 'The two series have no timestamp in common.'
  const [meanX, meanY] = [mean(pairs.map(([x]) => x)), mean(pairs.map(([, y]) => y))]
  const sum = (term: (x: number, y: number) => number): number =>
    pairs.reduce((total, [x, y]) => total + term(x - meanX, y - meanY), 0)
  const correlation = sum((x, y) => x * y) / Math.sqrt(sum((x) => x * x) * sum((_, y) => y * y))
  const correlationText = Number.isNaN(correlation)
    ? 'undefined, because one series is constant'
    : correlation.toFixed(3)
  return `Second minus first: ${shortNumber(meanY - meanX)} on average; correlation ${correlationText}, over ${quantity(pairs.length, 'period')} of ${step} s.`
}

export const showJson = ({ all, from, then, revised, current }: Shown): object[] =>
  all.map(({ values, step, name, unit, geoId, geoName }) => ({
    name,
    unit,
    geo_id: geoId,
    geo_name: geoName,
    from,
    step_s: step,
    values,
    ...(then === 'now' ? {} : { as_of: then }),
    ...(revised &&
      current && {
        now: { step_s: current.step, values: current.values },
        revisions: revised.map(({ at, revisedAt, ...revision }) => ({
          at_utc: formatUtc(at),
          ...revision,
          revised_at: revisedAt,
        })),
      }),
  }))

/** Draws charts of a width, with revisions and the comparison of two series. */
export function showText({ all, from, to, revised, current }: Shown, columns: number): string {
  const first = all[0]!
  const charts = [...all, ...(current ? [current] : [])]
  // One unit means one scale, so that the lines can be compared.
  const isShared = all.every(({ unit }) => unit === first.unit)
  const scale = findScale(charts.flatMap(drawnValues))
  const width = Math.min(columns, MAX_CHART_WIDTH)
  const [begin, end] = [from, to].map((at) => formatLocal(first.zone, at).slice(0, 16))
  const drawings = charts.map((drawn) => {
    const { low, high } = isShared ? scale : findScale(drawn.values)
    const lines = chartText(drawn.values, { width, height: CHART_LINES, low, high })
    const margin = lines[0]!.indexOf('│') + 1
    const until = from + drawn.values.length * drawn.step
    const marks = drawn === current ? revisionMarks(revised ?? [], from, until, width - margin) : ''
    return [caption(drawn), ...lines, marks && ' '.repeat(margin) + marks].join('\n')
  })
  return [
    ...drawings,
    `${begin!.padEnd(width - 16)}${end}`,
    ...(revised ? [`\n${revisionsTable(revised, first.zone)}`] : []),
    ...(all.length === 2 ? [`\n${comparisonText(all[0]!, all[1]!)}`] : []),
  ].join('\n')
}
