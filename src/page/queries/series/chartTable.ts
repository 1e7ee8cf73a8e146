import { readKnownValues } from '../../../db/queries/values.ts'
import type { Reader } from '../../../db/store.ts'
import { DAY } from '../../../util/time/instant.ts'
import type { Interval } from '../../../util/time/interval.ts'
import type { PageRequest } from '../../page.ts'
import { PERIOD_UNITS, type PeriodUnit } from '../periods.ts'
import { readWithdrawn, type WithdrawnValue } from '../withdrawn.ts'
import { subtract } from './difference.ts'
import { type ComparedLine, chosenUnit } from './lines.ts'
import { emptyRow, type MeasuredLine, type PeriodRow, summarizeByUnit, summaryRow } from './periodRows.ts'
import { type ChartQuery, moveByShift } from './seriesQuery.ts'
import { type Line, summarize } from './window.ts'

/* The table below a chart: single values, or summaries of local periods. */

/** A row of the table. */
export interface ChartTableRow extends PeriodRow {
  /** The withdrawal of a single value. */
  readonly withdrawn?: WithdrawnValue
  /** The mean as known at a past moment, and the seconds with values then. */
  readonly before?: number | null
  readonly secondsBefore?: number
  /** The means of the compared series, if any, and their seconds with values. */
  readonly compared?: readonly (number | null)[]
  readonly comparedSeconds?: readonly number[]
}

/** The change of a mean since a past moment; null if the two means cover different hours. */
export const revisedBy = ({ mean, before, seconds, secondsBefore }: ChartTableRow): number | null =>
  seconds === secondsBefore ? subtract(mean, before) : null

/** The difference between a row, current or as known at a past moment, and a compared series; null if they cover different hours. */
export function differenceTo({ compared, comparedSeconds, ...row }: ChartTableRow, i: number, isPast: boolean) {
  const [own, seconds] = isPast ? [row.before, row.secondsBefore] : [row.mean, row.seconds]
  return seconds === comparedSeconds?.[i] ? subtract(own, compared?.[i]) : null
}

/** The most single values that are listed. */
const MAX_SINGLE = 100

/** The longest range of each unit of the table, in days. Weeks are shown only on request. */
const LONGEST = { hour: 3, day: 62, week: 0, month: 5 * 366, year: Number.POSITIVE_INFINITY }

/** The unit of the table of a range with many values. */
const usualUnit = ({ from, to }: Interval): PeriodUnit =>
  PERIOD_UNITS.find((unit) => (to - from) / DAY <= LONGEST[unit])!

/** The current rows of a table, and those known at a past moment: none without such a moment. */
interface TableVersions {
  readonly current: readonly PeriodRow[]
  readonly past: readonly PeriodRow[]
}

/** Reads single values: current, or as known after a fetch; undefined if there are too many. */
async function readSingleValues(db: Reader, line: Line, range: Interval, fetchId: number | null) {
  const values = await readKnownValues(db.kysely, { ...line, ...range }, fetchId, MAX_SINGLE + 1)
  if (values.length > MAX_SINGLE) return undefined
  return values.map(({ at, value, step }): PeriodRow => {
    const count = value === null ? 0 : 1
    return { from: at, to: at + step, count, seconds: count * step, min: value, max: value, mean: value }
  })
}

/** Reads a table of single values; undefined if there are too many, now or at the past moment. */
async function readSingles(
  db: Reader,
  line: MeasuredLine,
  range: Interval,
  fetchId: number | null,
): Promise<TableVersions | undefined> {
  const current = await readSingleValues(db, line, range, null)
  if (current === undefined) return undefined
  const past = fetchId === null ? [] : await readSingleValues(db, line, range, fetchId)
  return past && { current, past }
}

/** Reads a table of summaries. */
async function readSummaries(
  db: Reader,
  line: MeasuredLine,
  range: Interval,
  unit: PeriodUnit,
  fetchId: number | null,
): Promise<TableVersions> {
  return {
    current: await summarizeByUnit(db, line, range, unit, null),
    past: fetchId === null ? [] : await summarizeByUnit(db, line, range, unit, fetchId),
  }
}

/** The rows of periods that have only past or withdrawn values. */
function rowsWithoutCurrent(
  { current, past }: TableVersions,
  withdrawals: readonly WithdrawnValue[],
  line: MeasuredLine,
): ChartTableRow[] {
  const currentTimes = new Set(current.map(({ from }) => from))
  const byTime = new Map(withdrawals.map((withdrawal) => [withdrawal.from, withdrawal]))
  const others = [...past, ...withdrawals].filter(({ from }) => !currentTimes.has(from))
  const periods = new Map(others.map(({ from, to }) => [from, to]))
  return [...periods].map(([from, to]) => {
    const withdrawn = byTime.get(from)
    return { ...emptyRow({ from, to }, line), ...(withdrawn && { withdrawn }) }
  })
}

/** Reads the rows of a compared line for the periods of a table; `unit`: null for single values. Returns the row beside an instant. */
async function readRowsBeside(
  db: Reader,
  line: ComparedLine['line'],
  periods: readonly Interval[],
  range: Interval,
  unit: PeriodUnit | null,
): Promise<(at: number) => PeriodRow | undefined> {
  const { shift, zone, fetchId } = line
  const moved = (at: number): number => (shift ? moveByShift(zone, at, shift) : at)
  const readRows = async (): Promise<PeriodRow[]> => {
    if (unit !== null) return summarizeByUnit(db, line, { from: moved(range.from), to: moved(range.to) }, unit, fetchId)
    // Another series may have shorter periods: its means over those of the first one.
    const ends = periods.flatMap(({ from, to }) => [moved(from), moved(from) + to - from])
    const borders = [...new Set(ends)].sort((a, b) => a - b)
    return (await summarize(db, line, borders, fetchId, 'values')).map((summary) => summaryRow(summary, line))
  }
  const rows = new Map((await readRows()).map((row) => [row.from, row]))
  // As in the chart, nothing stands beside a time that clocks skipped or repeated.
  const isThere = (at: number): boolean => !shift || moveByShift(zone, moved(at), shift, 1) === at
  return (at) => (isThere(at) ? rows.get(moved(at)) : undefined)
}

/** Reads the table of a range, by a unit on request: current values, those known at a moment, and those of compared series. */
export async function readRows(
  request: PageRequest,
  { line, range, asOf }: ChartQuery,
  compared: readonly ComparedLine[],
) {
  const { store: db } = request
  const fetchId = asOf?.fetchId ?? null
  const chosen = chosenUnit(request, range)
  const unit = chosen ?? usualUnit(range)
  const singles = chosen === undefined ? await readSingles(db, line, range, fetchId) : undefined
  const versions = singles ?? (await readSummaries(db, line, range, unit, fetchId))
  const withdrawals = singles ? (await readWithdrawn(db, line.seriesId, [line.geoId], range)).values : []
  const others = rowsWithoutCurrent(versions, withdrawals.slice(0, MAX_SINGLE), line)
  const past = new Map(versions.past.map((row) => [row.from, row]))
  const beside: Awaited<ReturnType<typeof readRowsBeside>>[] = []
  for (const each of compared)
    beside.push(await readRowsBeside(db, each.line, versions.current, range, singles ? null : unit))
  const rows = [...versions.current, ...others].map(
    (row): ChartTableRow => ({
      ...row,
      ...(fetchId !== null && {
        before: past.get(row.from)?.mean ?? null,
        secondsBefore: past.get(row.from)?.seconds ?? 0,
      }),
      ...(compared.length > 0 && {
        compared: beside.map((rowAt) => rowAt(row.from)?.mean ?? null),
        comparedSeconds: beside.map((rowAt) => rowAt(row.from)?.seconds ?? 0),
      }),
    }),
  )
  return { level: singles ? ('values' as const) : unit, rows: rows.sort((a, b) => a.from - b.from) }
}
