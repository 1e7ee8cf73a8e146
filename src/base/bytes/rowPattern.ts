import { COLON, COMMA, isSpace, LIST, OPEN, QUOTE, skipSpace, skipString, skipValue } from './bytes.ts'

/** A field of a row: the bytes before its value, and whether the value is a string (without its quotes) or a number, null, true or false. */
interface Field {
  readonly name: string
  readonly literal: Uint8Array
  readonly text: boolean
}

/** How the rows of a list are written, learned from the first: its scalar fields in order, and the bytes after the last. Nested lists and objects are treated as constant bytes. */
export interface RowPattern {
  readonly fields: readonly Field[]
  readonly end: Uint8Array
}

/** Rows with more fields are left to the parser. */
const MAX_FIELDS = 64

/** The key of long lists of rows. */
export const VALUES_KEY = 'values'

/** Where the list under a key begins, after its bracket, when these bytes are a key of an object; -1 otherwise. */
export function findList(body: Buffer, name: string): number {
  const key = body.indexOf(`"${name}"`)
  if (key < 1) return -1
  let before = key - 1
  while (isSpace(body[before])) before--
  if (body[before] !== COMMA && body[before] !== OPEN) return -1
  const colon = skipSpace(body, key + name.length + 2)
  const list = skipSpace(body, colon + 1)
  return body[colon] === COLON && body[list] === LIST ? list + 1 : -1
}

/** Learns the pattern of rows from the one between two positions; null unless it is an object whose fields have different names. Throws SyntaxError where a name is not valid JSON. */
export function learnPattern(body: Buffer, start: number, end: number): RowPattern | null {
  if (body[start] !== OPEN) return null
  const fields: Field[] = []
  const names = new Set<string>()
  let from = start
  let i = skipSpace(body, start + 1)
  while (body[i] === QUOTE) {
    const nameEnd = skipString(body, i)
    if (nameEnd < 0 || nameEnd >= end) return null
    const name = JSON.parse(body.toString('utf8', i, nameEnd)) as string
    if (names.has(name) || names.size === MAX_FIELDS) return null
    names.add(name)
    const valueAt = skipSpace(body, skipSpace(body, nameEnd) + 1)
    const valueEnd = skipValue(body, valueAt)
    if (valueEnd <= valueAt || valueEnd >= end) return null
    const text = body[valueAt] === QUOTE
    if (body[valueAt] !== OPEN && body[valueAt] !== LIST) {
      fields.push({ name, literal: body.subarray(from, text ? valueAt + 1 : valueAt), text })
      from = text ? valueEnd - 1 : valueEnd
    }
    i = skipSpace(body, valueEnd)
    if (body[i] !== COMMA) break
    i = skipSpace(body, i + 1)
  }
  return fields.length === 0 ? null : { fields, end: body.subarray(from, end) }
}
