import type { Revision } from '../../db/engine.ts'
import { oneLine, quantity } from '../../util/text.ts'
import { formatUtc } from '../../util/time/instant.ts'
import { formatLocal } from '../../util/time/zone.ts'
import { chartText, findScale } from '../terminal/chart.ts'
import { tableText } from '../terminal/table.ts'

const shortNumber = (value: number): string => value.toLocaleString('en-GB', { maximumFractionDigits: 2 })

/** How many revisions are listed. */
const LISTED = 20

/** When something was revised, the latest first: how many values, of which time, and by how much at most. */
function revisionsTable(revisions: readonly Revision[], zone: string): string {
  if (revisions.length === 0) return 'No revisions in this range.'
  const rows = [...Map.groupBy(revisions, ({ revisedAt }) => revisedAt)].map(([revisedAt, together]) => {
    const times = together.map(({ at }) => at)
    const [first, last] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))]
    const changes = together.flatMap(({ before, after }) =>
      before === null || after === null ? [] : [Math.abs(after - before)],
    )
    return [
      formatLocal(zone, Math.floor(Date.parse(revisedAt) / 1000)).slice(0, 16),
      formatLocal(zone, first).slice(0, 16),
      formatLocal(zone, last).slice(0, 16),
      together.length,
      together.filter(({ withdrawn }) => withdrawn).length,
      changes.length === 0 ? '' : shortNumber(changes.reduce((a, b) => Math.max(a, b))),
    ]
  })
  const columns = ['revised at', 'first value', 'last value', 'values', 'withdrawn', 'largest change']
  const more =
    rows.length > LISTED ? `\n… and ${quantity(rows.length - LISTED, 'earlier revision time')}; --json lists all.` : ''
  return `${quantity(revisions.length, 'value')} revised:\n${tableText({ columns, rows: rows.slice(0, LISTED) })}${more}`
}

/** A mark below every column of a chart in which something was revised. */
function marks(revisions: readonly Revision[], from: number, to: number, width: number): string {
  const columns = new Array<string>(width).fill(' ')
  for (const { at } of revisions) columns[Math.min(width - 1, Math.floor(((at - from) / (to - from)) * width))] = '▲'
  return columns.join('').trimEnd()
}

/** Revisions for machines. */
const revisionsJson = (revisions: readonly Revision[]): object[] =>
  revisions.map(({ at, before, after, withdrawn, revisedAt }) => ({
    at_utc: formatUtc(at),
    before,
    after,
    withdrawn,
    revised_at: revisedAt,
  }))

/** A series of one geo that is shown, and what is stored of it. */
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

/** Its values in the range that is shown. */
export interface DrawnSeries extends ShownSeries {
  /** Which state of the values it is, where it is not the current one. */
  readonly state: string
  readonly step: number
  /** One value for each step; null where there is none. */
  readonly values: (number | null)[]
}

/** What is shown: series, and what was revised of the first one since. */
export interface Shown {
  readonly all: readonly DrawnSeries[]
  readonly from: number
  readonly to: number
  /** As of when the values are: an instant; `first`: as first stored; `now`: as they are. */
  readonly then: string
  readonly revised: readonly Revision[] | null
  /** The current state of the first series, where it is compared with an earlier one. */
  readonly current: DrawnSeries | null
}

/** Lines of a picture, and the columns of the widest. */
const PICTURE_LINES = 12
const PICTURE_WIDTH = 160

export function drawnValues({ values }: DrawnSeries): number[] {
  return values.filter((value) => value !== null)
}

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, value) => sum + value, 0) / numbers.length

function caption(drawn: DrawnSeries): string {
  const numbers = drawnValues(drawn)
  const { low, high } = findScale(numbers)
  const head = oneLine(
    `${drawn.name}${drawn.geoName ? `, ${drawn.geoName}` : ''}${drawn.unit ? ` (${drawn.unit})` : ''}${drawn.state}`,
  )
  return numbers.length === 0
    ? `${head}: no values in this range`
    : `${head}: mean ${shortNumber(mean(numbers))}, from ${shortNumber(low)} to ${shortNumber(high)}`
}

/** Two series where both have values, hour by hour. */
function compare(a: DrawnSeries, b: DrawnSeries): string {
  const step = Math.max(a.step, b.step)
  const at = ({ values, step: own }: DrawnSeries, i: number): number | null => {
    const part = values.slice((i * step) / own, ((i + 1) * step) / own).filter((value) => value !== null)
    return part.length === 0 ? null : mean(part)
  }
  const pairs: [number, number][] = []
  for (let i = 0; i < (a.values.length * a.step) / step; i++) {
    const [x, y] = [at(a, i), at(b, i)]
    if (x !== null && y !== null) pairs.push([x, y])
  }
  if (pairs.length < 2) return 'The two series have no timestamp in common.'
  const [mx, my] = [mean(pairs.map(([x]) => x)), mean(pairs.map(([, y]) => y))]
  const sum = (of: (x: number, y: number) => number): number =>
    pairs.reduce((all, [x, y]) => all + of(x - mx, y - my), 0)
  const correlation = sum((x, y) => x * y) / Math.sqrt(sum((x) => x * x) * sum((_, y) => y * y))
  return `Second minus first: ${shortNumber(my - mx)} on average; correlation ${Number.isNaN(correlation) ? 'undefined, because one series is constant' : correlation.toFixed(3)}, over ${quantity(pairs.length, 'period')} of ${step} s.`
}

/** What is shown as JSON, for programs. */
export const shownJson = ({ all, from, then, revised, current }: Shown): object[] =>
  all.map(({ values, step, name, unit, geoId, geoName }) => ({
    name,
    unit,
    geo_id: geoId,
    geo_name: geoName,
    from,
    step_s: step,
    values,
    ...(then === 'now' ? {} : { as_of: then }),
    ...(revised && current
      ? {
          now: { step_s: current.step, values: current.values },
          revisions: revisionsJson(revised),
        }
      : {}),
  }))

/** What is shown as pictures `columns` wide, with what was revised and how two series compare, for people. */
export function shownText({ all, from, to, revised, current }: Shown, columns: number): string {
  const first = all[0]!
  // One unit means one scale, so that the lines can be compared.
  const shared = all.every(({ unit }) => unit === first.unit)
  const pictures = [...all, ...(current ? [current] : [])]
  const whole = findScale(pictures.flatMap(drawnValues))
  const width = Math.min(columns, PICTURE_WIDTH)
  const [begin, end] = [from, to].map((at) => formatLocal(first.zone, at).slice(0, 16))
  const drawings = pictures.map((drawn) => {
    const { low, high } = shared ? whole : findScale(drawn.values)
    const lines = chartText(drawn.values, { width, height: PICTURE_LINES, low, high })
    const margin = lines[0]!.indexOf('│') + 1
    const below =
      drawn === current
        ? ' '.repeat(margin) + marks(revised ?? [], from, from + drawn.values.length * drawn.step, width - margin)
        : ''
    return [caption(drawn), ...lines, below.trimEnd()].join('\n')
  })
  return [
    ...drawings,
    `${begin!.padEnd(width - 16)}${end}`,
    ...(revised ? [`\n${revisionsTable(revised, first.zone)}`] : []),
    ...(all.length === 2 ? [`\n${compare(all[0]!, all[1]!)}`] : []),
  ].join('\n')
}
