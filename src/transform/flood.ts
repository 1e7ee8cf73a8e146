import { COMMA, LIST, OPEN, QUOTE, skipString } from '../base/bytes.ts'
import { SchemaError } from '../base/errors.ts'

/** So many values, lists and objects are parsed at once: a fifth of a gigabyte at the most, once they are objects of JavaScript. */
export const MOST_PARSED = 4_000_000

/** Refuses bytes that would become more objects than memory should hold, in a time that is linear in their number, before anything is parsed. */
export function refuseFlood(...parts: readonly Buffer[]): void {
  let found = 0
  for (const bytes of parts) {
    // Every value but the first of a list or an object follows a comma.
    if (bytes.length < MOST_PARSED) continue
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i]
      if (byte === QUOTE) {
        i = skipString(bytes, i) - 1
        if (i < 0) break
      } else if (byte === COMMA || byte === OPEN || byte === LIST) found++
    }
  }
  if (found > MOST_PARSED)
    throw new SchemaError(`The body holds ${found} values, and ${MOST_PARSED} can be read at once.`, {
      path: '$',
      code: 'body-too-large',
      hint: 'Give the entry a smaller `chunk`, then run `indicator-sync retry`.',
    })
}
