import { isAscii, isUtf8 } from 'node:buffer'

/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** A JSON object whose fields are not known yet. */
export type JsonObject = { readonly [key: string]: unknown }

/** How deep lists and objects may lie in each other where they are written: a hundred times the deepest answer seen. */
const MOST_DEPTH = 500

/** Whether lists and objects lie deeper in each other than that. The size of the stack, which differs between threads, must not decide that. */
const isDeeper = (value: unknown, most = MOST_DEPTH): boolean =>
  value !== null &&
  typeof value === 'object' &&
  (most === 0 || Object.values(value).some((inner) => isDeeper(inner, most - 1)))

/**
 * JSON with the keys of every object in order, so that equal values are equal texts. `undefined` fields vanish. Throws RangeError
 * where a value is nested too deeply.
 */
export function canonical(value: unknown): string {
  if (isDeeper(value)) throw new RangeError(`nested more than ${MOST_DEPTH} levels deep`)
  return JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner,
  )
}

/** Whether a value is a JSON object: neither null nor an array. */
export const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !isUnreadable(value)

/** What stands in a text for bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd'

/** Whether a text was decoded from bytes of which some may not have been UTF-8: what they say is not known. */
export const hasReplacementCharacter = (text: string): boolean => text.includes(REPLACEMENT)

/** Whether a field of an answer is a text that is not UTF-8; as JSON it has `\ufffd` for what could not be read. */
export const isUnreadable = (value: unknown): boolean => value instanceof String

/**
 * Parses JSON from bytes. A text that is not UTF-8 becomes an object of the class `String`, which is of no type that a field may
 * have, and is copied from thread to thread as it is. Throws SyntaxError.
 */
export function parseJson(body: Buffer): unknown {
  // Decoding Latin-1 is faster, and for ASCII it is the same.
  if (isAscii(body)) return JSON.parse(body.toString('latin1'))
  const text = body.toString('utf8')
  if (isUtf8(body)) return JSON.parse(text)
  return JSON.parse(text, (_key, value) =>
    typeof value === 'string' && hasReplacementCharacter(value) ? Object(value) : value,
  )
}

/** The text of a field; null where it is absent, empty or not a text. */
export const toText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** A whole number within what a double holds exactly, or null. */
export const toInteger = (value: unknown): number | null => (Number.isSafeInteger(value) ? (value as number) : null)

/** The elements of a list; none where the value is not a list. */
export const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The numbers of a list that a column stores as text, separated by commas; null where the column is null. */
export const parseNumbers = (list: string | null): number[] | null => list?.split(',').map(Number) ?? null

/** The fields of an object that were sent and that no column holds, as canonical JSON in the column `payload`; no column when there are none. */
export function toPayload(object: JsonObject, known: readonly string[]): { readonly payload?: string } {
  const rest = Object.entries(object).filter(([key, value]) => value !== undefined && !known.includes(key))
  return rest.length === 0 ? {} : { payload: canonical(Object.fromEntries(rest)) }
}

/** A path into a document as text: `series[0].timeAgg`. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path.map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i === 0 ? '' : '.'}${String(part)}`)).join('')

const BRIEF = 80

/** A value as JSON for a message: its beginning where it is long, words where it is nested too deeply. */
export function brief(value: unknown): string {
  if (isDeeper(value)) return 'something nested too deeply'
  const text = JSON.stringify(value) ?? 'missing'
  return text.length > BRIEF ? `${text.slice(0, BRIEF)}…` : text
}
