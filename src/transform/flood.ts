import { OversizedError } from '../util/errors.ts'

/** Maximum values, lists and objects of a reply: 300,000 rows of values, or two hundred megabytes of JavaScript objects. */
const MAX_PARSED = 2_000_000

/** 1 for the bytes that announce a value: a comma, and the start of a list or an object. */
const ANNOUNCES = new Uint8Array(256)
for (const character of ',[{') ANNOUNCES[character.charCodeAt(0)] = 1

/** Throws if parsing might create too many objects. Call it before parsing. */
export function refuseFlood(body: Buffer): void {
  if (body.length <= MAX_PARSED) return
  // Every value but the first follows a comma. Those inside texts are counted too, because texts have far fewer.
  let values = 0
  // Comparisons instead of the table take twice as long, an iterator of bytes takes over ten times as long.
  for (let i = 0; i < body.length; i++) values += ANNOUNCES[body[i]!]!
  if (values > MAX_PARSED)
    throw new OversizedError(`The response has more than ${MAX_PARSED} JSON values.`, {
      path: '$',
      code: 'body-too-large',
      hint: 'It cannot be split further: list fewer `geoIds` in the entry.',
    })
}
