import type { Reader } from '../db/store.ts'
import {
  type Month,
  monthOf,
  monthsBetween,
  monthText,
  type SnapshotSource,
  yearOf,
  yearText,
} from './changedMonths.ts'
import { DIMENSIONS, days, fetchTimes, type LakeBlocks, observations, revisions, timelinesOf } from './lakeRows.ts'
import type { LakeTableName } from './lakeTables.ts'

/** One part of a table that a snapshot has, and whether it must be read again. */
export interface TablePart {
  readonly table: LakeTableName
  readonly part: string
  /** The folder and the beginning of the name of its file. */
  readonly name: string
  readonly dirty: boolean
  readonly blocks: () => Promise<LakeBlocks>
}

/** The part of a table by year that has no rows at all. */
export const EMPTY_PART = 'none'

/** Every part that a snapshot of the database has. */
export async function partsOf(
  db: Reader,
  changed: ReadonlySet<Month> | null,
  source: SnapshotSource,
): Promise<TablePart[]> {
  const timelines = await timelinesOf(db)
  const timesOf = fetchTimes(db)
  const dirty = (months: readonly Month[]): boolean => changed === null || months.some((month) => changed.has(month))
  const monthly = (table: 'observation' | 'observation_revision'): TablePart[] => {
    const ranges = timelines.flatMap(({ stored, superseded }) => (table === 'observation' ? stored : superseded) ?? [])
    const first = ranges.reduce((least, { from }) => Math.min(least, from), Number.POSITIVE_INFINITY)
    const last = ranges.reduce((most, { to }) => Math.max(most, to), Number.NEGATIVE_INFINITY)
    const read = table === 'observation' ? observations : revisions
    return (ranges.length === 0 ? [] : monthsBetween(monthOf(first), monthOf(last - 1))).map((month) => ({
      table,
      part: monthText(month),
      name: `${table}/year=${yearText(yearOf(month))}/${monthText(month)}`,
      dirty: dirty([month]),
      blocks: async () => read(db, timelines, month, timesOf),
    }))
  }
  const years = [...new Set(Object.keys(source.months).map((month) => yearOf(Number(month))))].sort((a, b) => a - b)
  return [
    ...monthly('observation'),
    ...monthly('observation_revision'),
    ...years.map((year) => ({
      table: 'day' as const,
      part: yearText(year),
      name: `day/year=${yearText(year)}/${yearText(year)}`,
      // A local day of this year may begin in the last month of the year before.
      dirty: dirty(monthsBetween(year * 12 - 1, year * 12 + 12)),
      blocks: async () => days(db, timelines, year),
    })),
    ...Object.entries(DIMENSIONS).map(([table, read]) => ({
      table: table as keyof typeof DIMENSIONS,
      part: 'all',
      name: `${table}/${table}`,
      dirty: true,
      blocks: async () => [await read(db)],
    })),
  ]
}

/** A file without rows: engines find no table where there is no file. */
export const emptyPart = (table: LakeTableName): TablePart => ({
  table,
  part: EMPTY_PART,
  name: `${table}/year=1970/${EMPTY_PART}`,
  dirty: true,
  blocks: async () => [],
})
