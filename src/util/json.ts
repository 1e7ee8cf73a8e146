import { isAscii, isUtf8 } from 'node:buffer'

/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** A JSON object whose fields are not known yet. */
export type JsonObject = { readonly [key: string]: unknown }

/** Maximum nesting of written JSON: a hundred times the deepest reply seen. */
const MAX_DEPTH = 500

/** Whether a value is nested more deeply. The size of the stack, which differs between threads, must not decide. */
const isDeeper = (value: unknown, left = MAX_DEPTH): boolean =>
  value !== null &&
  typeof value === 'object' &&
  (left === 0 || Object.values(value).some((inner) => isDeeper(inner, left - 1)))

/** Throws RangeError if a value is nested too deeply. */
export function refuseDeep(value: unknown): void {
  if (isDeeper(value)) throw new RangeError(`nested more than ${MAX_DEPTH} levels deep`)
}

/**
 * JSON with the keys of every object in order, so that equal values are equal texts. `undefined` fields vanish. Throws RangeError
 * if a value is nested too deeply.
 */
export function canonical(value: unknown): string {
  refuseDeep(value)
  return JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  )
}

/** Whether a value is a JSON object: neither null nor an array. */
export const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !isUnreadable(value)

/** The replacement for bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd'

/** Whether a field of a reply is a text that is not UTF-8. */
export const isUnreadable = (value: unknown): boolean => value instanceof String

/**
 * Parses JSON from bytes. A text that is not UTF-8 becomes a `String` object, which no field accepts and which threads can
 * pass on. Throws SyntaxError.
 */
export function parseJson(body: Buffer): unknown {
  // Decoding Latin-1 is faster, and for ASCII it is the same.
  if (isAscii(body)) return JSON.parse(body.toString('latin1'))
  const text = body.toString('utf8')
  if (isUtf8(body)) return JSON.parse(text)
  return JSON.parse(text, (_key, value) =>
    typeof value === 'string' && value.includes(REPLACEMENT) ? Object(value) : value,
  )
}

/** The text of a field; null if it is absent, empty or not a text. */
export const toText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** A whole number that a double represents exactly, or null. */
export const toInteger = (value: unknown): number | null => (Number.isSafeInteger(value) ? (value as number) : null)

/** The elements of a list; none for any other value. */
export const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The numbers of a comma-separated list; null for null. */
export const parseNumbers = (list: string | null): number[] | null => list?.split(',').map(Number) ?? null

/** The column `payload`: the fields without a column of their own, as canonical JSON. No column if there are none. */
export function toPayload(object: JsonObject, columns: readonly string[]): { readonly payload?: string } {
  const rest = Object.entries(object).filter(([key, value]) => value !== undefined && !columns.includes(key))
  return rest.length === 0 ? {} : { payload: canonical(Object.fromEntries(rest)) }
}

/** A path into a document as text: `series[0].timeAgg`. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path.map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i === 0 ? '' : '.'}${String(part)}`)).join('')

const BRIEF_LENGTH = 80

/** A value as JSON for a message, shortened if it is long. */
export function brief(value: unknown): string {
  if (isDeeper(value)) return 'something nested too deeply'
  const text = JSON.stringify(value) ?? 'missing'
  return text.length > BRIEF_LENGTH ? `${text.slice(0, BRIEF_LENGTH)}…` : text
}
