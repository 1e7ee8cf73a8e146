import { COMMA, LIST, OPEN, QUOTE, skipString } from '../util/bytes.ts'
import { OversizedError } from '../util/errors.ts'

/** Maximum values, lists and objects of a reply, a hundred times the largest one seen: a hundred megabytes of JavaScript objects. */
const MAX_PARSED = 1_000_000

/** Throws if parsing would create too many objects. Call it before parsing. */
export function refuseFlood(...parts: readonly Buffer[]): void {
  let values = 0
  for (const bytes of parts)
    for (let i = 0; i < bytes.length && values <= MAX_PARSED; i++) {
      const byte = bytes[i]
      if (byte === QUOTE) {
        i = skipString(bytes, i) - 1
        if (i < 0) break
      } else if (byte === COMMA || byte === OPEN || byte === LIST) {
        // Every value but the first follows a comma.
        values++
      }
    }
  if (values > MAX_PARSED)
    throw new OversizedError(`The response contains more than ${MAX_PARSED} values.`, {
      path: '$',
      code: 'body-too-large',
      hint: 'It cannot be split further: list fewer `geoIds` in the entry.',
    })
}
