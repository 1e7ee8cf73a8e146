import { isUtf8 } from 'node:buffer'
import { isSmall } from '../../db/tables/declare.ts'
import { type Instant, parseInstant } from '../../util/time/instant.ts'
import { MAX_PARSED } from '../flood.ts'
import {
  createCollector,
  type ParsedValues,
  repeatsFirstHour,
  type ValueCollector,
  type ValueRules,
} from './collectValues.ts'

/*
 * Reads the rows of `values` from the bytes of a body, without an object for each row. Services write all rows in the same way, so the
 * first row shows the text between the fields, white space included. Any deviation returns null; then `JSON.parse` reads the body.
 */

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const COLON = 0x3a
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

const VALUES_KEY = Buffer.from('"values"')
/** Doubles represent every number of so many digits exactly, so that one division by a power of ten gives the same as `JSON.parse`. */
const MAX_DIGITS = 15
const POWERS_OF_TEN = Array.from({ length: MAX_DIGITS + 1 }, (_, exponent) => 10 ** exponent)

const FIELD_NAMES = ['value', 'datetime', 'datetime_utc', 'tz_time', 'geo_id', 'geo_name'] as const
type FieldName = (typeof FIELD_NAMES)[number]
/** More rows, each an object with its fields, are left to `JSON.parse`, which refuses bodies with too many values. */
const MAX_ROWS = Math.floor(MAX_PARSED / (FIELD_NAMES.length + 1))

/** How rows are written. */
interface Template {
  /** The fields in order, each with the text before it: quotes of texts belong to the text between the fields. */
  readonly fields: readonly { readonly name: FieldName; readonly before: Buffer }[]
  /** The text after the last field. */
  readonly end: Buffer
}

/** The values of a body, and the body without them. */
export interface ScannedBody {
  readonly values: ParsedValues
  /** JSON with an empty list in the place of the values. */
  readonly rest: Buffer
}

const isDigit = (code: number): boolean => code >= ZERO && code <= ZERO + 9

function skipSpace(body: Buffer, from: number): number {
  let i = from
  while (body[i] === 0x20 || body[i] === 0x0a || body[i] === 0x0d || body[i] === 0x09) i++
  return i
}

/** The end of a text that begins after its quote; -1 if it has an escape or is not a text. */
function textEnd(body: Buffer, from: number): number {
  let i = from
  for (; body[i] !== QUOTE; i++) if (i >= body.length || body[i] === BACKSLASH || body[i]! < 0x20) return -1
  return i
}

function numberEnd(body: Buffer, from: number): number {
  let i = from
  while (isDigit(body[i]!) || body[i] === MINUS || body[i] === POINT) i++
  return i
}

/** Whether the bytes at a position are those of a text. */
function matches(body: Buffer, at: number, text: Buffer): boolean {
  for (let i = 0; i < text.length; i++) if (body[at + i] !== text[i]) return false
  return true
}

/** Learns the template from the first row, which begins at `from`. Null for any other form, such as a nested field. */
function learn(body: Buffer, from: number): Template | null {
  const fields: Template['fields'][number][] = []
  let begin = from
  let i = skipSpace(body, from + 1)
  for (;;) {
    if (body[i] !== QUOTE) return null
    const keyEnd = textEnd(body, i + 1)
    const name = FIELD_NAMES.find((known) => keyEnd !== -1 && known === body.toString('latin1', i + 1, keyEnd))
    if (name === undefined || fields.some((field) => field.name === name)) return null
    i = skipSpace(body, keyEnd + 1)
    if (body[i] !== COLON) return null
    i = skipSpace(body, i + 1)
    const isText = name !== 'value' && name !== 'geo_id'
    if (isText !== (body[i] === QUOTE)) return null
    if (isText) i++
    fields.push({ name, before: body.subarray(begin, i) })
    begin = isText ? textEnd(body, i) : numberEnd(body, i)
    if (begin === -1) return null
    i = skipSpace(body, isText ? begin + 1 : begin)
    if (body[i] === CLOSE_OBJECT) break
    if (body[i] !== COMMA) return null
    i = skipSpace(body, i + 1)
  }
  const isComplete = (['value', 'datetime'] as const).every((name) => fields.some((field) => field.name === name))
  return isComplete ? { fields, end: body.subarray(begin, i + 1) } : null
}

/** Reads the stamps of one field, whose date, fraction and offset are mostly those of the row before. */
function createStampReader(body: Buffer) {
  let last = -1
  let length = 0
  let midnight: Instant = Number.NaN
  const isLast = (at: number, first: number, end: number): boolean => {
    for (let i = first; i < end; i++) if (body[at + i] !== body[last + i]) return false
    return true
  }
  const two = (at: number): number => {
    const tens = body[at]! - ZERO
    const ones = body[at + 1]! - ZERO
    return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN
  }
  /** The instant of the text from `at` to `end`; NaN if it is not an instant. */
  return (at: number, end: number): Instant => {
    if (last !== -1 && end - at === length && isLast(at, 0, 11) && isLast(at, 19, length)) {
      const hour = two(at + 11)
      const minute = two(at + 14)
      const second = two(at + 17)
      if (!(hour <= 23 && minute <= 59 && second <= 59) || body[at + 13] !== COLON || body[at + 16] !== COLON)
        return Number.NaN
      return midnight + hour * 3600 + minute * 60 + second
    }
    const instant = parseInstant(body.toString('latin1', at, end))
    last = at
    length = end - at
    midnight = instant - two(at + 11) * 3600 - two(at + 14) * 60 - two(at + 17)
    return instant
  }
}

/** Reads the names of geos. A name that is not UTF-8 is undefined. */
function createNameReader(body: Buffer) {
  const names = new Map<number, { readonly at: number; readonly end: number; readonly name: string }>()
  return (geoId: number, at: number, end: number): string | undefined => {
    const known = names.get(geoId)
    if (known && known.end - known.at === end - at) {
      let i = 0
      while (at + i < end && body[at + i] === body[known.at + i]) i++
      if (at + i === end) return known.name
    }
    if (!isUtf8(body.subarray(at, end))) return undefined
    const name = body.toString('utf8', at, end)
    names.set(geoId, { at, end, name })
    return name
  }
}

/** Scans the rows from `from` to the end of their list. Returns its end and the number of rows; null at the first deviation. */
function scanRows(
  body: Buffer,
  from: number,
  { fields, end }: Template,
  zone: string,
  { add }: ValueCollector,
): { readonly end: number; readonly rows: number } | null {
  const readDatetime = createStampReader(body)
  const readUtc = createStampReader(body)
  const readTzTime = createStampReader(body)
  const readName = createNameReader(body)
  let at = from
  for (let rows = 1; ; rows++) {
    let value = 0
    let datetime: Instant = Number.NaN
    let utc: Instant | undefined
    let tzTime: Instant | undefined
    let geoId = 0
    let nameAt = -1
    let nameEnd = -1
    for (const { name, before } of fields) {
      if (!matches(body, at, before)) return null
      at += before.length
      if (name === 'value' || name === 'geo_id') {
        const isNegative = body[at] === MINUS
        if (isNegative) at++
        let digits = 0
        let number = 0
        const first = at
        for (; isDigit(body[at]!); at++, digits++) number = number * 10 + body[at]! - ZERO
        if (digits === 0 || digits > MAX_DIGITS || (digits > 1 && body[first] === ZERO)) return null
        if (name === 'value' && body[at] === POINT) {
          const point = at++
          for (; isDigit(body[at]!) && digits <= MAX_DIGITS; at++, digits++) number = number * 10 + body[at]! - ZERO
          if (at === point + 1 || digits > MAX_DIGITS) return null
          number /= POWERS_OF_TEN[at - point - 1]!
        }
        if (name === 'value') value = isNegative ? -number : number
        else geoId = isNegative ? -number : number
      } else {
        const close = textEnd(body, at)
        if (close === -1) return null
        if (name === 'geo_name') {
          nameAt = at
          nameEnd = close
        } else if (name === 'datetime') datetime = readDatetime(at, close)
        else if (name === 'datetime_utc') utc = readUtc(at, close)
        else tzTime = readTzTime(at, close)
        at = close
      }
    }
    if (!matches(body, at, end) || !isSmall(geoId)) return null
    at += end.length
    if (Number.isNaN(datetime) || (tzTime !== undefined && tzTime !== datetime)) return null
    if (utc !== undefined && utc !== datetime && !repeatsFirstHour(zone, datetime, utc)) return null
    const geoName = nameAt === -1 ? '' : readName(geoId, nameAt, nameEnd)
    if (geoName === undefined || add(geoId, datetime, value, geoName) !== undefined) return null
    at = skipSpace(body, at)
    if (body[at] === CLOSE_LIST) return { end: at, rows }
    if (body[at] !== COMMA || rows === MAX_ROWS) return null
    at = skipSpace(body, at + 1)
  }
}

/** Scans the body of an indicator. Null if it is written in another way, or if a value is not legal. */
export function scanValues(body: Buffer, rules: ValueRules): ScannedBody | null {
  const key = body.indexOf(VALUES_KEY)
  if (key === -1) return null
  const colon = skipSpace(body, key + VALUES_KEY.length)
  if (body[colon] !== COLON) return null
  const list = skipSpace(body, colon + 1)
  if (body[list] !== OPEN_LIST) return null
  const first = skipSpace(body, list + 1)
  const template = body[first] === OPEN_OBJECT ? learn(body, first) : null
  if (!template) return null
  const collector = createCollector(rules)
  const scanned = scanRows(body, first, template, rules.zone, collector)
  // If the body has another list of values, it is not certain whose rows these are.
  if (!scanned || body.indexOf(VALUES_KEY, scanned.end) !== -1) return null
  const { end, rows } = scanned
  const rest = Buffer.concat([body.subarray(0, list + 1), body.subarray(end)])
  return { values: { ...collector.join(), ...collector.rejects.done(), rows }, rest }
}
