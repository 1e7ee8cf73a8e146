import { CLOSE, COMMA, END, LIST, OPEN, QUOTE, skipString } from '../base/bytes.ts'
import { SchemaError } from '../base/errors.ts'
import type { Rows } from '../tables/rows.ts'

/* Numbers that no service has, a hundred times those of the largest answer that was seen: what is beyond them is refused in a time that is linear in its size. */

/** So many values, lists and objects are parsed at once: a hundred megabytes at the most, once they are objects of JavaScript. */
export const MOST_PARSED = 1_000_000
/** So many fields has one object: each name is kept for itself. */
export const MOST_FIELDS = 10_000
/** So many geos have values in one answer: each has a history and a coverage of its own. */
export const MOST_GEOS = 30_000
/** So many rows beside values does one answer become. They are one transaction, in which no signal is heard. */
export const MOST_ROWS = 100_000

/** Fewer bytes hold neither too many values nor too many fields. */
const FEW_BYTES = 4 * MOST_FIELDS

const refused = (holds: string, most: number, code: string, hint: string): SchemaError =>
  new SchemaError(`The answer holds ${holds}, and at most ${most} are read of one.`, { path: '$', code, hint })
const REPORT = 'No service is known to send so many. The body is kept: see `indicator-sync quarantine list`.'

/** Refuses bytes that would become more objects than memory should hold, before anything is parsed. */
export function refuseFlood(...parts: readonly Buffer[]): void {
  if (parts.every(({ length }) => length < FEW_BYTES)) return
  let found = 0
  /** Commas of each list and object that is not closed yet. */
  const commas: number[] = [0]
  let widest = 0
  for (const bytes of parts)
    for (let i = 0; i < bytes.length && found <= MOST_PARSED; i++) {
      const byte = bytes[i]
      if (byte === QUOTE) {
        i = skipString(bytes, i) - 1
        if (i < 0) break
      } else if (byte === COMMA) {
        // Every value but the first of a list or an object follows a comma.
        found++
        commas[commas.length - 1]!++
      } else if (byte === OPEN || byte === LIST) {
        found++
        commas.push(0)
      } else if (byte === CLOSE || byte === END) {
        const own = commas.length > 1 ? commas.pop()! : 0
        if (byte === CLOSE) widest = Math.max(widest, own)
      }
    }
  if (found > MOST_PARSED)
    throw refused(
      `over ${MOST_PARSED} values`,
      MOST_PARSED,
      'body-too-large',
      'Give the entry a smaller `chunk`, then run `indicator-sync retry`.',
    )
  if (widest >= MOST_FIELDS) throw refused(`an object of ${widest + 1} fields`, MOST_FIELDS, 'too-many-fields', REPORT)
}

/** Refuses more geos with values than a series has. */
export function refuseGeos(geos: number): void {
  if (geos > MOST_GEOS) throw refused(`values of over ${MOST_GEOS} geos`, MOST_GEOS, 'too-many-geos', REPORT)
}

/** The rows of an answer; refuses more than a transaction should write. */
export function bounded(rows: Rows): Rows {
  const count = [...rows.tables, ...rows.owned].reduce((sum, { rows: { length } }) => sum + length, 0)
  if (count > MOST_ROWS) throw refused(`${count} rows beside values`, MOST_ROWS, 'too-many-rows', REPORT)
  return rows
}
