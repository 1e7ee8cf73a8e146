import type { Extremes } from '../../../db/engine.ts'
import type { Reader } from '../../../db/store.ts'
import type { Interval } from '../../../util/time/interval.ts'
import { addUnits, floorTo, type Unit } from '../../../util/time/zone.ts'
import { type GeoSeries, readDays, together } from './window.ts'

/** What a row of the table beside a chart is: a single value, or a local hour, day, month or year. */
export type TableLevel = 'values' | 'hour' | 'day' | 'month' | 'year'

/** A row of the table beside a chart. */
export interface ChartTableRow extends Interval, Omit<Extremes, 'seconds'> {
  /** The mean as it was known at a past moment; left out where none is given. */
  readonly before?: number | null
}

/** The table of a range, short enough to be read: never more than a few hundred rows. */
export interface ChartTable {
  readonly level: TableLevel
  readonly rows: readonly ChartTableRow[]
}

/** How many single values are listed. */
const MOST_SINGLE = 100
/** The longest interval, in days, that is shown by each step. */
const LONGEST: readonly (readonly [Unit & TableLevel, number])[] = [
  ['hour', 3],
  ['day', 62],
  ['month', 5 * 366],
]

/** The borders of local steps that a range touches. */
function unitBorders(zone: string, { from, to }: Interval, unit: Unit): number[] {
  const borders = [floorTo(zone, from, unit)]
  while (borders.at(-1)! < to) borders.push(addUnits(zone, borders.at(-1)!, unit, 1))
  return borders
}

/** The values of a range by local steps: current, or as known after a fetch. */
async function byUnit(db: Reader, line: GeoSeries, range: Interval, unit: Unit, fetchId: number | null) {
  const borders = unitBorders(line.zone, range, unit)
  if (unit === 'hour') {
    const found = await db.engine.extremes(line, borders, fetchId)
    return found.map((extremes, i) => [{ from: borders[i]!, to: borders[i + 1]! }, extremes] as const)
  }
  const whole = { from: borders[0]!, to: borders.at(-1)! }
  const days = Map.groupBy(await readDays(db, line, whole, fetchId), ([{ day, month }]) =>
    unit === 'day' ? day : unit === 'month' ? month : Math.floor(month / 12),
  )
  return [...days.values()].map((some) => {
    const extremes = some.map(([, one]) => one).reduce(together)
    return [{ from: some[0]![0].from, to: some.at(-1)![0].to }, extremes] as const
  })
}

/** The rows of single values, current and past side by side; undefined where there are too many. */
async function singleValues(
  db: Reader,
  line: GeoSeries,
  range: Interval,
  fetchId: number | null,
): Promise<ChartTableRow[] | undefined> {
  const now = await db.engine.knownValues({ ...line, ...range }, null, MOST_SINGLE + 1)
  const then = fetchId === null ? [] : await db.engine.knownValues({ ...line, ...range }, fetchId, MOST_SINGLE + 1)
  if (now.length > MOST_SINGLE || then.length > MOST_SINGLE) return undefined
  const known = new Map(then.map((value) => [value.at, value]))
  const rows = now.map(({ at, value, step }): ChartTableRow => {
    const beside = fetchId === null ? {} : { before: known.get(at)?.value ?? null }
    known.delete(at)
    return { from: at, to: at + step, count: value === null ? 0 : 1, min: value, max: value, mean: value, ...beside }
  })
  // Values that were known then and have been withdrawn.
  for (const { at, value, step } of known.values())
    rows.push({ from: at, to: at + step, count: 0, min: null, max: null, mean: null, before: value })
  return rows.sort((a, b) => a.from - b.from)
}

/** The table of a range: current values, and beside them those known after a fetch where one is named. */
export async function readRows(
  db: Reader,
  line: GeoSeries,
  range: Interval,
  fetchId: number | null,
): Promise<ChartTable> {
  const few = await singleValues(db, line, range, fetchId)
  if (few) return { level: 'values', rows: few }
  const days = (range.to - range.from) / 86_400
  const level = LONGEST.find(([, longest]) => days <= longest)?.[0] ?? 'year'
  const now = await byUnit(db, line, range, level, null)
  const then = fetchId === null ? null : await byUnit(db, line, range, level, fetchId)
  return {
    level,
    rows: now.map(([{ from, to }, { count, min, max, mean }], i) => ({
      from,
      to,
      count,
      min,
      max,
      mean,
      ...(then ? { before: then[i]![1].mean } : {}),
    })),
  }
}
