import { COLON, ZERO } from './bytes.ts'

/** What ends a line of a column. */
export const NEWLINE = 0x0a

/** Room that is kept when a column is emptied. */
const KEPT_BYTES = 1024 * 1024

/** Bytes that grow. The buffer is emptied and used again, because the memory of one that is thrown away is freed late. */
export class ByteColumn {
  #bytes: Buffer
  #length = 0

  constructor(room = 4096) {
    this.#bytes = Buffer.allocUnsafeSlow(room)
  }

  /** Empties it. The bytes that `bytes` returned before are overwritten. */
  clear(): this {
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.allocUnsafeSlow(4096)
    this.#length = 0
    return this
  }

  #room(more: number): void {
    if (this.#length + more <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, this.#length + more))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }

  /** Appends bytes of another buffer as they are. */
  append(other: Uint8Array, from: number, to: number): void {
    this.#room(to - from)
    const bytes = this.#bytes
    let at = this.#length
    // For a few bytes this is quicker than a call.
    for (let i = from; i < to; i++) bytes[at++] = other[i]!
    this.#length = at
  }

  /** Appends bytes of a body as a line. */
  copy(body: Uint8Array, from: number, to: number): void {
    this.append(body, from, to)
    this.empty()
  }

  /** Appends seconds of a day as HH:MM:SS. */
  clock(seconds: number): void {
    const hours = (seconds / 3600) | 0
    const minutes = ((seconds / 60) | 0) % 60
    this.#two(hours)
    this.#bytes[this.#length++] = COLON
    this.#two(minutes)
    this.#bytes[this.#length++] = COLON
    this.#two(seconds % 60)
  }

  #two(number: number): void {
    this.#room(3)
    const tens = (number / 10) | 0
    this.#bytes[this.#length++] = ZERO + tens
    this.#bytes[this.#length++] = ZERO + number - 10 * tens
  }

  /** Appends a text as it is. */
  write(text: string, encoding: 'latin1' | 'utf8' = 'latin1'): void {
    this.#room(encoding === 'latin1' ? text.length : 3 * text.length)
    this.#length += this.#bytes.write(text, this.#length, encoding)
  }

  /** Appends a Latin-1 text as a line. */
  line(text: string): void {
    this.write(text)
    this.empty()
  }

  /** The end of a line. */
  empty(): void {
    this.#room(1)
    this.#bytes[this.#length++] = NEWLINE
  }

  /** What was written; valid until it is emptied. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }
}

/** Bytes of a packed body that are read line by line. */
export class LineReader {
  readonly bytes: Buffer
  at: number
  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes
    this.at = at
  }

  /** Where the line that begins here ends; the next one begins after it. */
  next(): number {
    let end = this.at
    const { length } = this.bytes
    while (end < length && this.bytes[end] !== NEWLINE) end++
    if (end >= length) throw new SyntaxError('A column ends in the middle of a line.')
    this.at = end + 1
    return end
  }
}
