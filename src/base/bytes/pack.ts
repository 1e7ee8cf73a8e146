import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { bytesOf, COMMA, END, isSpace, skipSpace, skipValue, standsAt, textEnd } from './bytes.ts'
import { ByteColumn, LineReader, NEWLINE } from './column.ts'
import { isTime, TimeReader, TimeWriter } from './packedTimes.ts'
import { findList, learnPattern, VALUES_KEY } from './rowPattern.ts'

/*
 * How bodies are stored in the reply store. A long list of rows that are all written alike packs four times as small when its
 * fields are stored column by column, and each instant as its difference from the row before. Unpacking restores it byte for
 * byte. Any other body is packed as it is.
 */

/** How a body is packed: `zstd` compresses it as it came, `columns` arranges its list of values by column first. */
export type PackForm = 'zstd' | 'columns'

export interface Packed {
  readonly form: PackForm
  readonly bytes: Buffer
}

/** Fewer rows are not worth the description of their form. */
const MIN_FORM_ROWS = 16

/** The header before the columns, as a line of JSON; bytes are written as Latin-1. */
interface PackHeader {
  readonly before: string
  readonly after: string
  readonly between: string
  readonly literals: readonly string[]
  readonly end: string
  readonly columns: readonly { readonly time: boolean; readonly bytes: number }[]
  readonly rows: number
}

const latin = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')

/** Columns that are used again for every body. */
const columns: ByteColumn[] = []
function columnAt(place: number): ByteColumn {
  columns[place] ??= new ByteColumn()
  return columns[place].clear()
}

/** The body arranged by column; null when it is not a list of rows that are all written alike. */
function toColumns(body: Buffer): Buffer | null {
  const found = findList(body, VALUES_KEY)
  if (found < 0) return null
  const start = skipSpace(body, found)
  const firstEnd = skipValue(body, start)
  const alike = firstEnd < 0 ? null : learnPattern(body, start, firstEnd)
  const second = skipSpace(body, firstEnd)
  if (!alike || body[second] !== COMMA) return null
  const between = body.subarray(firstEnd, skipSpace(body, second + 1))
  let place = start
  const fields = alike.fields.map(({ literal, text }, f) => {
    place += literal.length
    const column = columnAt(f)
    const times = text && isTime(body, place) ? new TimeWriter(column) : null
    place = text ? textEnd(body, place) : wordEnd(body, place)
    return { literal, text, times, column }
  })
  const origin = fields.find(({ times }) => times)?.times
  let rows = 0
  let at = start
  for (;;) {
    for (let f = 0; f < fields.length; f++) {
      const { literal, text, times, column } = fields[f]!
      if (!standsAt(body, at, literal)) return null
      at += literal.length
      const end = times
        ? times.add(body, at, times === origin ? 0 : origin!.local)
        : text
          ? textEnd(body, at)
          : wordEnd(body, at)
      if (end < 0) return null
      if (!times) column.copy(body, at, end)
      at = end
    }
    if (!standsAt(body, at, alike.end)) return null
    at += alike.end.length
    rows++
    if (!standsAt(body, at, between)) break
    at += between.length
  }
  if (rows < MIN_FORM_ROWS || body[skipSpace(body, at)] !== END) return null
  const written = fields.map(({ column }) => column.bytes)
  const head: PackHeader = {
    before: latin(body.subarray(0, start)),
    after: latin(body.subarray(at)),
    between: latin(between),
    literals: fields.map(({ literal }) => latin(literal)),
    end: latin(alike.end),
    columns: fields.map(({ times }, f) => ({ time: times !== null, bytes: written[f]!.length })),
    rows,
  }
  const whole = columnAt(fields.length)
  whole.write(`${JSON.stringify(head)}\n`, 'utf8')
  for (const bytes of written) whole.append(bytes, 0, bytes.length)
  return whole.bytes
}

/** The place after a bare word, which ends at a comma, a brace or a space. */
function wordEnd(body: Buffer, at: number): number {
  let i = at
  while (i < body.length && body[i] !== COMMA && body[i] !== 0x7d && !isSpace(body[i])) i++
  return i
}

/** One field of all rows: the bytes before it, its lines, and what reads them where they are times. */
export interface PackedField {
  readonly literal: Uint8Array
  readonly lines: LineReader
  readonly clock: TimeReader | null
}

/** A body arranged by column, to be read row by row. */
export interface PackedColumns {
  readonly before: string
  readonly between: Uint8Array
  readonly end: Uint8Array
  readonly after: string
  readonly fields: readonly PackedField[]
  /** The first field of times, to which the others are differences; null where there is none. */
  readonly origin: PackedField | null
  readonly rows: number
}

function openColumns(packed: Buffer): PackedColumns {
  const headEnd = packed.indexOf(NEWLINE)
  const head = JSON.parse(packed.toString('utf8', 0, headEnd)) as PackHeader
  let at = headEnd + 1
  const fields = head.columns.map(({ time, bytes }, f) => {
    const lines = new LineReader(packed, at)
    at += bytes
    return { literal: bytesOf(head.literals[f]!), lines, clock: time ? new TimeReader() : null }
  })
  return {
    before: head.before,
    between: bytesOf(head.between),
    end: bytesOf(head.end),
    after: head.after,
    fields,
    origin: fields.find(({ clock }) => clock) ?? null,
    rows: head.rows,
  }
}

/** Restores the body, with the first `rows` of its rows. */
function writeBody(
  { before, between, end, after, fields, origin }: PackedColumns,
  rows: number,
  body: ByteColumn,
): Buffer {
  body.write(before)
  for (let row = 0; row < rows; row++) {
    if (row > 0) body.append(between, 0, between.length)
    for (const { literal, lines, clock } of fields) {
      body.append(literal, 0, literal.length)
      if (clock) {
        clock.read(lines, clock === origin?.clock ? 0 : origin!.clock!.local)
        clock.write(body)
      } else {
        const from = lines.at
        body.append(lines.bytes, from, lines.next())
      }
    }
    body.append(end, 0, end.length)
  }
  body.write(after)
  return body.bytes
}

/** The columns of an arranged body, and a sample: the body with its first row only. Both are valid until the next one is read. */
export const readColumns = (arranged: Buffer): { columns: PackedColumns; sample: Buffer } => ({
  columns: openColumns(arranged),
  sample: writeBody(openColumns(arranged), 1, columnAt(0)),
})

/** A body ready to be compressed: by columns where that can be undone and is shorter, else as it is. */
export function arrange(body: Buffer): Packed {
  try {
    const bytes = toColumns(body)
    if (bytes && bytes.length < body.length) return { form: 'columns', bytes }
  } catch (error) {
    // A name that is not valid JSON: such a body is packed as it is.
    if (!(error instanceof SyntaxError)) throw error
  }
  return { form: 'zstd', bytes: body }
}

/** Compresses what was arranged. In small pieces: an answer packs to a few of them, and what is set aside for one is thrown away every time. */
export const compress = ({ form, bytes }: Packed): Packed => ({
  form,
  // With a checksum, so that damage on the disk is noticed when it is read.
  bytes: zstdCompressSync(bytes, { chunkSize: 16 * 1024, params: { [constants.ZSTD_c_checksumFlag]: 1 } }),
})

/** Packs a body for the reply store. */
export const pack = (body: Buffer): Packed => compress(arrange(body))

/** Undoes the compression: a body, or its columns. */
export const decompress = ({ form, bytes }: Packed): Packed => ({ form, bytes: zstdDecompressSync(bytes) })

/** Undoes the arrangement: the original body, byte for byte. `size` is its length in bytes. */
export function restore({ form, bytes }: Packed, size: number): Buffer {
  if (form === 'zstd') return bytes
  const columns = openColumns(bytes)
  return writeBody(columns, columns.rows, new ByteColumn(size))
}

/** Undoes `pack`. */
export const unpack = (packed: Packed, size: number): Buffer => restore(decompress(packed), size)
