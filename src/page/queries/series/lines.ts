import type { Reader } from '../../../db/store.ts'
import type { Measure } from '../../../db/tables/sql/expressions.ts'
import { DAY, HOUR } from '../../../util/time/instant.ts'
import type { Interval } from '../../../util/time/interval.ts'
import type { LineData } from '../../client/segments.ts'
import type { PageRequest } from '../../page.ts'
import type { ChartState } from '../intervals.ts'
import { periodBorders } from '../periods.ts'
import { type MeasuredLine, type PeriodRow, summarizeByUnit } from './periodRows.ts'
import { type ChartLine, type NamedLine, readChoices, type Shift } from './seriesQuery.ts'
import { drawnSummary, joinBands, readWindow, summarize } from './window.ts'

/** Columns of the picture in a page. Its script requests as many as it has; a published page has none. */
const USUAL_COLUMNS = 300
const STATIC_COLUMNS = 720
const MAX_COLUMNS = 1_000

/** The number of columns of the requested picture. */
const chartColumns = ({ query, isLive }: Pick<PageRequest, 'query' | 'isLive'>): number => {
  const columns = Number(query.get('px')) || (isLive ? USUAL_COLUMNS : STATIC_COLUMNS)
  return Math.min(MAX_COLUMNS, Math.max(50, Math.round(columns)))
}

/** A line beside the first one; `line`: what it draws. */
export interface ComparedLine {
  readonly name: string
  /** The unit of the axis, and that of single values. */
  readonly unit: string | null
  readonly valueUnit: string | null
  readonly drawn: LineData
  /** Its name in addresses; null if it is not another series. */
  readonly path: string | null
  readonly line: ChartLine & { readonly fetchId: number | null; readonly shift?: Shift }
}

/** A line with its intervals that are not final, at the times at which it is drawn. */
export interface ComparedLineWithStates extends ComparedLine {
  readonly open: readonly ChartState[]
}

/** The most days or weeks by which a range is summarized: their table is a page of the browser. */
const MAX_PERIODS = 4_000

/** The unit of the address by which a range is summarized; undefined if there is none, or if it has too many periods. */
export function chosenUnit(request: Pick<PageRequest, 'query' | 'isLive'>, { from, to }: Interval) {
  const { by } = readChoices(request.query)
  if (by === 'hour') return (to - from) / HOUR > 2 * chartColumns(request) ? undefined : by
  const days = (to - from) / DAY
  return (by === 'day' && days > MAX_PERIODS) || (by === 'week' && days > 7 * MAX_PERIODS) ? undefined : by
}

/** The unit of drawn values and of their extremes. */
export const unitOfExtremes = ({ isPerHour, unit }: Pick<NamedLine, 'isPerHour' | 'unit'>): string | null =>
  isPerHour && unit !== null ? `${unit}/h` : unit

/** The unit in which a line is drawn: energies per hour, unless they are summed by a chosen unit. */
export const drawnUnit = (
  request: Pick<PageRequest, 'query' | 'isLive'>,
  line: Pick<NamedLine, 'isPerHour' | 'unit'>,
  range: Interval,
): string | null => (chosenUnit(request, range) === undefined ? unitOfExtremes(line) : line.unit)

/** Draws a line: its values or columns, or by the unit of the address. */
export async function drawLine(
  request: PageRequest,
  line: MeasuredLine,
  range: Interval,
  fetchId: number | null,
  columns = chartColumns(request),
  kind: LineData['kind'] = 'values',
): Promise<LineData> {
  const by = chosenUnit(request, range)
  const drawn =
    by === undefined
      ? await readWindow(request.store, line, range, columns, fetchId, kind)
      : drawRows(await summarizeByUnit(request.store, line, range, by, fetchId), line.measure)
  // Only a difference needs to know how much of a period has values.
  if (readChoices(request.query).difference) return drawn
  return { ...drawn, segments: drawn.segments.map(({ seconds, ...segment }) => segment) }
}

/**
 * Draws versions of a line, current or as known after fetches, all with values or all with columns: a version may have so few values
 * that they would fit alone.
 */
export async function drawVersions(
  request: PageRequest,
  line: MeasuredLine,
  range: Interval,
  fetchIds: readonly (number | null)[],
  columns = chartColumns(request),
): Promise<LineData[]> {
  const versions: LineData[] = []
  for (const fetchId of fetchIds) versions.push(await drawLine(request, line, range, fetchId, columns))
  if (versions.every(({ kind }) => kind === versions[0]!.kind)) return versions
  for (const [i, { kind }] of versions.entries())
    if (kind === 'values') versions[i] = await drawLine(request, line, range, fetchIds[i]!, columns, 'extremes')
  return versions
}

/** Draws summaries. A sum of energy has no extremes of its own. */
function drawRows(rows: readonly PeriodRow[], measure: Measure | null = null): LineData {
  const periods = measure === 'energy' ? rows.map((row) => ({ ...row, min: row.mean, max: row.mean })) : rows
  return { kind: 'extremes', segments: joinBands(periods.map((period) => [period, period])) }
}

/** Draws the means of local days, or their energies. */
export async function drawDays(
  db: Reader,
  line: MeasuredLine,
  range: Interval,
  fetchId: number | null,
): Promise<LineData> {
  const days = await summarize(db, line, periodBorders(line.zone, range, 'day'), fetchId, 'days')
  return { kind: 'extremes', segments: joinBands(days.map(([period, day]) => [period, drawnSummary(line, day)])) }
}
