import type { Rows } from '../db/tables/rows.ts'
import { CLOSE, COMMA, END, LIST, OPEN, QUOTE, skipString } from '../util/bytes.ts'
import { OversizedError, SchemaError } from '../util/errors.ts'

/* Limits on the size of a reply, a hundred times the largest one seen. Larger replies are refused in linear time. */

/** Maximum values, lists and objects of a reply: a hundred megabytes of JavaScript objects. */
const MAX_PARSED = 1_000_000
/** Maximum fields of an object. */
const MAX_FIELDS = 10_000
/** Maximum geos with values in a reply: each has its own history and coverage. */
const MAX_GEOS = 30_000
/** Maximum rows other than values of a reply: they are written in one transaction, which a signal does not interrupt. */
const MAX_ROWS = 100_000

/** Smaller bodies cannot exceed the limits of values and fields. */
const FEW_BYTES = 4 * MAX_FIELDS

const limitMessage = (contents: string, max: number): string =>
  `The response contains ${contents}; at most ${max} are supported.`
const tooMany = (contents: string, max: number, code: string): SchemaError =>
  new SchemaError(limitMessage(contents, max), { path: '$', code, hint: REPORT })
const REPORT = 'The response is stored; see `indicator-sync quarantine list`.'

/** Throws if parsing would create too many objects. Call it before parsing. */
export function refuseFlood(...parts: readonly Buffer[]): void {
  if (parts.every(({ length }) => length < FEW_BYTES)) return
  let values = 0
  /** The commas of each open list and object. */
  const commas: number[] = [0]
  let widest = 0
  for (const bytes of parts)
    for (let i = 0; i < bytes.length && values <= MAX_PARSED; i++) {
      const byte = bytes[i]
      if (byte === QUOTE) {
        i = skipString(bytes, i) - 1
        if (i < 0) break
      } else if (byte === COMMA) {
        // Every value but the first follows a comma.
        values++
        commas[commas.length - 1]!++
      } else if (byte === OPEN || byte === LIST) {
        values++
        commas.push(0)
      } else if (byte === CLOSE || byte === END) {
        const count = commas.length > 1 ? commas.pop()! : 0
        if (byte === CLOSE) widest = Math.max(widest, count)
      }
    }
  if (values > MAX_PARSED)
    throw new OversizedError(limitMessage(`more than ${MAX_PARSED} values`, MAX_PARSED), {
      path: '$',
      code: 'body-too-large',
      hint: 'It cannot be split further: list fewer `geoIds` in the entry.',
    })
  if (widest >= MAX_FIELDS) throw tooMany(`an object with ${widest + 1} fields`, MAX_FIELDS, 'too-many-fields')
}

/** Throws if a reply has values of too many geos. */
export function refuseGeos(geos: number): void {
  if (geos > MAX_GEOS) throw tooMany(`values for more than ${MAX_GEOS} geos`, MAX_GEOS, 'too-many-geos')
}

/** Returns the rows. Throws if there are too many for a transaction. */
export function limitRows(rows: Rows): Rows {
  const count = [...rows.tables, ...rows.owned].reduce((sum, { rows: { length } }) => sum + length, 0)
  if (count > MAX_ROWS) throw tooMany(`${count} rows other than values`, MAX_ROWS, 'too-many-rows')
  return rows
}
