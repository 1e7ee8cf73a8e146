import type { SheetRow } from '../../util/workbook.ts'
import { type DayLength, numberPeriods, type PeriodName, parsePeriodName, type SheetPeriods } from './periods.ts'

/** The header of a sheet. SheetRows and columns count from 0. */
export interface Header extends Pick<SheetPeriods, 'stepS'> {
  /** The row after the header. */
  readonly end: number
  /** The names of the columns without periods. */
  readonly labels: ReadonlyMap<number, string>
  /** The measures of each period; one empty name if the sheet has a single measure without a name. */
  readonly measures: readonly string[]
  /** The column of each measure, with the number of its period from 0. */
  readonly columns: readonly { readonly column: number; readonly period: number; readonly measure: number }[]
}

type SheetRows = readonly (SheetRow | undefined)[]

/** The header begins in one of the first rows, mostly the third. */
const HEADER_ROWS = 6
/** The length of the name of a unit or measure: indexes cannot store long ones. */
export const MAX_NAME = 200
/** The characters of the names of all label columns: they are stored with each row. */
const MAX_LABELS = 1_000
/** Fewer numbers are values. */
const MIN_NUMBERS = 12
const MIN_PERIODS = 2

/** A period in a row, with its columns. */
interface Group {
  readonly name: PeriodName
  readonly columns: readonly number[]
}

/** The letters of a column: 0 is A. */
export const columnLetters = (column: number): string =>
  (column < 26 ? '' : columnLetters(Math.floor(column / 26) - 1)) + String.fromCharCode(65 + (column % 26))

/** Whether a row may name periods. */
function hasNames(row: SheetRow = []): boolean {
  const names = row.map(parsePeriodName).filter((name) => name !== null)
  return names.length >= (names.some(({ second }) => second !== null) ? MIN_PERIODS : MIN_NUMBERS)
}

const isWord = (cell: unknown): boolean => typeof cell === 'string' && !/^[-+\d.,\s]*$/.test(cell)

/** Divides a row into periods. Empty cells after a period belong to it. */
function groupColumns(row: SheetRow, end: number): Group[] {
  const groups: { name: PeriodName; columns: number[] }[] = []
  let open: number[] | null = null
  for (let column = 0; column < end; column++) {
    const cell = row[column]
    const name = parsePeriodName(cell)
    if (name) {
      open = [column]
      groups.push({ name, columns: open })
    } else if (cell === undefined) open?.push(column)
    else open = null
  }
  return groups
}

const isSame = (a: PeriodName, b: PeriodName): boolean => a.first === b.first && a.second === b.second

/** Joins periods whose name stands over each of their columns. */
function joinRepeated(groups: readonly Group[]): readonly Group[] {
  const width = groups.findIndex(({ name }) => !isSame(name, groups[0]!.name))
  const isRepeated = width > 1 && groups.every(({ name }, i) => isSame(name, groups[i - (i % width)]!.name))
  if (!isRepeated || groups.length % width !== 0 || groups.some(({ columns }) => columns.length > 1)) return groups
  return groups
    .filter((_, i) => i % width === 0)
    .map(({ name }, i) => ({
      name,
      columns: groups.slice(i * width, (i + 1) * width).flatMap(({ columns }) => columns),
    }))
}

/** Gives all periods as many columns; the last one may lack empty cells. Returns null if their widths differ. */
function alignGroups(groups: readonly Group[]): readonly Group[] | null {
  const width = groups[0]!.columns.length
  const last = groups.at(-1)!
  const isAligned = groups.slice(0, -1).every(({ columns }) => columns.length === width) && last.columns.length <= width
  const [from] = last.columns as [number]
  const columns = Array.from({ length: width }, (_, i) => from + i)
  return isAligned ? [...groups.slice(0, -1), { name: last.name, columns }] : null
}

/** The measures below a period, without those of its later quarter-hours. */
function findMeasures(texts: readonly string[]): readonly string[] {
  const width = texts.findIndex((text, i) => i > 0 && text === texts[0])
  return width === -1 ? texts : texts.slice(0, width)
}

/** The names of label columns, from one row or two. */
function nameLabels(top: SheetRow, bottom: SheetRow, periods: ReadonlySet<number>): Map<number, string> {
  const labels = new Map<number, string>()
  let group = ''
  for (let column = 0; column < Math.max(top.length, bottom.length); column++) {
    if (top[column] !== undefined) group = String(top[column])
    if (periods.has(column)) continue
    const upper = top[column]
    const lower = bottom[column]
    // Totals have a measure each, as the periods do.
    const name = lower !== undefined && isTotal(group) ? `${group} ${lower}` : (lower ?? upper)
    if (name !== undefined) labels.set(column, String(name))
  }
  return labels
}

const isTotal = (group: unknown): boolean => /^total/i.test(String(group))

/**
 * Whether the row below the periods names their measures: it has a word in each column of a period, and is not the first row of
 * values. In that one, columns with labels have cells. Totals have measures, too.
 */
function namesMeasures(top: SheetRow, below: SheetRow, periods: readonly number[]): boolean {
  const isPeriod = new Set(periods)
  const hasLabel = top.some(
    (name, column) => name !== undefined && !isPeriod.has(column) && !isTotal(name) && below[column] !== undefined,
  )
  return !hasLabel && periods.every((column) => isWord(below[column]))
}

/** Reads the header whose periods are in a row. Returns a reason if they are not certain. */
function readHeader(rows: SheetRows, at: number, day: DayLength): Header | string {
  const top = rows[at]!
  const below = rows[at + 1] ?? []
  const known = groupColumns(top, top.length).flatMap(({ columns }) => columns)
  const hasMeasures = namesMeasures(top, below, known)
  const groups = alignGroups(
    joinRepeated(groupColumns(top, hasMeasures ? Math.max(top.length, below.length) : top.length)),
  )
  if (!groups) return 'its periods have different numbers of columns'
  const width = groups[0]!.columns.length
  const texts = groups.map(({ columns }) => columns.map((column) => (hasMeasures ? String(below[column]) : '')))
  const measures = hasMeasures ? findMeasures(texts[0]!) : ['']
  const isRegular = texts.every((list) => list.every((text, i) => text === measures[i % measures.length]))
  if (!isRegular || new Set(measures).size < measures.length) return 'its periods have different measures'
  if (measures.some((measure) => measure.length > MAX_NAME)) return 'its measures are too long'
  const quarters = width / measures.length
  if (quarters !== 1 && quarters !== 4) return `each of its periods has ${width} columns`
  const periods = new Set(groups.flatMap(({ columns }) => columns))
  // Names of labels may have a row of their own below the periods.
  const hasLabels =
    !hasMeasures &&
    below.some(isWord) &&
    below.every((cell, column) => isWord(cell) && top[column] === undefined && !periods.has(column))
  const labels = nameLabels(top, hasMeasures || hasLabels ? below : [], periods)
  if ([...labels.values()].join('').length > MAX_LABELS) return 'the names of its labels are too long'
  const end = at + (hasMeasures || hasLabels ? 2 : 1)
  const filled = new Set<number>()
  rows.forEach((row, i) => {
    for (const column of i < end ? [] : Object.keys(row ?? [])) filled.add(Number(column))
  })
  const slots = groups.flatMap(({ columns }) =>
    Array.from({ length: quarters }, (_, q) => columns.slice(q * measures.length, (q + 1) * measures.length)),
  )
  const numbered = numberPeriods(
    groups.map(({ name }) => name),
    day,
    quarters,
    (slot) => !slots[slot]!.some((column) => filled.has(column)),
  )
  if (typeof numbered === 'string') return numbered
  const { stepS, numbers } = numbered
  const columns = slots.flatMap((slot, i) =>
    numbers[i] === null ? [] : slot.map((column, measure) => ({ column, period: numbers[i]!, measure })),
  )
  return { end, labels, measures, columns, stepS }
}

/** Finds the header of a sheet, which is the first row that may name periods. Returns a reason if it is not certain. */
export function findHeader(rows: SheetRows, day: DayLength): Header | string {
  const at = Array.from({ length: HEADER_ROWS }, (_, i) => i).find((i) => hasNames(rows[i]))
  return at === undefined ? `none of its first ${HEADER_ROWS} rows names periods` : readHeader(rows, at, day)
}
