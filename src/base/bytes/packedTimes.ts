import { formatUtc, parseInstant } from '../time/instant.ts'
import { bytesOf, COLON, QUOTE, textEnd, twoDigits } from './bytes.ts'
import type { ByteColumn, LineReader } from './column.ts'

/** Characters of YYYY-MM-DDTHH:MM:SS. */
const CLOCK_LENGTH = 19

/** Whether a clock time begins here, to which a zone or more may be added. */
export const isTime = (body: Buffer, at: number): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(body.toString('latin1', at, at + CLOCK_LENGTH))

/** Writes the clock times of a field: each as its distance from another time of the row (or from zero), less that distance in the row before. */
export class TimeWriter {
  readonly column: ByteColumn
  /** Seconds on the clock of the last text, as if it were UTC. */
  local = 0
  #distance = 0
  #last = -1
  #midnight = 0
  #suffixLength = -1

  constructor(column: ByteColumn) {
    this.column = column
  }

  /** Adds the text that begins here and returns where it ends; -1 when it is not a time that can be restored exactly. */
  add(body: Buffer, from: number, origin: number): number {
    // Most times are as long as the one before, and share its day and what follows the clock.
    const length = this.#suffixLength
    let to = from + CLOCK_LENGTH + length
    let known = length >= 0 && body[to] === QUOTE
    for (let i = CLOCK_LENGTH + length - 1; known && i >= CLOCK_LENGTH; i--)
      known = body[from + i] === body[this.#last + i]
    if (!known) to = textEnd(body, from)
    if (to - from < CLOCK_LENGTH) return -1
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
    else
      this.column.line(
        `${step === 0 ? '' : step}${known ? '' : ` ${body.toString('latin1', from + CLOCK_LENGTH, to)}`}`,
      )
    this.#distance += step
    this.#last = from
    this.#suffixLength = to - from - CLOCK_LENGTH
    return to
  }
}

/** Reads what `TimeWriter` wrote. */
export class TimeReader {
  /** Seconds on the clock of the last text, as if it were UTC. */
  local = 0
  /** What follows the clock in it, as Latin-1. */
  suffix = ''
  #distance = 0
  #midnight = Number.NaN
  #dateBytes = bytesOf('')
  #suffixBytes = bytesOf('')

  /** Applies the next line. */
  read(lines: LineReader, origin: number): void {
    const from = lines.at
    const to = lines.next()
    if (to > from) {
      const [step, ...suffix] = lines.bytes.toString('latin1', from, to).split(' ')
      this.#distance += Number(step)
      if (suffix.length > 0) {
        this.suffix = suffix.join(' ')
        this.#suffixBytes = bytesOf(this.suffix)
      }
    }
    this.local = this.#distance + origin
  }

  /** Appends the text to a body. */
  write(body: ByteColumn): void {
    let seconds = this.local - this.#midnight
    if (!(seconds >= 0 && seconds < 86_400)) {
      this.#midnight = Math.floor(this.local / 86_400) * 86_400
      this.#dateBytes = bytesOf(formatUtc(this.#midnight).slice(0, 11))
      seconds = this.local - this.#midnight
    }
    body.append(this.#dateBytes, 0, this.#dateBytes.length)
    body.clock(seconds)
    body.append(this.#suffixBytes, 0, this.#suffixBytes.length)
  }
}
