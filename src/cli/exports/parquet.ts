import { once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import type { SchemaElement } from 'hyparquet'
import { ByteWriter, parquetWriteRows } from 'hyparquet-writer'
import { plain } from '../../reports/cells.ts'
import type { ExportColumn, Exported } from '../../reports/export.ts'

/** Rows in memory at once, and that readers find together. */
const EXPORT_GROUP_ROWS = 20_000

/** The Parquet types of columns; instants are marked as UTC in the old and the new way. */
const EXPORT_TYPES = {
  integer: { type: 'INT64' },
  real: { type: 'DOUBLE' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  instant: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
} as const satisfies Record<ExportColumn['type'], Partial<SchemaElement>>

/** A value as Parquet keeps it: whole numbers are 64 bits, instants are milliseconds. */
const CONVERT: Readonly<Record<ExportColumn['type'], (value: unknown) => unknown>> = {
  integer: (value) => (value === null ? null : BigInt(value as number | bigint)),
  real: (value) => (value === null ? null : Number(value)),
  text: (value) => (value === null ? null : plain(value)),
  instant: (value) => (value === null ? null : new Date(value as string)),
}

/** Writes Parquet, group by group; the unit of every column is in the key `unit.COLUMN` of its metadata, what a column of numbers is about in `name.COLUMN`. */
export async function writeParquet(
  write: (bytes: Uint8Array) => void,
  { columns, rows }: Exported,
  createdBy: string,
): Promise<void> {
  const writer = new ByteWriter()
  const flush = (): void => {
    write(new Uint8Array(writer.buffer, 0, writer.index))
    writer.index = 0
  }
  async function* objects(): AsyncGenerator<Record<string, unknown>> {
    for await (const block of rows)
      for (const row of block)
        yield Object.fromEntries(columns.map(({ name, type }, i) => [name, CONVERT[type](row[i])]))
  }
  const source = objects()
  try {
    await parquetWriteRows({
      writer: Object.assign(writer, { flush, finish: flush }),
      rows: source,
      // A dictionary takes -0 for 0.
      columns: columns.map(({ name, type }) => ({ name, ...(type === 'real' ? { encoding: 'PLAIN' as const } : {}) })),
      schema: [
        { name: 'root', num_children: columns.length },
        ...columns.map(
          ({ name, type }): SchemaElement => ({ name, repetition_type: 'OPTIONAL', ...EXPORT_TYPES[type] }),
        ),
      ],
      rowGroupSize: EXPORT_GROUP_ROWS,
      kvMetadata: columns.flatMap(({ name, unit, about }) => [
        ...(unit ? [{ key: `unit.${name}`, value: unit }] : []),
        ...(about ? [{ key: `name.${name}`, value: about }] : []),
      ]),
      createdBy,
    })
  } finally {
    // A disk that is full ends it in the middle of a statement.
    await source.return(undefined)
  }
}

/** The same as a stream, which is written no faster than it is read. */
export function parquetStream(exported: Exported, createdBy: string): Readable {
  const out = new PassThrough()
  async function* rows(): Exported['rows'] {
    for await (const block of exported.rows) {
      if (out.writableNeedDrain) await once(out, 'drain')
      if (out.destroyed) return
      yield block
    }
  }
  // The buffer is used again for the next group.
  const write = (bytes: Uint8Array): boolean => out.write(Buffer.from(bytes))
  writeParquet(write, { ...exported, rows: rows() }, createdBy).then(
    () => out.end(),
    (error) => out.destroy(error),
  )
  return out
}
