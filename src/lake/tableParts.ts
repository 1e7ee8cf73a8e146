import type { Reader } from '../db/store.ts'
import {
  type Month,
  monthAt,
  monthsBetween,
  monthText,
  type SnapshotSource,
  yearOf,
  yearText,
} from './changedMonths.ts'
import {
  createFetchTimes,
  DIMENSION_NAMES,
  type LakeBlocks,
  readDayRows,
  readDimension,
  readTimelines,
  readValueRows,
  type ValueTable,
} from './lakeRows.ts'
import type { LakeTableName } from './lakeTables.ts'

/** A part of a table in a snapshot. */
export interface TablePart {
  readonly table: LakeTableName
  readonly part: string
  /** The folder and the beginning of the name of its file. */
  readonly name: string
  /** Whether it must be read again. */
  readonly isDirty: boolean
  readonly blocks: () => Promise<LakeBlocks>
}

/** The part of a partitioned table without any rows. */
export const EMPTY_PART = 'none'

/** Lists every part of a snapshot of the database. */
export async function listParts(
  db: Reader,
  changed: ReadonlySet<Month> | null,
  source: SnapshotSource,
): Promise<TablePart[]> {
  const timelines = await readTimelines(db)
  const loadTimes = createFetchTimes(db)
  const isDirty = (months: readonly Month[]): boolean => changed === null || months.some((month) => changed.has(month))
  const monthly = (table: ValueTable): TablePart[] => {
    const extents = timelines.flatMap((timeline) => timeline[table] ?? [])
    if (extents.length === 0) return []
    const first = extents.reduce((least, { from }) => Math.min(least, from), Number.POSITIVE_INFINITY)
    const end = extents.reduce((most, { to }) => Math.max(most, to), Number.NEGATIVE_INFINITY)
    return monthsBetween(monthAt(first), monthAt(end - 1)).map((month) => ({
      table,
      part: monthText(month),
      name: `${table}/year=${yearText(yearOf(month))}/${monthText(month)}`,
      isDirty: isDirty([month]),
      blocks: async () => readValueRows(db, table, timelines, month, loadTimes),
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
      // A local day of this year may start in the last UTC month of the year before.
      isDirty: isDirty(monthsBetween(year * 12 - 1, year * 12 + 12)),
      blocks: async () => readDayRows(db, timelines, year),
    })),
    ...DIMENSION_NAMES.map((table) => ({
      table,
      part: 'all',
      name: `${table}/${table}`,
      isDirty: true,
      blocks: async () => [await readDimension(db, table)],
    })),
  ]
}

/** A part without rows, because engines find no table without a file. */
export const emptyPart = (table: LakeTableName): TablePart => ({
  table,
  part: EMPTY_PART,
  name: `${table}/year=1970/${EMPTY_PART}`,
  isDirty: true,
  blocks: async () => [],
})
