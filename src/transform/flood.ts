import type { Rows } from '../db/tables/rows.ts'
import { CLOSE, COMMA, END, LIST, OPEN, QUOTE, skipString } from '../util/bytes.ts'
import { OversizedError, SchemaError } from '../util/errors.ts'

/* Limits on the size of an answer, a hundred times the largest one seen. Larger answers are refused in linear time. */

/** How many values, lists and objects of one answer are parsed: at most a hundred megabytes of JavaScript objects. */
const MOST_PARSED = 1_000_000
/** How many fields an object may have: memory is needed for each name. */
const MOST_FIELDS = 10_000
/** How many geos may have values in one answer: each has its own history and coverage. */
const MOST_GEOS = 30_000
/** How many rows beside values an answer may become: they are written in one transaction, which a signal does not interrupt. */
const MOST_ROWS = 100_000

/** A body with fewer bytes cannot exceed the limits of values and fields. */
const FEW_BYTES = 4 * MOST_FIELDS

const limitMessage = (contents: string, most: number): string =>
  `The response contains ${contents}; at most ${most} are supported.`
const tooMany = (contents: string, most: number, code: string): SchemaError =>
  new SchemaError(limitMessage(contents, most), { path: '$', code, hint: REPORT })
const REPORT = 'The response is stored; see `indicator-sync quarantine list`.'

/** Throws where parsing would create too many objects; called before anything is parsed. */
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
    throw new OversizedError(limitMessage(`more than ${MOST_PARSED} values`, MOST_PARSED), {
      path: '$',
      code: 'body-too-large',
      hint: 'The window was already split down to one day: list fewer `geoIds` in the entry.',
    })
  if (widest >= MOST_FIELDS) throw tooMany(`an object with ${widest + 1} fields`, MOST_FIELDS, 'too-many-fields')
}

/** Throws where an answer has values of too many geos. */
export function refuseGeos(geos: number): void {
  if (geos > MOST_GEOS) throw tooMany(`values for more than ${MOST_GEOS} geos`, MOST_GEOS, 'too-many-geos')
}

/** Returns the rows; throws where they are too many for a transaction. */
export function bounded(rows: Rows): Rows {
  const count = [...rows.tables, ...rows.owned].reduce((sum, { rows: { length } }) => sum + length, 0)
  if (count > MOST_ROWS) throw tooMany(`${count} rows other than values`, MOST_ROWS, 'too-many-rows')
  return rows
}
