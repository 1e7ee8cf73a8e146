import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readValues } from '../../src/transform/values/readValues.ts'
import { scan } from '../../src/transform/values/scan.ts'
import { type JsonObject, toList } from '../../src/util/json.ts'
import type { Interval } from '../../src/util/time/interval.ts'

/** Parses the same bytes with the full parser. */
function parsed(text: string, window: Interval | null) {
  const [holder] = Object.values(JSON.parse(text) as Record<string, JsonObject>)
  return readValues(toList(holder?.values), window, 'indicator')
}

/** Formats a row like the service. */
const row = (at: number, value: unknown, geo: number): Record<string, unknown> => ({
  value,
  datetime: new Date((at + 7200) * 1000).toISOString().replace('Z', '+02:00'),
  datetime_utc: new Date(at * 1000).toISOString().replace('.000', ''),
  tz_time: new Date(at * 1000).toISOString(),
  geo_id: geo,
  geo_name: geo === 3 ? 'España' : 'Portugal "x" \\ ',
})
const answer = (values: unknown, extra: object = {}) => ({
  indicator: { name: 'Precio "values": [', id: 600, geos: [], ...extra, values },
})

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(0, -0, 1e21, 1e-7, 0.1, 123.456, -17.05, 2 ** 53 + 2, 5e-324, 1.7976931348623157e308),
  fc.tuple(fc.integer({ min: -1e9, max: 1e9 }), fc.nat(6)).map(([n, d]) => n / 10 ** d),
)
/** Variants of a row. */
const spoil = fc.constantFrom<(row: Record<string, unknown>) => unknown>(
  (row) => row,
  (row) => row,
  (row) => row,
  (row) => ({ ...row, value: null }),
  (row) => ({ ...row, value: String(row.value) }),
  (row) => ({ ...row, value: true }),
  ({ value: _, ...rest }) => rest,
  ({ datetime: _, ...rest }) => rest,
  ({ tz_time: _, ...rest }) => rest,
  ({ geo_id: _, ...rest }) => rest,
  ({ geo_id: _, geo_name: __, ...rest }) => ({ ...rest, geo_ids: [3] }),
  ({ geo_id: _, geo_name: __, ...rest }) => ({ ...rest, geo_ids: [3, 4] }),
  (row) => ({ ...row, geo_id: '3' }),
  (row) => ({ ...row, geo_id: 1.5 }),
  (row) => ({ ...row, geo_name: null }),
  (row) => ({ ...row, tz_time: null }),
  (row) => ({ ...row, tz_time: '2024-01-01T00:00:00.000Z' }),
  (row) => ({ ...row, datetime: '2024-02-30T00:00:00.000+01:00' }),
  (row) => ({ ...row, datetime: 7 }),
  (row) => ({ ...row, datetime: String(row.datetime).slice(0, 19) }),
  (row) => ({ ...row, extra: { values: [1, '"', { a: 2 }] } }),
  (row) => ({ extra: 'a\u0000\ud800"', ...row }),
  (row) => Object.fromEntries(Object.entries(row).reverse()),
  () => null,
  () => [],
  () => 'text, with ] and }',
  () => 12,
  () => ({}),
)
const rows = fc
  .array(fc.tuple(fc.nat(400), number, fc.constantFrom(3, 3, 3, 1, 8741), spoil), { maxLength: 40 })
  .map((list) => list.map(([step, value, geo, change]) => change(row(1_700_000_000 + step * 900, value, geo))))

describe('the scanner', () => {
  test.each([undefined, 1, '\t'])('the scanner reads the same as the full parser, with indent %j', (indent) => {
    fc.assert(
      fc.property(rows, fc.boolean(), (values, all) => {
        const window = all ? null : { from: 1_700_000_000 + 50 * 900, to: 1_700_000_000 + 300 * 900 }
        const text = JSON.stringify(answer(values), null, indent)
        const scanned = scan(Buffer.from(text), window, 'indicator')
        if (scanned === null) return
        expect(scanned.values).toEqual(parsed(text, window))
        expect(scanned.rest).toEqual({ indicator: { ...answer([]).indicator } })
      }),
      { numRuns: 400 },
    )
  })

  test('the scanner reads every ordinary reply without the full parser', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(400), number), { minLength: 16, maxLength: 50 }), (list) => {
        const text = JSON.stringify(answer(list.map(([step, value]) => row(1_700_000_000 + step * 900, value, 3))))
        expect(scan(Buffer.from(text), null, 'indicator')?.values).toEqual(parsed(text, null))
      }),
    )
  })

  test('random changes of bytes are read like by the parser or left to it', () => {
    const text = JSON.stringify(
      answer(Array.from({ length: 18 }, (_, i) => row(1_700_000_000 + i * 3600, i * 1.25, 3))),
    )
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(text.length - 1), fc.constantFrom(...'"\\,:{}[]0123456789.-+eTZnul \n\u00e9')), {
          minLength: 1,
          maxLength: 3,
        }),
        (changes) => {
          const letters = [...text]
          for (const [at, letter] of changes) letters[at] = letter
          const changed = letters.join('')
          const scanned = scan(Buffer.from(changed), null, 'indicator')
          if (scanned === null) return
          // The scanned text must be JSON with the same values.
          expect(scanned.values).toEqual(parsed(changed, null))
        },
      ),
      { numRuns: 3000 },
    )
  })

  test.each<[string, string]>([
    ['no values', '{"indicator":{"id":1}}'],
    ['values that are not a list', '{"indicator":{"values":{"a":1}}}'],
    ['two lists of that name', '{"indicator":{"values":[],"x":{"values":[]}}}'],
    ['the key inside a string', '{"indicator":{"name":"\\"values\\":[1]","x":1}}'],
    ['an unterminated list', '{"indicator":{"values":[{"value":1,"datetime":"2025-01-01T00:00:00+01:00"}'],
    ['a trailing comma', '{"indicator":{"values":[{"value":1,"datetime":"2025-01-01T00:00:00+01:00"},]}}'],
    ['text after a row', '{"indicator":{"values":[{"value":1,"datetime":"2025-01-01T00:00:00+01:00"}x]}}'],
    ['a duplicate field', '{"indicator":{"values":[{"value":1,"value":2,"datetime":"2025-01-01T00:00:00+01:00"}]}}'],
    ['text after the reply', '{"indicator":{"values":[]}} x'],
    ['an empty body', ''],
  ])('the scanner leaves %s to the full parser', (_name, text) =>
    expect(scan(Buffer.from(text), null, 'indicator')).toBeNull(),
  )

  test('the scanner reads an empty list', () => {
    expect(scan(Buffer.from('{"indicator":{"id":1,"values":[ ]}}'), null, 'indicator')).toMatchObject({
      rest: { indicator: { id: 1, values: [] } },
      values: { rows: 0, rejects: [] },
    })
  })
})
