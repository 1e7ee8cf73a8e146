import type { Reader } from '../../../db/store.ts'
import { DAY, floorToSecond } from '../../../util/time/instant.ts'
import type { Interval } from '../../../util/time/interval.ts'
import { dayIntervalAt, localDay } from '../../../util/time/localDay.ts'
import { localDate } from '../../../util/time/zone.ts'
import type { Drawn } from '../../client/segments.ts'
import { type RunChange, readChanges } from './runChanges.ts'
import { type GeoSeries, readWindows } from './window.ts'

/** Ages of revisions, in days after the period began; the first of them is before its beginning. */
export const AGES = [
  [null, 0],
  [0, 1],
  [1, 2],
  [2, 3],
  [3, 7],
  [7, 14],
  [14, 30],
  [30, 90],
  [90, null],
] as const

/** A group of revisions: how many, and by how much the values changed. */
interface Revised {
  readonly count: number
  readonly withdrawn: number
  /** The mean size of the changes, whatever their sign; null where all of them are withdrawals. */
  readonly mean: number | null
  readonly largest: number | null
}

/** A past state that is drawn. */
interface Vintage extends RunChange {
  readonly drawn: Drawn
}

/** How the values of a range were revised. */
export interface Vintages {
  /** The range that is examined: the end of the requested one where that is too long. */
  readonly range: Interval
  readonly changes: readonly RunChange[]
  /** A few of the states, from the first to the last. */
  readonly fan: readonly Vintage[]
  /** By age, as in `AGES`. */
  readonly byAge: readonly Revised[]
  readonly days: readonly string[]
  /** How many revisions of each day came at each age: by age, then by day. */
  readonly heat: readonly (readonly number[])[]
}

/** The most days whose revisions are examined. */
const MAX_REVISED_DAYS = 92
/** States that are drawn. */
const MAX_DRAWN_STATES = 5
/** Columns of their picture. */
const PICTURE_COLUMNS = 200

const ageOf = (seconds: number): number =>
  AGES.findIndex(([from, to]) => (from === null || seconds >= from * DAY) && (to === null || seconds < to * DAY))

function summarize(changes: readonly (number | null)[]): Revised {
  const sizes = changes.filter((change) => change !== null)
  return {
    count: changes.length,
    withdrawn: changes.length - sizes.length,
    mean: sizes.length === 0 ? null : sizes.reduce((sum, size) => sum + size, 0) / sizes.length,
    largest: sizes.length === 0 ? null : sizes.reduce((a, b) => Math.max(a, b)),
  }
}

/** Some elements of a list: the first, the last, and others evenly between them. */
const evenly = <T>(all: readonly T[], count: number): T[] =>
  all.length <= count
    ? [...all]
    : Array.from({ length: count }, (_, i) => all[Math.round((i * (all.length - 1)) / (count - 1))]!)

/** Reads how the values of a range were revised. */
export async function readVintages(db: Reader, line: GeoSeries, requested: Interval): Promise<Vintages> {
  const { zone } = line
  const last = dayIntervalAt(zone, requested.to - 1).day
  const first = Math.max(dayIntervalAt(zone, requested.from).day, last - MAX_REVISED_DAYS + 1)
  const range = { from: Math.max(requested.from, localDay(zone, first).from), to: requested.to }
  const changes = await readChanges(db, line, range)
  const few = evenly(changes, MAX_DRAWN_STATES)
  const ids = few.map(({ fetchId }) => fetchId)
  const drawn = await readWindows(db, line, range, PICTURE_COLUMNS, ids)
  const fan = few.map((change, i): Vintage => ({ ...change, drawn: drawn[i]! }))
  const revisions = await db.engine.revisions({ ...line, ...range }, null)
  const byAge: (number | null)[][] = AGES.map(() => [])
  const heat = AGES.map(() => new Array<number>(last - first + 1).fill(0))
  // The revisions of one answer are consecutive and in order of time, so few moments and days are computed.
  let moment = { text: '', second: 0 }
  let { day, from, to } = dayIntervalAt(zone, range.from)
  for (const { at, before, after, withdrawn, revisedAt } of revisions) {
    if (revisedAt !== moment.text) moment = { text: revisedAt, second: floorToSecond(revisedAt) }
    if (at < from || at >= to) ({ day, from, to } = dayIntervalAt(zone, at))
    const age = ageOf(moment.second - at)
    byAge[age]!.push(withdrawn || before === null || after === null ? null : Math.abs(after - before))
    heat[age]![day - first]!++
  }
  const days = Array.from({ length: last - first + 1 }, (_, i) => localDate(zone, localDay(zone, first + i).from))
  return { range, changes, fan, byAge: byAge.map(summarize), days, heat }
}
