import { once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import type { SchemaElement } from 'hyparquet'
import { ByteWriter, parquetWriteRows } from 'hyparquet-writer'
import { plain } from '../../reports/cells.ts'
import type { ExportColumn, ExportTable } from '../../reports/exportValues.ts'
import { version } from '../../util/package.ts'

/** Rows of a group, which is in memory while it is written or read. */
const GROUP_ROWS = 20_000

/** The Parquet types of columns; instants are marked as UTC in the old and the new way. */
const PARQUET_TYPES = {
  integer: { type: 'INT64' },
  real: { type: 'DOUBLE' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  instant: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
} as const satisfies Record<ExportColumn['type'], Partial<SchemaElement>>

/** Converts values that are not null: whole numbers to 64 bits, instants to milliseconds. */
const CONVERT: Readonly<Record<ExportColumn['type'], (value: unknown) => unknown>> = {
  integer: (value) => BigInt(value as number | bigint),
  real: Number,
  text: plain,
  instant: (value) => new Date(value as string),
}

/** Writes Parquet in groups. The metadata has the unit of each column as `unit.COLUMN`, and its meaning as `name.COLUMN`. */
async function writeParquet(write: (bytes: Uint8Array) => void, { columns, rows }: ExportTable): Promise<void> {
  const writer = new ByteWriter()
  const flush = (): void => {
    write(new Uint8Array(writer.buffer, 0, writer.index))
    writer.index = 0
  }
  async function* objects(): AsyncGenerator<Record<string, unknown>> {
    for await (const block of rows)
      for (const row of block)
        yield Object.fromEntries(
          columns.map(({ name, type }, i) => [name, row[i] === null ? null : CONVERT[type](row[i])]),
        )
  }
  const source = objects()
  try {
    await parquetWriteRows({
      writer: Object.assign(writer, { flush, finish: flush }),
      rows: source,
      // A dictionary would turn -0 into 0.
      columns: columns.map(({ name, type }) => ({ name, ...(type === 'real' ? { encoding: 'PLAIN' as const } : {}) })),
      schema: [
        { name: 'root', num_children: columns.length },
        ...columns.map(
          ({ name, type }): SchemaElement => ({ name, repetition_type: 'OPTIONAL', ...PARQUET_TYPES[type] }),
        ),
      ],
      rowGroupSize: GROUP_ROWS,
      kvMetadata: columns.flatMap(({ name, unit, about }) => [
        ...(unit ? [{ key: `unit.${name}`, value: unit }] : []),
        ...(about ? [{ key: `name.${name}`, value: about }] : []),
      ]),
      createdBy: `indicator-sync ${version()}`,
    })
  } finally {
    // A full disk ends the export in the middle of the statement, which stays open otherwise.
    await source.return(undefined)
  }
}

/** Writes Parquet to a stream, no faster than it is read. */
export function parquetStream({ columns, rows }: ExportTable): Readable {
  const output = new PassThrough()
  async function* paced(): ExportTable['rows'] {
    for await (const block of rows) {
      if (output.writableNeedDrain) await once(output, 'drain')
      if (output.destroyed) return
      yield block
    }
  }
  // The writer uses its buffer again for the next group.
  writeParquet((bytes) => output.write(Buffer.from(bytes)), { columns, rows: paced() }).then(
    () => output.end(),
    (error) => output.destroy(error),
  )
  return output
}
