import type { RecipeChart } from '../../reports/recipes/recipe.ts'
import { oneLine } from '../../util/text.ts'
import { DAY, EARLIEST, isDate, LATEST } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { formatLocal } from '../../util/time/zone.ts'
import { valueText, writtenLocale } from '../client/format.ts'
import type { CollectedResult } from '../statementQueue.ts'
import { timeTicks } from '../timeTicks.ts'
import { type ChartShape, type Drawing, type NamedBars, type Path, roundTicks } from './drawing.ts'

/* The chart of an SQL result: lines or bars over a column of times or numbers, or bars of names. */

/** A chosen chart. `x`, `y` and `by` are names of columns; with `by`, each of its values is a line of the first `y`. */
export interface ResultChoice {
  readonly kind: 'line' | 'bars'
  readonly x: string
  readonly y: readonly string[]
  readonly by: string | null
}

/** What the cells of a column are; null if it has only NULLs. */
type Content = 'time' | 'number' | 'text' | null
type Cell = string | number | null

/** The styles of lines, in their order. */
export const LINE_STYLES = ['now', 'then', 'with-0', 'with-1', 'with-2', 'with-3', 'with-4'] as const
/** The most names that get bars, and the most positions with a text under the pointer. */
const MAX_NAMES = 40
const MAX_HINTS = 400
/** The most positions that have marks of their own. */
const MAX_OWN_TICKS = 10

/** A month, a day or a time, with or without an offset. */
const TIME = /^(\d{4}-\d\d)(-\d\d)?(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?)?(Z|[+-]\d\d(?::?\d\d)?)?$/
/** The name of columns with epoch seconds. */
const INSTANT_COLUMN = 'at'
const NUMBER = /^-?\d+(?:\.\d+)?$/
/** Numbers beyond this are left out: the distance of two of them must not overflow. */
const MAX_NUMBER = 1e150

const isDrawn = (number: number): boolean => Math.abs(number) <= MAX_NUMBER
const isInstant = (cell: Cell): boolean => typeof cell === 'number' && cell >= EARLIEST && cell <= LATEST

/** A time in epoch seconds; a clock without an offset is read as UTC. */
function parseTime(text: string): number {
  const [, month, day = '-01', minute = '00:00', second = ':00', zone = 'Z'] = TIME.exec(text) ?? []
  const [, hours, minutes = '00'] = /^([+-]\d\d):?(\d\d)?$/.exec(zone) ?? []
  const offset = hours === undefined ? 'Z' : `${hours}:${minutes}`
  // The parser of dates takes the 30th of February for a day of March.
  const [year = 0, monthOfYear = 0, dayOfMonth = 0] = `${month}${day}`.split('-').map(Number)
  if (month === undefined || !isDate(year, monthOfYear, dayOfMonth)) return Number.NaN
  return Date.parse(`${month}${day}T${minute}${second}${offset}`) / 1000
}

function findContent(name: string, cells: readonly Cell[]): Content {
  const known = cells.filter((cell) => cell !== null)
  if (known.length === 0) return null
  if (name === INSTANT_COLUMN && known.every(isInstant)) return 'time'
  if (known.every((cell) => typeof cell === 'number' || NUMBER.test(cell))) return 'number'
  return known.every((cell) => typeof cell === 'string' && !Number.isNaN(parseTime(cell))) ? 'time' : 'text'
}

/** The columns of a result, with their contents. */
export function describeColumns({ columns, rows }: Pick<CollectedResult, 'columns' | 'rows'>) {
  return columns.map((name, i) => ({
    name,
    content: findContent(
      name,
      rows.map((row) => row[i]!),
    ),
    isValue: rows.some((row) => typeof row[i] === 'number') && rows.every((row) => typeof row[i] !== 'string'),
  }))
}

export type ResultColumn = ReturnType<typeof describeColumns>[number]

/** Whether a result can be drawn: its first column is not empty, and another one has numbers. */
export const isDrawable = ([first, ...rest]: readonly ResultColumn[]): boolean =>
  first !== undefined && first.content !== null && rest.some(({ isValue }) => isValue)

/** Finds a column whose values differ where those of another one are equal; null if there is none. */
function findGroups({ rows }: CollectedResult, columns: readonly ResultColumn[], x: number, y: readonly string[]) {
  const isUnique = (i: number | null): boolean =>
    new Set(rows.map((row) => JSON.stringify([row[x], i === null ? null : row[i]]))).size === rows.length
  if (isUnique(null)) return null
  const others = columns.flatMap((column, i) => (i === x || y.includes(column.name) ? [] : [{ ...column, i }]))
  const names = others.filter(({ content }) => content === 'text')
  return [...names, ...others].find(({ i }) => isUnique(i))?.name ?? null
}

/** Chooses the chart of a result by the query of an address, else by the recipe; null for the table alone. */
export function chooseChart(
  result: CollectedResult,
  columns: readonly ResultColumn[],
  query: URLSearchParams,
  recipe: RecipeChart | null,
): ResultChoice | null {
  const kind = (['line', 'bars', 'table'] as const).find((name) => name === query.get('chart')) ?? recipe?.kind
  if (kind === undefined || kind === 'table' || !isDrawable(columns)) return null
  const has = (name: string | null | undefined): name is string =>
    columns.some((column) => column.name === name && column.content !== null)
  const x = [query.get('x'), recipe?.x].find(has) ?? columns[0]!.name
  const values = columns.filter(({ name, isValue }) => isValue && name !== x).map(({ name }) => name)
  // Ids are numbers that nobody draws, unless there is nothing else.
  const usual = values.filter((name) => !/(?:^|_)id$|^step_s$/.test(name))
  const named = query.getAll('y').flatMap((text) => (values.includes(text) ? text : text.split(',')))
  const [y] = [named, recipe?.y ?? [], usual, values]
    .map((names) => values.filter((name) => names.includes(name)))
    .filter((names) => names.length > 0)
  if (y === undefined) return null
  const at = columns.findIndex(({ name }) => name === x)
  const byText = query.get('by') ?? recipe?.by
  const by = has(byText) && byText !== x ? byText : null
  const isText = columns[at]!.content === 'text'
  return {
    kind: isText ? 'bars' : kind,
    x,
    y: y.slice(0, LINE_STYLES.length),
    by: query.get('by') === '' ? null : (by ?? findGroups(result, columns, at, y)),
  }
}

/** A line of a result: its name, and the value at each position of the horizontal axis. */
interface ResultLine {
  readonly name: string
  readonly values: ReadonlyMap<number, number>
}

/** A result as lines over positions, each of which has a text. */
export interface ResultLines {
  readonly content: Exclude<Content, null>
  readonly lines: readonly ResultLine[]
  /** The lines that have no style left. */
  readonly leftOut: number
  /** Values that are not drawn: another row has the same position, or they are too large. */
  readonly hidden: number
  readonly positions: readonly (readonly [at: number, text: string])[]
  /** The zone of the times; UTC for clocks without an offset. */
  readonly zone: string
}

/** Reads the lines of a chosen chart. `zone` is that of times with an offset. */
export function readLines(
  { rows }: Pick<CollectedResult, 'rows'>,
  columns: readonly ResultColumn[],
  { x, y, by }: ResultChoice,
  zone: string,
): ResultLines {
  const find = (name: string | null): number => columns.findIndex((column) => column.name === name)
  const xAt = find(x)
  const content = columns[xAt]!.content ?? 'text'
  const texts = new Map<number, string>()
  const names = new Map<Cell, number>()
  const position = (cell: Cell): number => {
    if (content === 'number' || (content === 'time' && typeof cell === 'number')) return Number(cell)
    if (content === 'time') return parseTime(String(cell))
    if (!names.has(cell)) names.set(cell, names.size)
    return names.get(cell)!
  }
  const lines = new Map<Cell, Map<number, number>>()
  let hidden = 0
  const set = (group: Cell, at: number, value: Cell | undefined): void => {
    const line = lines.get(group) ?? new Map<number, number>()
    lines.set(group, line)
    if (typeof value !== 'number') return
    if (line.has(at) || !isDrawn(value)) hidden++
    if (isDrawn(value)) line.set(at, value)
  }
  const yAts = y.map(find)
  const byAt = find(by)
  for (const row of rows) {
    const cell = row[xAt]!
    if (cell === null) continue
    const at = position(cell)
    if (!isDrawn(at)) {
      hidden++
      continue
    }
    if (!texts.has(at))
      texts.set(at, content === 'time' && typeof cell === 'number' ? formatLocal(zone, at) : String(cell))
    if (by === null) for (const [i, name] of y.entries()) set(name, at, row[yAts[i]!])
    else set(row[byAt] ?? null, at, row[yAts[0]!])
  }
  const all = [...lines].map(([group, values]) => ({
    name: typeof group === 'string' ? group : `${by} ${group ?? '–'}`,
    values,
  }))
  const hasZone = (cell: Cell | undefined): boolean =>
    typeof cell !== 'string' || /[T ]\d\d:.*(?:Z|[+-]\d\d(?::?\d\d)?)$/.test(cell)
  const isLocal = rows.every((row) => hasZone(row[xAt]))
  return {
    content,
    lines: all.slice(0, LINE_STYLES.length),
    leftOut: Math.max(0, all.length - LINE_STYLES.length),
    hidden,
    positions: [...texts].sort(([a], [b]) => a - b),
    zone: content === 'time' && isLocal ? zone : 'UTC',
  }
}

/** The usual distance of positions: the median. */
function usualDistance(positions: readonly number[], single: number): number {
  const distances = positions.slice(1).map((at, i) => at - positions[i]!)
  return distances.toSorted((a, b) => a - b)[distances.length >> 1] ?? single
}

/** Draws a line through values; where some are missing, it stays open. A value between two gaps is a dash. */
const drawLine = (values: readonly (readonly [number, number])[], longest: number): Path => {
  return (pen, { x, y }) => {
    for (const [i, [at, value]] of values.entries()) {
      const isNext = (other: readonly [number, number] | undefined): boolean =>
        other !== undefined && Math.abs(other[0] - at) <= longest
      if (isNext(values[i - 1])) pen.lineTo(x(at), y(value))
      else if (isNext(values[i + 1])) pen.moveTo(x(at), y(value))
      else {
        pen.moveTo(x(at) - 2, y(value))
        pen.lineTo(x(at) + 2, y(value))
      }
    }
  }
}

/** Draws bars from zero. `offset`: the distance of a bar's left side from its position. */
const drawBars =
  (values: readonly (readonly [number, number])[], offset: number, width: number): Path =>
  (pen, { x, y }) => {
    for (const [at, value] of values) {
      const left = x(at + offset)
      const right = Math.max(x(at + offset + width), left + 0.5)
      pen.moveTo(left, y(0))
      pen.lineTo(left, y(value))
      pen.lineTo(right, y(value))
      pen.lineTo(right, y(0))
    }
  }

/** Marks of the horizontal axis. Bars of days, and months, have marks at their own positions. */
function axisTicks(
  { content, positions, zone }: Pick<ResultLines, 'content' | 'positions' | 'zone'>,
  isBars: boolean,
  range: Interval,
  locale: string,
): Drawing['ticks'] {
  const longest = Math.max(0, ...positions.map(([, text]) => text.length))
  const isMonths = longest === 'YYYY-MM'.length
  if (content === 'time' && (isMonths || (isBars && longest === 'YYYY-MM-DD'.length))) {
    const day = isMonths ? ({ year: 'numeric' } as const) : ({ day: 'numeric' } as const)
    const format = new Intl.DateTimeFormat(writtenLocale(locale), { ...day, month: 'short', timeZone: zone })
    const every = Math.ceil(positions.length / MAX_OWN_TICKS)
    return positions.filter((_, i) => i % every === 0).map(([at]) => ({ at, label: format.format(at * 1000) }))
  }
  if (content === 'time') return timeTicks(zone, { from: Math.ceil(range.from), to: range.to }, locale)
  const isWhole = positions.every(([at]) => Number.isInteger(at))
  return (
    roundTicks(range.from, range.to, 10)
      .filter((at) => !isWhole || Number.isInteger(at))
      // Whole numbers of four digits may be years.
      .map((at) => ({ at, label: at.toLocaleString(locale, { useGrouping: !isWhole || range.to >= 10_000 }) }))
  )
}

/** Draws lines or bars over times or numbers. */
export function resultDrawing(
  { content, lines, positions, zone }: ResultLines,
  kind: ResultChoice['kind'],
  unit: string | null,
  locale: string,
): Drawing {
  const ats = positions.map(([at]) => at)
  const distance = usualDistance(ats, content === 'time' ? DAY : 1)
  const isBars = kind === 'bars'
  const first = ats[0] ?? 0
  const last = ats.at(-1) ?? 1
  const margin = isBars || first === last ? distance / 2 : 0
  const range: Interval = { from: first - margin, to: last + margin }
  const slot = (0.8 * distance) / lines.length
  const drawn = lines.map(({ values }, i): ChartShape => {
    const points = [...values].sort(([a], [b]) => a - b)
    const numbers = [...values.values(), ...(isBars ? [0] : [])]
    const valueRange = values.size === 0 ? undefined : { low: Math.min(...numbers), high: Math.max(...numbers) }
    const line = { style: LINE_STYLES[i]!, isOther: false, valueRange }
    return isBars
      ? { ...line, bars: drawBars(points, i * slot - 0.4 * distance, slot) }
      : { ...line, stroke: drawLine(points, 1.5 * distance) }
  })
  const hint = (at: number, text: string): string =>
    [
      text,
      ...lines.flatMap(({ name, values }) => {
        const value = values.get(at)
        return value === undefined ? [] : [`${name}: ${valueText(value, locale)}`]
      }),
    ].join('\n')
  return {
    ...range,
    lines: drawn,
    unit,
    otherUnit: null,
    hasOtherAxis: false,
    states: [],
    ticks: axisTicks({ content, positions, zone }, isBars, range, locale),
    marks: [],
    hints:
      positions.length > MAX_HINTS
        ? []
        : positions.map(([at, text]) => ({ from: at - distance / 2, to: at + distance / 2, text: hint(at, text) })),
  }
}

/** The bars of names, at most as many as a picture holds; `leftOut`: how many more there are. */
export function namedBars({ lines, positions }: ResultLines, locale: string): NamedBars & { readonly leftOut: number } {
  const shown = positions.slice(0, MAX_NAMES)
  const bars = shown.map(([at, text]) => {
    const values = lines.flatMap(({ values: all }, i) => {
      const value = all.get(at)
      return value === undefined ? [] : [{ style: LINE_STYLES[i]! as string, value }]
    })
    return {
      text: `${oneLine(text)}: ${values.map(({ value }) => valueText(value, locale)).join(' · ') || '–'}`,
      values,
    }
  })
  const numbers = [0, ...bars.flatMap(({ values }) => values.map(({ value }) => value))]
  const low = Math.min(...numbers)
  const high = Math.max(...numbers)
  return { bars, valueRange: { low, high: high > low ? high : low + 1 }, leftOut: positions.length - shown.length }
}
