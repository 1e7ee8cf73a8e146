import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { findList, learnRow } from './alike.ts'
import { COLON, COMMA, END, isSpace, QUOTE, skipSpace, skipValue, standsAt, textEnd, twoDigits } from './bytes.ts'
import { formatUtc, parseInstant } from './instant.ts'

/*
 * How bodies lie on the tape. A long list of rows that are all written alike packs four times as small when its fields
 * lie one after the other, column by column, and instants as what they differ by from the row before. It is undone byte
 * for byte; what is not such a list is packed as it is.
 */

/** How a body is packed: with zstd as it came, or its list of values by column first. */
export type Form = 'zstd' | 'columns'

export interface Packed {
  readonly form: Form
  readonly bytes: Buffer
}

/** The key under which long lists of rows stand. */
const LIST = 'values'
const NEWLINE = 0x0a
const CLOCK = 19
/** Fewer rows are not worth the description of their form. */
const FEW = 16

/** What stands before the columns, as a line of JSON; bytes are told as Latin-1. */
interface Head {
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

/** Bytes that grow. */
class Column {
  #bytes = Buffer.allocUnsafe(4096)
  #length = 0

  #room(more: number): void {
    if (this.#length + more <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + more))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }

  /** A line of bytes of a body. */
  copy(body: Buffer, from: number, to: number): void {
    this.#room(to - from + 1)
    const bytes = this.#bytes
    let at = this.#length
    for (let i = from; i < to; i++) bytes[at++] = body[i]!
    bytes[at++] = NEWLINE
    this.#length = at
  }

  line(text: string): void {
    this.#room(text.length + 1)
    this.#length += this.#bytes.write(text, this.#length, 'latin1')
    this.#bytes[this.#length++] = NEWLINE
  }

  empty(): void {
    this.#room(1)
    this.#bytes[this.#length++] = NEWLINE
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }
}

/** Writes the clock times of a field: as a rule, what the distance from another time, or from zero, differs by from the row before. */
class Times {
  readonly column = new Column()
  /** Seconds on the clock of the last text, as if it were UTC. */
  local = 0
  #distance = 0
  #last = -1
  #midnight = 0
  #suffixLength = -1

  /** Adds the text that begins here and answers where it ends; -1 when it is no clock time that can be written again. */
  add(body: Buffer, from: number, origin: number): number {
    // Most times are as long as the one before, and share its day and what follows the clock.
    const length = this.#suffixLength
    let to = from + CLOCK + length
    let known = length >= 0 && body[to] === QUOTE
    for (let i = CLOCK + length - 1; known && i >= CLOCK; i--) known = body[from + i] === body[this.#last + i]
    if (!known) to = textEnd(body, from)
    if (to - from < CLOCK) return -1
    let same = this.#last >= 0
    for (let i = 10; same && i >= 0; i--) same = body[from + i] === body[this.#last + i]
    if (!same) {
      this.#midnight = parseInstant(`${body.toString('latin1', from, from + 11)}00:00:00Z`)
      if (Number.isNaN(this.#midnight)) return -1
    }
    const hour = twoDigits(body, from + 11)
    const minute = twoDigits(body, from + 14)
    const second = twoDigits(body, from + 17)
    if (hour > 23 || minute > 59 || second > 59) return -1
    if (body[from + 13] !== COLON || body[from + 16] !== COLON) return -1
    this.local = this.#midnight + hour * 3600 + minute * 60 + second
    const step = this.local - origin - this.#distance
    if (known && step === 0) this.column.empty()
    else this.column.line(`${step === 0 ? '' : step}${known ? '' : ` ${body.toString('latin1', from + CLOCK, to)}`}`)
    this.#distance += step
    this.#last = from
    this.#suffixLength = to - from - CLOCK
    return to
  }
}

/** The body by columns; null when it is no list of rows that are all written alike. */
function toColumns(body: Buffer): Buffer | null {
  const found = findList(body, LIST)
  if (found < 0) return null
  const start = skipSpace(body, found)
  const firstEnd = skipValue(body, start)
  const alike = firstEnd < 0 ? null : learnRow(body, start, firstEnd)
  const second = skipSpace(body, firstEnd)
  if (!alike || body[second] !== COMMA) return null
  const between = body.subarray(firstEnd, skipSpace(body, second + 1))
  const isTime = (text: boolean, at: number): boolean =>
    text && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(body.toString('latin1', at, at + CLOCK))
  let place = start
  const fields = alike.fields.map(({ literal, text }) => {
    place += literal.length
    const times = isTime(text, place) ? new Times() : null
    place = text ? textEnd(body, place) : wordEnd(body, place)
    return { literal, text, times, column: times?.column ?? new Column() }
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
  if (rows < FEW || body[skipSpace(body, at)] !== END) return null
  const written = fields.map(({ column }) => column.bytes)
  const head: Head = {
    before: latin(body.subarray(0, start)),
    after: latin(body.subarray(at)),
    between: latin(between),
    literals: fields.map(({ literal }) => latin(literal)),
    end: latin(alike.end),
    columns: fields.map(({ times }, f) => ({ time: times !== null, bytes: written[f]!.length })),
    rows,
  }
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...written])
}

/** The place after a bare word, which is ended by a comma, a brace or a space. */
function wordEnd(body: Buffer, at: number): number {
  let i = at
  while (i < body.length && body[i] !== COMMA && body[i] !== 0x7d && !isSpace(body[i])) i++
  return i
}

/** The texts of a column of times. */
function readTimes(lines: readonly string[], origins: readonly number[] | null): { texts: string[]; locals: number[] } {
  const texts: string[] = []
  const locals: number[] = []
  let distance = 0
  let suffix = ''
  let day = Number.NaN
  let date = ''
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!
    if (line !== '') {
      const space = line.indexOf(' ')
      distance += Number(space < 0 ? line : line.slice(0, space))
      if (space >= 0) suffix = line.slice(space + 1)
    }
    const local = distance + (origins ? origins[i]! : 0)
    const midnight = Math.floor(local / 86_400) * 86_400
    if (midnight !== day) {
      day = midnight
      date = formatUtc(local).slice(0, 11)
    }
    const seconds = local - midnight
    texts.push(
      `${date}${TWO[Math.floor(seconds / 3600)]}:${TWO[Math.floor(seconds / 60) % 60]}:${TWO[seconds % 60]}${suffix}`,
    )
    locals.push(local)
  }
  return { texts, locals }
}

const TWO = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, '0'))

/** The body again. */
function fromColumns(packed: Buffer): Buffer {
  const headEnd = packed.indexOf(NEWLINE)
  const head = JSON.parse(packed.toString('utf8', 0, headEnd)) as Head
  let at = headEnd + 1
  let origins: number[] | null = null
  const columns = head.columns.map(({ time, bytes }) => {
    const lines = packed.toString('latin1', at, at + bytes - 1).split('\n')
    at += bytes
    if (!time) return lines
    const { texts, locals } = readTimes(lines, origins)
    origins ??= locals
    return texts
  })
  let body = head.before
  for (let row = 0; row < head.rows; row++) {
    if (row > 0) body += head.between
    for (let f = 0; f < columns.length; f++) body += head.literals[f]! + columns[f]![row]!
    body += head.end
  }
  return Buffer.from(body + head.after, 'latin1')
}

/** Packs a body for the tape. */
export function pack(body: Buffer): Packed {
  let columns: Buffer | null = null
  try {
    columns = toColumns(body)
  } catch (error) {
    // A name that is no JSON: such a body is packed as it is.
    if (!(error instanceof SyntaxError)) throw error
  }
  return columns
    ? { form: 'columns', bytes: zstdCompressSync(columns) }
    : { form: 'zstd', bytes: zstdCompressSync(body) }
}

/** The body again, byte for byte. */
export function unpack({ form, bytes }: Packed): Buffer {
  const plain = zstdDecompressSync(bytes)
  return form === 'columns' ? fromColumns(plain) : plain
}
