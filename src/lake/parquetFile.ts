import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { zstdCompressSync } from 'node:zlib'
import type { DecodedArray, SchemaElement, Statistics } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { LakeColumn, LakeType } from './lakeTables.ts'

/** Rows in memory at once, which readers can skip together. */
const LAKE_GROUP_ROWS = 65_536

/** Readers recognize known bugs of writers by this form. */
const CREATED_BY = 'indicator-sync-lake version 1.0.0 (build 1)'

/**
 * The Parquet types. Integers are stored as differences, so that ascending and repeated ones take almost no space.
 */
const LAKE_TYPES: Readonly<Record<LakeType, Partial<SchemaElement>>> = {
  int64: { type: 'INT64' },
  int32: { type: 'INT32' },
  double: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  timestamp: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  date: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
}
const AS_DIFFERENCES: readonly LakeType[] = ['int64', 'int32', 'timestamp', 'date']

/** A group of values. Without statistics the writer computes them. */
interface ColumnGroup {
  readonly data: DecodedArray
  readonly statistics?: Statistics
}

/** The values of a column until a group is full. */
interface PendingValues {
  put(value: unknown, at: number): void
  /** Removes and returns a full group. */
  take(count: number): ColumnGroup
}

/**
 * Collects numbers in typed arrays, which the garbage collector does not move, with their minimum and maximum: the writer would
 * make an object of each number for them.
 */
function pendingNumbers(array: Int32Array | Float64Array, inFile: (value: number) => number | bigint): PendingValues {
  const missing = new Set<number>()
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  return {
    put(value, at) {
      // Instants may be texts.
      const number = typeof value === 'string' ? Date.parse(value) : value
      if (typeof number !== 'number') return void missing.add(at)
      array[at] = number
      if (number < min) min = number
      if (number > max) max = number
    },
    take(count) {
      const data = missing.size === 0 ? array.subarray(0, count) : Array.from<unknown>(array.subarray(0, count))
      for (const at of missing) (data as unknown[])[at] = null
      // Of the two zeros, -0 is written as the minimum and 0 as the maximum.
      const range = min <= max ? { min_value: inFile(min || -0), max_value: inFile(max || 0) } : {}
      const statistics = { ...range, null_count: BigInt(missing.size) }
      missing.clear()
      min = Number.POSITIVE_INFINITY
      max = Number.NEGATIVE_INFINITY
      return { data, statistics }
    },
  }
}

function pendingOthers(convert: (value: unknown) => unknown): PendingValues {
  const array: unknown[] = []
  return {
    put(value, at) {
      array[at] = value === null || value === undefined ? null : convert(value)
    },
    take: (count) => ({ data: array.slice(0, count) }),
  }
}

/** The same number, but always the positive zero. */
const positiveZero = (value: number): number => value + 0
/** Whole numbers that a double represents exactly. In the file they have 64 bits. */
const longs = (): PendingValues => pendingNumbers(new Float64Array(LAKE_GROUP_ROWS), BigInt)
const integers = (): PendingValues => pendingNumbers(new Int32Array(LAKE_GROUP_ROWS), positiveZero)
const doubleValues = (): PendingValues => pendingNumbers(new Float64Array(LAKE_GROUP_ROWS), (value) => value)

const PENDING_BY_TYPE: Readonly<Record<LakeType, () => PendingValues>> = {
  int64: longs,
  timestamp: longs,
  int32: integers,
  date: integers,
  double: doubleValues,
  boolean: () => pendingOthers((value) => value === 1),
  string: () => pendingOthers((value) => value),
}

/** A row: its values in the order of the columns; instants are epoch milliseconds, dates days since 1970-01-01. */
export type LakeRow = readonly unknown[]

/** The description of a written file, with `min` and `max` of every numeric column. */
export interface WrittenFile {
  readonly rows: number
  readonly bytes: number
  /** SHA-256, hex. */
  readonly sha256: string
  readonly min: Readonly<Record<string, number | string>>
  readonly max: Readonly<Record<string, number | string>>
}

/** The minimum and maximum of columns, from the statistics of the groups. */
function columnRanges(
  columns: readonly LakeColumn[],
  groups: ParquetWriter['row_groups'],
): Pick<WrittenFile, 'min' | 'max'> {
  const min: Record<string, number> = {}
  const max: Record<string, number> = {}
  for (const { columns: chunks } of groups)
    for (const [i, { name, type }] of columns.entries()) {
      const { min_value: low, max_value: high } = chunks[i]?.meta_data?.statistics ?? {}
      if (type === 'string' || type === 'boolean' || low === undefined || high === undefined) continue
      min[name] = Math.min(min[name] ?? Number.POSITIVE_INFINITY, Number(low))
      max[name] = Math.max(max[name] ?? Number.NEGATIVE_INFINITY, Number(high))
    }
  const iso = (ms: number): string => new Date(ms).toISOString()
  const toJson = (bounds: Record<string, number>): Record<string, number | string> =>
    Object.fromEntries(
      columns.flatMap(({ name, type }) => {
        const value = bounds[name]
        // JSON has no infinite numbers.
        if (value === undefined || !Number.isFinite(value)) return []
        if (type === 'timestamp') return [[name, iso(value)]]
        return [[name, type === 'date' ? iso(value * 86_400_000).slice(0, 10) : value + 0]]
      }),
    )
  return { min: toJson(min), max: toJson(max) }
}

/** Writes a new file, group by group, and flushes it to the disk. Equal rows make equal bytes. */
export async function writeParquetFile(
  file: string,
  columns: readonly LakeColumn[],
  blocks: AsyncIterable<readonly LakeRow[]> | Iterable<readonly LakeRow[]>,
): Promise<WrittenFile> {
  const handle = openSync(file, 'wx')
  try {
    const hash = createHash('sha256')
    const bytes = new ByteWriter()
    let size = 0
    const flush = (): void => {
      const piece = new Uint8Array(bytes.buffer, 0, bytes.index)
      for (let done = 0; done < piece.length; ) done += writeSync(handle, piece, done)
      hash.update(piece)
      size += piece.length
      bytes.index = 0
    }
    const writer = new ParquetWriter({
      writer: Object.assign(bytes, { flush, finish: flush }),
      schema: [
        { name: 'root', num_children: columns.length },
        ...columns.map(
          ({ name, type, nullable }): SchemaElement => ({
            name,
            repetition_type: nullable ? 'OPTIONAL' : 'REQUIRED',
            ...LAKE_TYPES[type],
          }),
        ),
      ],
      codec: 'ZSTD',
      compressors: { ZSTD: (piece) => zstdCompressSync(piece) },
      kvMetadata: columns.map(({ name, about }) => ({ key: `about.${name}`, value: about })),
      createdBy: CREATED_BY,
    })
    const pending = columns.map(({ type }) => PENDING_BY_TYPE[type]())
    let rows = 0
    const put = (): void => {
      const count = rows % LAKE_GROUP_ROWS || LAKE_GROUP_ROWS
      const groups = pending.map((column) => column.take(count))
      const columnData = columns.map(({ name, type }, i) => {
        const { data, statistics } = groups[i]!
        // A dictionary would turn -0 into 0.
        const isPlain = type === 'double' && data.some((value: unknown) => Object.is(value, -0))
        const usual = isPlain ? 'PLAIN' : undefined
        const encoding = AS_DIFFERENCES.includes(type) ? 'DELTA_BINARY_PACKED' : usual
        return { name, data, statistics: !statistics, ...(encoding ? { encoding: encoding as 'PLAIN' } : {}) }
      })
      // The writer is synchronous.
      void writer.write({ columnData, rowGroupSize: count })
      for (const [i, { statistics }] of groups.entries())
        if (statistics) writer.row_groups.at(-1)!.columns[i]!.meta_data!.statistics = statistics
    }
    for await (const block of blocks)
      for (const row of block) {
        for (let i = 0; i < pending.length; i++) pending[i]!.put(row[i], rows % LAKE_GROUP_ROWS)
        if (++rows % LAKE_GROUP_ROWS === 0) put()
      }
    if (rows % LAKE_GROUP_ROWS > 0) put()
    void writer.finish()
    fsyncSync(handle)
    return { rows, bytes: size, sha256: hash.digest('hex'), ...columnRanges(columns, writer.row_groups) }
  } finally {
    closeSync(handle)
  }
}
