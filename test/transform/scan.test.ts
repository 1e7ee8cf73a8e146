import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Rows } from '../../src/db/tables/rows.ts'
import type { PlannedRequest } from '../../src/job/plannedRequest.ts'
import { SERVICES } from '../../src/service/services.ts'
import { transform, transformJson } from '../../src/transform/transform.ts'
import { valueRules } from '../../src/transform/transformSeries.ts'
import { scanValues } from '../../src/transform/values/scan.ts'
import { formatUtc, parseInstant } from '../../src/util/time/instant.ts'
import { formatOffset, localClock, offsetAt, startOfDate } from '../../src/util/time/zone.ts'
import { SERIES } from '../fixtures/answers.ts'
import { HAS_RECORDED, recorded } from '../support/recordedReplies.ts'

/** `SCAN_RUNS=30000 npx vitest run test/transform/scan.test.ts` tries as many damaged bodies. */
const RUNS = Number(process.env.SCAN_RUNS ?? 3_000)
const ZONE = 'Europe/Madrid'
const HOUR = 3600

const plan = (id: number, from: number, to: number, timeTrunc: string | null = null): PlannedRequest => ({
  entryPath: 'series[0]',
  route: 'indicator',
  params: { id },
  http: { route: 'indicator', target: `/indicators/${id}`, headers: {} },
  locale: 'es',
  reason: 'missing',
  series: { kind: 'indicator', indicatorId: id, timeTrunc, timeAgg: null, geoAgg: null, geoTrunc: null, geoIds: null },
  geoIds: [0],
  window: { from, to },
  settledBefore: 0,
  lookbackS: null,
  timeZone: ZONE,
  service: SERVICES.generic,
  isUnfiltered: false,
})

type Result = Rows | { readonly message: string; readonly path: unknown }

/** The rows of a body, or its error. */
function attempt(read: () => Rows): Result {
  try {
    return read()
  } catch (error) {
    const { message, path } = error as Error & { path?: unknown }
    return { message, path }
  }
}

/** Compares both ways to read a body. Returns whether its values were scanned. */
function compare(body: Buffer, planned: PlannedRequest): boolean {
  const parsed = attempt(() => transformJson(body, planned, null))
  expect(attempt(() => transform(body, planned))).toEqual(parsed)
  return scanValues(body, valueRules(planned)) !== null
}

const LAYOUTS = [
  ['without spaces', (body: unknown) => JSON.stringify(body)],
  ['with two spaces', (body: unknown) => JSON.stringify(body, null, 2)],
  ['with four spaces', (body: unknown) => JSON.stringify(body, null, 4)],
  ['with tabs and CRLF', (body: unknown) => JSON.stringify(body, null, '\t').replaceAll('\n', '\r\n')],
] as const

const NAMES = [
  'indicator-1001_2021-10-30.json',
  'indicator-1001_2021-10-31_25h-day.json',
  'indicator-10211_2021-10-31_25h-day.json',
  'indicator-1739_2021-10-30.json',
  'indicator-600_2025-09-30_hourly.json',
]

describe('bodies of the service are scanned, with the same rows as by JSON.parse', () => {
  test.each(LAYOUTS)('a body %s is scanned with the rows of JSON.parse', (_name, write) => {
    for (const { body, from, to } of SERIES) {
      const planned = plan(body.indicator.id, startOfDate(ZONE, from)!, startOfDate(ZONE, to)!)
      expect(compare(Buffer.from(write(body)), planned)).toBe(true)
    }
  })

  test.skipIf(!HAS_RECORDED).each(LAYOUTS)(
    'a recorded body %s is scanned with the rows of JSON.parse',
    (_name, write) => {
      for (const name of NAMES) {
        const body = recorded(name)
        const [day] = /\d{4}-\d{2}-\d{2}/.exec(name)!
        const from = startOfDate(ZONE, day)!
        expect(compare(Buffer.from(write(body)), plan(body.indicator.id, from, from + 25 * HOUR))).toBe(true)
      }
    },
  )
})

const FROM = parseInstant('2021-10-30T22:00:00Z')
const PLANNED = plan(600, FROM, FROM + 25 * HOUR)

const row = (over: object = {}) => ({
  value: 57.5,
  datetime: '2021-10-31T00:00:00.000+02:00',
  datetime_utc: '2021-10-30T22:00:00Z',
  tz_time: '2021-10-30T22:00:00.000Z',
  geo_id: 3,
  geo_name: 'España',
  ...over,
})
const later = (over: object = {}) =>
  row({
    datetime: '2021-10-31T01:00:00.000+02:00',
    datetime_utc: '2021-10-30T23:00:00Z',
    tz_time: '2021-10-30T23:00:00.000Z',
    ...over,
  })
const bodyOf = (rows: string, over = '') =>
  Buffer.from(`{"indicator":{"id":600,"name":"Precio","tiempo":[{"name":"Hora","id":4}]${over},"values":[${rows}]}}`)
/** The text of rows, with the number of the last value as given. */
const withNumber = (text: string) =>
  `${JSON.stringify(row())},${JSON.stringify(later({ value: 0.25 }))}`.replace('0.25', text)

test.each(['0', '-0', '7', '-12.5', '0.1', '123456.789', '999999999999999', '0.00000000000001', '1.10'])(
  'the number %s is read as by JSON.parse',
  (text) => {
    const body = bodyOf(withNumber(text))
    expect(compare(body, PLANNED)).toBe(true)
    const { observations } = transform(body, PLANNED)
    expect(Object.is(observations!.values[1], JSON.parse(text))).toBe(true)
  },
)

describe('a body that is written in another way is read by JSON.parse', () => {
  const rows = (...list: readonly object[]) => list.map((one) => JSON.stringify(one)).join(',')
  test.each([
    ['an empty list', bodyOf('')],
    ['a null value', bodyOf(rows(row(), later({ value: null })))],
    ['a number of 16 digits', bodyOf(withNumber('1234567890.123456'))],
    ['an exponent', bodyOf(withNumber('1e2'))],
    ['a leading zero', bodyOf(withNumber('01'))],
    ['a point without digits', bodyOf(withNumber('1.'))],
    ['a lone minus', bodyOf(withNumber('-'))],
    ['a plus', bodyOf(withNumber('+1'))],
    ['a value as text', bodyOf(rows(row(), later({ value: '1' })))],
    ['an escape in a name', bodyOf(rows(row(), later({ geo_name: 'a"b' })))],
    [
      'a name that is not UTF-8',
      Buffer.from(
        bodyOf(rows(row(), later({ geo_name: 'Xx' })))
          .toString('latin1')
          .replace('Xx', '\xff\xfe'),
        'latin1',
      ),
    ],
    ['a geo beyond the largest', bodyOf(rows(row(), later({ geo_id: 2 ** 31 })))],
    ['a name that is null', bodyOf(rows(row(), later({ geo_name: null })))],
    ['another order of keys', bodyOf(rows(row(), Object.fromEntries(Object.entries(later()).reverse())))],
    ['an additional key', bodyOf(rows(row(), later({ more: 1 })))],
    ['a missing key', bodyOf(rows(row(), later({ geo_id: undefined })))],
    ['a nested field', bodyOf(rows(row({ geo_ids: [3] })))],
    ['a key twice in the first row', bodyOf(JSON.stringify(row()).replace('"geo_id":3', '"geo_id":3,"geo_id":4'))],
    [
      'a key twice in the second row',
      bodyOf(`${JSON.stringify(row())},${JSON.stringify(later()).replace('"geo_id":3', '"geo_id":3,"geo_id":4')}`),
    ],
    ['an unequal tz_time', bodyOf(rows(row(), later({ tz_time: '2021-10-30T23:30:00.000Z' })))],
    ['an unequal datetime_utc', bodyOf(rows(row(), later({ datetime_utc: '2021-10-30T21:00:00Z' })))],
    ['a time that does not exist', bodyOf(rows(row(), later({ datetime: '2021-10-31T24:00:00.000+02:00' })))],
    ['a date that does not exist', bodyOf(rows(row({ datetime: '2021-02-30T00:00:00.000+02:00' })))],
    ['a time without offset', bodyOf(rows(row({ datetime: '2021-10-31T00:00:00.000' })))],
    ['a comma after the last row', bodyOf(`${JSON.stringify(row())},`)],
    ['text after the last row', bodyOf(`${JSON.stringify(row())} x`)],
    ['a list in place of a row', bodyOf(`${JSON.stringify(row())},[]`)],
    ['text after the body', Buffer.concat([bodyOf(rows(row())), Buffer.from('x')])],
    ['an end within the rows', bodyOf(rows(row(), later())).subarray(0, 300)],
    ['two lists of values', bodyOf(rows(row()), ',"more":{"values":[]}')],
    ['rows of another object', bodyOf(rows(later()), `,"more":{"values":[${rows(row())}]}`)],
    ['a time with points', bodyOf(rows(row(), later({ datetime: '2021-10-31T01.00:00.000+02:00' })))],
    ['a time without seconds', bodyOf(rows(row(), later({ datetime: '2021-10-31T01:00.00.000+02:00' })))],
    ['a group that begins within a day', bodyOf(rows(row(), later())), plan(600, FROM, FROM + 25 * HOUR, 'day')],
  ] as const)('a body with %s is read by JSON.parse', (name, body, planned = PLANNED) => {
    const isScanned = compare(body, planned)
    // Text after the body shows only when the rest of it is parsed.
    if (name !== 'text after the body') expect(isScanned).toBe(false)
  })
})

/** Bodies like those of the service: rows of some geos around the clock change, in any layout and order of keys. */
const bodies = fc
  .record({
    hours: fc.integer({ min: 1, max: 4 }),
    first: fc.integer({ min: -2, max: 26 }),
    geos: fc.uniqueArray(fc.constantFrom(3, 8741, 8742, -1), { minLength: 1, maxLength: 3 }),
    keys: fc.shuffledSubarray(['value', 'datetime', 'datetime_utc', 'tz_time', 'geo_id', 'geo_name'], { minLength: 4 }),
    numbers: fc.array(
      fc.oneof(fc.integer({ min: -999, max: 99_999 }), fc.double({ min: -1e6, max: 1e6, noNaN: true })),
      { minLength: 12, maxLength: 12 },
    ),
    layout: fc.constantFrom(...LAYOUTS.map(([, write]) => write)),
  })
  .map(({ hours, first, geos, keys, numbers, layout }) => {
    const values = Array.from({ length: hours }, (_, hour) =>
      geos.map((geo, i) => {
        const at = FROM + (first + hour) * HOUR
        const all: Record<string, unknown> = {
          value: Math.round(numbers[hour * geos.length + i]! * 100) / 100,
          datetime: `${localClock(ZONE, at)}.000${formatOffset(offsetAt(ZONE, at))}`,
          datetime_utc: formatUtc(at),
          tz_time: `${formatUtc(at).slice(0, 19)}.000Z`,
          geo_id: geo,
          geo_name: `Geo ñ ${geo}`,
        }
        return Object.fromEntries(keys.map((key) => [key, all[key]]))
      }),
    ).flat()
    return layout({ indicator: { id: 600, name: 'Precio', tiempo: [{ name: 'Hora', id: 4 }], values } })
  })

/** Bytes that replace others: parts of JSON, and whatever else might be mistaken for them. */
const inserts = fc.constantFrom(
  ...['', '0', '9', '-', '.', '"', '\\', '\\u0033', ',', ':', '{', '}', '[', ']', ' ', '\n', 'e5', 'null', 'true'],
  ...['"values"', '"values":[', '"geo_id":1,', ',{}', '00', '1e400', 'T', 'Z', '+02:00', '\u0000', 'é', '60', '2021'],
)
const edits = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    removed: fc.integer({ min: 0, max: 4 }),
    text: inserts,
  }),
  { maxLength: 2 },
)

test('damaged bodies have the same rows, rejects and errors by both ways', () => {
  let scanned = 0
  let damaged = 0
  fc.assert(
    fc.property(bodies, edits, (text, changes) => {
      let changed = text
      for (const { at, removed, text: inserted } of changes) {
        const i = Math.floor(at * changed.length)
        changed = changed.slice(0, i) + inserted + changed.slice(i + removed)
      }
      if (compare(Buffer.from(changed), PLANNED)) scanned++
      else damaged++
    }),
    { numRuns: RUNS },
  )
  expect(scanned).toBeGreaterThan(RUNS / 5)
  expect(damaged).toBeGreaterThan(RUNS / 5)
})
