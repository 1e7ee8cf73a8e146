import { padTwo } from '../../util/time/zone.ts'

/* The periods in the header of a sheet, as numbers from 0 within the local day. */

/** A local day: its length in hours and whether its clocks change. */
export interface DayLength {
  readonly hours: number
  readonly isChanged: boolean
}

/** A cell of a header that names a period: `7`, `00-01` or `2-4`. */
export interface PeriodName {
  readonly first: number
  readonly second: number | null
}

/** The periods of the columns of a sheet. */
export interface SheetPeriods {
  /** 3600 or 900. */
  readonly stepS: number
  /** The period of each column, from 0; null for a column that is empty because the day lacks its period. */
  readonly numbers: readonly (number | null)[]
}

const NAME = /^(\d{1,3})(?:\s*-\s*(\d{1,2}))?$/

/** Reads the name of a period; null for any other cell. */
export function parsePeriodName(cell: unknown): PeriodName | null {
  const [, first, second] = NAME.exec(String(cell ?? '').trim()) ?? []
  return first === undefined ? null : { first: Number(first), second: second === undefined ? null : Number(second) }
}

/** Larger numbers are quarter-hours. */
const MAX_HOUR = 30
const QUARTERS = 4

const formatName = ({ first, second }: PeriodName): string =>
  second === null ? String(first) : `${padTwo(first)}-${padTwo(second)}`

/** The names of columns, what they count, and the number of each from 1 by its name. */
interface Counted {
  readonly stepS: number
  readonly ordinals: readonly number[]
  /** Whether a part of a day would not be certain. */
  readonly isWhole: boolean
}

/** Decides whether names are hours or quarter-hours. Returns a reason if they are neither. */
function countPeriods(names: readonly PeriodName[]): Counted | string {
  if (names.every(({ second }) => second === null)) {
    const ordinals = names.map(({ first }) => first)
    // Any two numbers might be values, so only those of a whole day are periods.
    const wrong = ordinals.find((ordinal, i) => ordinal !== i + 1)
    if (wrong !== undefined) return `its periods are not numbered from 1 on: ${wrong}`
    return { stepS: ordinals.length > MAX_HOUR ? 900 : 3600, ordinals, isWhole: true }
  }
  if (names.every(({ first, second }) => second === first + 1))
    return { stepS: 3600, ordinals: names.map(({ first }) => first + 1), isWhole: false }
  const wrong = names.find(({ second }) => second !== null && (second < 1 || second > QUARTERS))
  if (wrong) return `${formatName(wrong)} is neither an hour nor a quarter-hour`
  // The first quarter of an hour may be the number of the hour alone.
  const ordinals = names.map(({ first, second }) => (first - 1) * QUARTERS + (second ?? 1))
  return { stepS: 900, ordinals, isWhole: false }
}

/** Numbers the columns of a day whose clocks change by their position, because their names may be those of the clock. */
function numberByPosition(
  ordinals: readonly number[],
  most: number,
  isEmpty: (column: number) => boolean,
): (number | null)[] | string {
  const count = ordinals.length
  // Names of the clock go back once in autumn, by an hour.
  const backward = ordinals.filter((ordinal, i) => ordinal <= (ordinals[i - 1] ?? 0))
  const isOrdered = backward.length <= 1 && ordinals.every((ordinal, i) => ordinal > (ordinals[i - 1] ?? 0) - QUARTERS)
  if (!isOrdered) return `period ${backward[0]} is out of order`
  const columns = ordinals.map((_, i) => i)
  if (count === most) return columns
  if (count < most) return `it has ${count} of ${most} periods`
  const empty = columns.filter(isEmpty)
  if (empty.length !== count - most) return `it has ${count} periods, but the day has ${most}`
  let next = 0
  return columns.map((column) => (empty.includes(column) ? null : next++))
}

/** Numbers the columns of a day by their names. */
function numberByName(ordinals: readonly number[], most: number, isEmpty: (column: number) => boolean) {
  const unsorted = ordinals.findIndex((ordinal, i) => ordinal <= (ordinals[i - 1] ?? 0))
  if (unsorted !== -1) return `period ${ordinals[unsorted]} is out of order`
  const late = ordinals.findIndex((ordinal, i) => ordinal > most && !isEmpty(i))
  if (late !== -1) return `it has a period ${ordinals[late]}, but the day has ${most}`
  return ordinals.map((ordinal) => (ordinal > most ? null : ordinal - 1))
}

/**
 * Numbers the periods of columns. `quarters`: the columns of each name, 1, or 4 if only hours have names. `isEmpty`: whether a column
 * has no values. Returns a reason if the periods are not certain.
 */
export function numberPeriods(
  names: readonly PeriodName[],
  day: DayLength,
  quarters: number,
  isEmpty: (column: number) => boolean,
): SheetPeriods | string {
  const counted = countPeriods(names)
  if (typeof counted === 'string') return counted
  const { stepS, ordinals, isWhole } = counted
  if (quarters > 1 && stepS !== 3600) return 'its quarter-hours have several columns each'
  const most = (day.hours * 3600) / stepS
  if (isWhole && names.length < most) return `it has ${names.length} of ${most} periods`
  const isEmptyName = (name: number): boolean =>
    Array.from({ length: quarters }, (_, q) => isEmpty(name * quarters + q)).every(Boolean)
  const numbers = day.isChanged
    ? numberByPosition(ordinals, most, isEmptyName)
    : numberByName(ordinals, most, isEmptyName)
  if (typeof numbers === 'string') return numbers
  return {
    stepS: stepS / quarters,
    numbers: numbers.flatMap((number) =>
      Array.from({ length: quarters }, (_, q) => (number === null ? null : number * quarters + q)),
    ),
  }
}
