import { readKnownValues } from '../../../db/queries/values.ts'
import { DAY } from '../../../util/time/instant.ts'
import type { Interval } from '../../../util/time/interval.ts'
import { eachPeriod, type LineData } from '../../client/segments.ts'
import type { PageRequest } from '../../page.ts'
import { periodAt } from '../periods.ts'
import { moveLine, placeName } from './compared.ts'
import { type ComparedLine, drawDays, drawLine, drawnUnit } from './lines.ts'
import type { MeasuredLine } from './periodRows.ts'
import { type ChartQuery, moveByShift, type NamedLine, readChoices } from './seriesQuery.ts'
import { drawnValue, joinValues } from './window.ts'

/** The longest range of which all values are subtracted, and the most values of a line in it: two months, every two minutes. */
const MAX_SUBTRACTED_S = 62 * DAY
const MAX_VALUES = 45_000

/** The difference between the first line and another one of its unit. */
export interface Difference {
  readonly name: string
  readonly unit: string | null
  /** The place of the other line among the compared ones. */
  readonly of: number
  readonly drawn: LineData
  /** The mean, the mean size and the root of the mean square, weighted by time; null without common periods. */
  readonly bias: number | null
  readonly mae: number | null
  readonly rmse: number | null
  /** The seconds that both lines cover. */
  readonly seconds: number
  /** The local day of now, if the range has a part of it. */
  readonly unfinished: readonly [from: number, to: number] | null
}

/** A difference without the digits that doubles do not have. */
export const withoutNoise = (difference: number): number => Number(difference.toFixed(9)) + 0

export const subtract = (value: number | null | undefined, other: number | null | undefined): number | null =>
  typeof value === 'number' && typeof other === 'number' ? withoutNoise(value - other) : null

/** The place of the line that is subtracted from the first one: the next one of its unit. Null unless the address has a difference. */
export function subtractedPlace({ query }: PageRequest, { unit }: NamedLine, compared: readonly ComparedLine[]) {
  const place = readChoices(query).difference ? compared.findIndex((other) => other.valueUnit === unit) : -1
  return place < 0 ? null : place
}

/** The name of a difference. */
export const differenceName = ({ words }: PageRequest, line: NamedLine, other: ComparedLine): string =>
  `${words.series.difference}: ${placeName(line)} − ${other.name}`

/** The differences between the periods that two lines share. Means have none if they cover other hours. */
function subtractLines(first: LineData, second: LineData): LineData {
  const others = new Map([...eachPeriod(second)].map((period) => [period.from, period]))
  const differences = [...eachPeriod(first)].flatMap(({ from, to, mean, seconds }) => {
    const other = others.get(from)
    if (mean === null || other?.to !== to || other.mean === null || other.seconds !== seconds) return []
    return [{ at: from, step: to - from, value: withoutNoise(mean - other.mean) }]
  })
  return { kind: 'values', segments: joinValues(differences) }
}

/** Reads every value of a line in a range; null if they are too many. */
async function readEveryValue(
  { store }: PageRequest,
  line: MeasuredLine,
  range: Interval,
  fetchId: number | null,
): Promise<LineData | null> {
  if (range.to - range.from > MAX_SUBTRACTED_S) return null
  const values = await readKnownValues(store.kysely, { ...line, ...range }, fetchId, MAX_VALUES + 1)
  if (values.length > MAX_VALUES) return null
  const drawn = values.map((each) => ({ ...each, value: drawnValue(line, each) }))
  return { kind: 'values', segments: joinValues(drawn) }
}

/** Computes the figures of differences, weighted by time. */
function figures(differences: LineData) {
  let seconds = 0
  let sum = 0
  let sizes = 0
  let squares = 0
  for (const { from, to, mean } of eachPeriod(differences)) {
    if (mean === null) continue
    seconds += to - from
    sum += mean * (to - from)
    sizes += Math.abs(mean) * (to - from)
    squares += mean * mean * (to - from)
  }
  if (seconds === 0) return { seconds, bias: null, mae: null, rmse: null }
  return {
    seconds,
    bias: withoutNoise(sum / seconds),
    mae: withoutNoise(sizes / seconds),
    rmse: withoutNoise(Math.sqrt(squares / seconds)),
  }
}

/**
 * Reads the difference between the first line, as drawn, and the next one of its unit; null unless the address has one. Its figures are of every
 * value, of the chosen summary, or of daily means if the range is long.
 */
export async function readDifference(
  request: PageRequest,
  { line: ownLine, range, asOf }: ChartQuery,
  own: LineData,
  compared: readonly ComparedLine[],
): Promise<Difference | null> {
  const place = subtractedPlace(request, ownLine, compared)
  if (place === null) return null
  const other = compared[place]!
  const { line: theirLine } = other
  const { shift, zone } = theirLine
  const fetchId = asOf?.fetchId ?? null
  const earlier = shift ? { from: moveByShift(zone, range.from, shift), to: moveByShift(zone, range.to, shift) } : range
  const moved = (theirs: LineData): LineData => (shift ? moveLine(theirs, zone, shift) : theirs)
  // Values of one line have no period in common with columns of the other.
  const isMixed = own.kind !== other.drawn.kind
  const first =
    isMixed && own.kind === 'values' ? await drawLine(request, ownLine, range, fetchId, undefined, 'extremes') : own
  const second =
    isMixed && other.drawn.kind === 'values'
      ? moved(await drawLine(request, theirLine, earlier, theirLine.fetchId, undefined, 'extremes'))
      : other.drawn
  const drawn = subtractLines(first, second)
  const readFigures = async () => {
    if (readChoices(request.query).by) return figures(drawn)
    const ownValues = await readEveryValue(request, ownLine, range, fetchId)
    const theirValues = ownValues && (await readEveryValue(request, theirLine, earlier, theirLine.fetchId))
    if (ownValues && theirValues) return figures(subtractLines(ownValues, moved(theirValues)))
    const ownDays = await drawDays(request.store, ownLine, range, fetchId)
    const theirDays = await drawDays(request.store, theirLine, earlier, theirLine.fetchId)
    return figures(subtractLines(ownDays, moved(theirDays)))
  }
  const today = periodAt(ownLine.zone, request.now, 'day')
  const isShown = today.from < range.to && today.to > range.from
  return {
    name: differenceName(request, ownLine, other),
    unit: drawnUnit(request, ownLine, range),
    of: place,
    drawn,
    ...(await readFigures()),
    unfinished: isShown ? [today.from, today.to] : null,
  }
}
