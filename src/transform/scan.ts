import { type Instant, parseInstant } from '../base/instant.ts'
import type { Interval } from '../base/interval.ts'
import { isObject, type JsonObject } from '../base/json.ts'
import { type Gathering, gather, geoOf, type Values } from './values.ts'

/*
 * Reads the values of a series straight from the bytes, three times as fast as JSON.parse and without an object a row.
 * The first row shows how the others are written: what stands between its values, byte for byte, is looked for in every
 * row. A row that is written otherwise is parsed by itself; an answer that is, is left to the parser of the whole.
 */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const OPEN = 0x7b
const CLOSE = 0x7d
const LIST = 0x5b
const END = 0x5d

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

function skipSpace(body: Buffer, at: number): number {
  let i = at
  while (isSpace(body[i])) i++
  return i
}

/** The place after a string that begins at a quote; -1 when it never ends. */
function skipString(body: Buffer, at: number): number {
  let i = at + 1
  for (; i < body.length; i++) {
    if (body[i] === BACKSLASH) i++
    else if (body[i] === QUOTE) return i + 1
  }
  return -1
}

/** The place after any value, whose inside is not judged; -1 when it never ends. */
function skipValue(body: Buffer, at: number): number {
  let depth = 0
  for (let i = at; i < body.length; i++) {
    const byte = body[i]
    if (byte === QUOTE) {
      i = skipString(body, i) - 1
      if (i < 0) return -1
      if (depth === 0) return i + 1
    } else if (byte === OPEN || byte === LIST) depth++
    else if (byte === CLOSE || byte === END) {
      if (depth === 0) return i
      if (--depth === 0) return i + 1
    } else if (depth === 0 && (byte === COMMA || isSpace(byte))) return i
  }
  return -1
}

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

/** Reads instants that mostly share their day and their offset with the one before. */
function createClock(body: Buffer): (from: number, to: number) => Instant {
  let known = -1
  let length = 0
  let midnight = 0
  return (from, to) => {
    if (known >= 0 && to - from === length) {
      let i = 0
      while (i < 11 && body[from + i] === body[known + i]) i++
      if (i === 11) {
        i = 19
        while (i < length && body[from + i] === body[known + i]) i++
        const hour = (body[from + 11]! - ZERO) * 10 + body[from + 12]! - ZERO
        const minute = (body[from + 14]! - ZERO) * 10 + body[from + 15]! - ZERO
        const second = (body[from + 17]! - ZERO) * 10 + body[from + 18]! - ZERO
        const digits =
          isDigit(body[from + 11]!) &&
          isDigit(body[from + 12]!) &&
          isDigit(body[from + 14]!) &&
          isDigit(body[from + 15]!) &&
          isDigit(body[from + 17]!) &&
          isDigit(body[from + 18]!)
        if (i === length && digits && hour < 24 && minute < 60 && second < 60)
          if (body[from + 13] === COLON && body[from + 16] === COLON)
            return midnight + hour * 3600 + minute * 60 + second
      }
    }
    const text = body.toString('latin1', from, to)
    const at = parseInstant(text)
    if (!Number.isNaN(at)) {
      known = from
      length = to - from
      midnight = at - (Number(text.slice(11, 13)) * 3600 + Number(text.slice(14, 16)) * 60 + Number(text.slice(17, 19)))
    }
    return at
  }
}

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= 0x39

/** Powers of ten that a double holds exactly. */
const TENS = Array.from({ length: 16 }, (_, i) => 10 ** i)

/** Matches rows against a template. */
function createMatcher(body: Buffer, { parts, geoId: only }: Template, gathering: Gathering) {
  const clock = createClock(body)
  const checkClock = createClock(body)
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
  /** The place of the quote that ends a text without escapes; -1 for any other text. */
  const textEnd = (at: number): number => {
    for (let i = at; i < body.length; i++) {
      const byte = body[i]!
      if (byte === QUOTE) return i
      if (byte === BACKSLASH || byte < 0x20) return -1
    }
    return -1
  }
  /** Reads one row; answers the place after it, or -1 when it is written otherwise. */
  return (start: number): number => {
    let i = start
    let value: number | null = null
    let at = Number.NaN
    let check = Number.NaN
    let checked = false
    let geoId = only ?? 0
    let nameFrom = -1
    let nameTo = -1
    for (const { literal, what } of parts) {
      for (let k = 0; k < literal.length; k++) if (body[i + k] !== literal[k]) return -1
      i += literal.length
      if (what === 'end') break
      if (what === 'number') {
        if (readNumber(i, false)) {
          value = number
          i = end
        } else if (body[i] === 0x6e && body.toString('latin1', i, i + 4) === 'null') i += 4
        else return -1
      } else if (what === 'geo') {
        if (!readNumber(i, true)) return -1
        geoId = number
        i = end
      } else {
        const to = textEnd(i)
        if (to < 0) return -1
        if (what === 'time') at = clock(i, to)
        else if (what === 'check') {
          check = checkClock(i, to)
          checked = true
        } else if (what === 'name') {
          nameFrom = i
          nameTo = to
        }
        i = to
      }
    }
    if (Number.isNaN(at) || (checked && check !== at)) return -1
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
