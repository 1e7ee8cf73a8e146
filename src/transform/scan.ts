import type { Interval } from '../base/interval.ts'
import { isObject, type JsonObject } from '../base/json.ts'
import {
  COLON,
  COMMA,
  END,
  isDigit,
  isSpace,
  LIST,
  MINUS,
  OPEN,
  POINT,
  QUOTE,
  skipSpace,
  skipString,
  skipValue,
  textEnd,
  ZERO,
} from './bytes.ts'
import { createClock } from './clock.ts'
import { type Gathering, gather, geoOf, type Values } from './values.ts'

/*
 * Reads the values of a series straight from the bytes, three times as fast as JSON.parse and without an object a row.
 * The first row shows how the others are written: what stands between its values, byte for byte, is looked for in every
 * row. A row that is written otherwise is parsed by itself; an answer that is, is left to the parser of the whole.
 */

/** What is read of a row, by the name of its field; strings of other fields are stepped over, everything else must be the same in every row. */
const FIELDS = { value: 'number', datetime: 'time', tz_time: 'check', geo_id: 'geo', geo_name: 'name' } as const
type What = (typeof FIELDS)[keyof typeof FIELDS] | 'other' | 'end'

/** How the rows of an answer are written: before each value some bytes that are always the same. */
interface Template {
  readonly parts: readonly { readonly literal: Uint8Array; readonly what: What }[]
  /** The geo of every row, where it is no number of its own. */
  readonly geoId: number | null
}

/** Learns from the first row; null when it is not made of fields that can be told apart. */
function learn(body: Buffer, start: number, end: number): Template | null {
  const row: unknown = JSON.parse(body.toString('utf8', start, end))
  if (!isObject(row)) return null
  const parts: { literal: Uint8Array; what: What }[] = []
  const names = new Set<string>()
  let from = start
  let i = skipSpace(body, start + 1)
  while (body[i] === QUOTE) {
    const nameEnd = skipString(body, i)
    const name = JSON.parse(body.toString('utf8', i, nameEnd)) as string
    if (names.has(name)) return null
    names.add(name)
    const valueAt = skipSpace(body, skipSpace(body, nameEnd) + 1)
    const valueEnd = skipValue(body, valueAt)
    const text = body[valueAt] === QUOTE
    const known = Object.hasOwn(FIELDS, name) ? FIELDS[name as keyof typeof FIELDS] : null
    const fits = known !== null && text === (known !== 'number' && known !== 'geo')
    if (fits || (text && known === null)) {
      parts.push({ literal: body.subarray(from, text ? valueAt + 1 : valueAt), what: fits ? known : 'other' })
      from = text ? valueEnd - 1 : valueEnd
    }
    i = skipSpace(body, valueEnd)
    if (body[i] !== COMMA) break
    i = skipSpace(body, i + 1)
  }
  const has = (wanted: What): boolean => parts.some(({ what }) => what === wanted)
  if (!has('number') || !has('time') || (row.tz_time != null && !has('check'))) return null
  parts.push({ literal: body.subarray(from, end), what: 'end' })
  const own = has('geo')
  const geoId = geoOf(row)
  return typeof geoId === 'string' || (row.geo_id !== undefined && !own) ? null : { parts, geoId: own ? null : geoId }
}

/** Powers of ten that a double holds exactly. */
const TENS = Array.from({ length: 16 }, (_, i) => 10 ** i)

/** Matches rows against a template. */
function createMatcher(body: Buffer, { parts, geoId: only }: Template, gathering: Gathering) {
  const clock = createClock(body)
  const checkClock = createClock(body)
  const checked = parts.some(({ what }) => what === 'check')
  let end = -1
  let number = 0
  /** Reads a number of at most fifteen digits, exactly: both the digits and the power of ten are whole doubles. Answers whether it could. */
  const readNumber = (at: number, whole: boolean): boolean => {
    let i = at
    const negative = body[i] === MINUS
    if (negative) i++
    const first = i
    let digits = 0
    let point = -1
    for (; ; i++) {
      const byte = body[i]!
      if (isDigit(byte)) digits = digits * 10 + byte - ZERO
      else if (byte === POINT && point < 0 && !whole && i > first) point = i
      else break
    }
    const count = i - first - (point < 0 ? 0 : 1)
    if (count === 0 || count > 15 || point === i - 1) return false
    // 01 is no number in JSON, and 1e5 is left to the parser.
    if (body[first] === ZERO && first + 1 !== (point < 0 ? i : point)) return false
    if (body[i] === 0x65 || body[i] === 0x45) return false
    const size = point < 0 ? digits : digits / TENS[i - point - 1]!
    number = negative ? -size : size
    end = i
    return true
  }
  /** Reads one row; answers the place after it, or -1 when it is written otherwise. */
  return (start: number): number => {
    let i = start
    let value: number | null = null
    let geoId = only ?? 0
    let nameFrom = -1
    let nameTo = -1
    checkClock.at = Number.NaN
    for (let p = 0; p < parts.length; p++) {
      const { literal, what } = parts[p]!
      const { length } = literal
      for (let k = 0; k < length; k++) if (body[i + k] !== literal[k]) return -1
      i += length
      switch (what) {
        case 'end':
          break
        case 'number':
          if (readNumber(i, false)) {
            value = number
            i = end
          } else if (body.toString('latin1', i, i + 4) === 'null') i += 4
          else return -1
          break
        case 'geo':
          if (!readNumber(i, true)) return -1
          geoId = number
          i = end
          break
        case 'time':
          i = clock.read(i)
          break
        case 'check':
          i = checkClock.read(i)
          break
        case 'name':
          nameFrom = i
          i = nameTo = textEnd(body, i)
          break
        case 'other':
          i = textEnd(body, i)
      }
      if (i < 0) return -1
    }
    const { at } = clock
    if (Number.isNaN(at) || (checked && checkClock.at !== at)) return -1
    if (gathering.put(geoId, at, value) && nameTo > nameFrom)
      gathering.name(geoId, body.toString('utf8', nameFrom, nameTo))
    return i
  }
}

/** Where the list of values begins: after `"values": [`, when these bytes are a key and there is no other like it. */
function findValues(body: Buffer): number {
  const key = body.indexOf('"values"')
  if (key < 1) return -1
  let before = key - 1
  while (isSpace(body[before])) before--
  if (body[before] !== COMMA && body[before] !== OPEN) return -1
  const colon = skipSpace(body, key + 8)
  const list = skipSpace(body, colon + 1)
  return body[colon] === COLON && body[list] === LIST ? list + 1 : -1
}

/** The values of an answer, and the rest of it with an empty list in their place; null when it has to be parsed as a whole. */
export function scan(body: Buffer, window: Interval | null): { rest: JsonObject; values: Values } | null {
  const start = findValues(body)
  if (start < 0) return null
  try {
    const gathering = gather(window)
    const end = scanRows(body, skipSpace(body, start), gathering)
    if (end < 0 || body.indexOf('"values"', end) >= 0) return null
    const rest: unknown = JSON.parse(`${body.toString('utf8', 0, start)}${body.toString('utf8', end)}`)
    if (!isObject(rest)) return null
    const holder = Object.values(rest).find((part) => isObject(part) && Array.isArray(part.values))
    return holder === undefined ? null : { rest, values: gathering.done() }
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Reads rows up to the end of the list and answers its place; -1 when it is no list of rows that can be told apart. */
function scanRows(body: Buffer, start: number, gathering: Gathering): number {
  if (body[start] === END) return start
  const firstEnd = body[start] === OPEN ? skipValue(body, start) : -1
  const template = firstEnd < 0 ? null : learn(body, start, firstEnd)
  if (!template) return -1
  const match = createMatcher(body, template, gathering)
  let at = start
  for (let i = 0; ; i++) {
    let end = match(at)
    if (end < 0) {
      end = skipValue(body, at)
      if (end <= at) return -1
      gathering.read(JSON.parse(body.toString('utf8', at, end)), i)
    }
    at = skipSpace(body, end)
    if (body[at] === END) return at
    if (body[at] !== COMMA) return -1
    at = skipSpace(body, at + 1)
  }
}
