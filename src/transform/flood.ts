import { OversizedError } from '../util/errors.ts'

/** Maximum values, lists and objects of a reply: 300,000 rows of values, or two hundred megabytes of JavaScript objects. */
const MAX_PARSED = 2_000_000

const COMMA = 0x2c
const LIST = 0x5b
const OBJECT = 0x7b

/** Throws if parsing might create too many objects. Call it before parsing. */
export function refuseFlood(body: Buffer): void {
  if (body.length <= MAX_PARSED) return
  // Every value but the first follows a comma. Those inside texts are counted too, because texts have far fewer.
  let values = 0
  // An iterator of bytes takes twelve times as long.
  for (let i = 0; i < body.length; i++) {
    const byte = body[i]
    if (byte === COMMA || byte === LIST || byte === OBJECT) values++
  }
  if (values > MAX_PARSED)
    throw new OversizedError(`The response has more than ${MAX_PARSED} JSON values.`, {
      path: '$',
      code: 'body-too-large',
      hint: 'It cannot be split further: list fewer `geoIds` in the entry.',
    })
}
