import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pack, unpack } from '../../../src/base/bytes/pack.ts'

const there = (body: Buffer) => {
  const packed = pack(body)
  expect(unpack(packed, body.length).equals(body), `${packed.form}: ${body.toString('latin1').slice(0, 300)}`).toBe(
    true,
  )
  return packed
}
const row = (at: number, value: number | null, more: object = {}) => ({
  value,
  datetime: new Date((at + 7200) * 1000).toISOString().replace('Z', '+02:00'),
  datetime_utc: new Date(at * 1000).toISOString().replace('.000', ''),
  tz_time: new Date(at * 1000).toISOString(),
  geo_id: 3,
  geo_name: 'España',
  ...more,
})
const answer = (values: unknown) => ({ indicator: { name: 'Precio', id: 600, geos: [], values } })

describe('packing', () => {
  test('a year of hours takes less than four bytes a value, and comes out as it went in', () => {
    const rows = Array.from({ length: 8760 }, (_, i) => row(1_735_686_000 + i * 3600, ((i * 7919) % 20_011) / 100))
    const body = Buffer.from(JSON.stringify(answer(rows)))
    const packed = there(body)
    expect(packed.form).toBe('columns')
    expect(packed.bytes.length / rows.length).toBeLessThan(4)
  })

  test('any rows, written in any way, come out byte for byte', () => {
    const some = fc.record(
      {
        value: fc.oneof(fc.double(), fc.integer(), fc.constant(null)),
        datetime: fc.oneof(
          fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }).map((at) => new Date(at * 1000).toISOString()),
          fc.nat(100_000).map((n) => `2025-10-26T0${n % 4}:30:00+0${(n % 3) + 1}:00 \u00e9`),
          fc.constantFrom(
            '2025-02-29T00:00:00Z',
            '2025-10-01T24:00:00Z',
            '2025-10-01T23:59:60Z',
            '2025-10-01T00:00:00',
            '',
            'x',
          ),
        ),
        tz_time: fc.nat(5_000).map((n) => new Date(1_700_000_000_000 + n * 900_000).toISOString()),
        geo_id: fc.integer(),
        name: fc.string(),
        other: fc.jsonValue(),
      },
      { requiredKeys: ['value'] },
    )
    fc.assert(
      fc.property(
        fc.array(some, { maxLength: 60 }),
        fc.constantFrom(undefined, 1, '\t'),
        fc.boolean(),
        (rows, indent, same) => {
          const list = same ? rows.map((one) => ({ ...rows[0], ...one })) : rows
          there(Buffer.from(JSON.stringify(answer(list), null, indent)))
        },
      ),
      { numRuns: 300 },
    )
  })

  test('bytes changed at random come out as they are, no JSON or not', () => {
    const rows = Array.from({ length: 24 }, (_, i) =>
      row(1_735_686_000 + i * 3600, i * 1.5, i % 5 === 0 ? { geo_id: 8741 } : {}),
    )
    const body = Buffer.from(JSON.stringify(answer(rows)))
    expect(there(body).form).toBe('columns')
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(body.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        (changes) => {
          const changed = Buffer.from(body)
          for (const [at, byte] of changes) changed[at] = byte
          there(changed)
        },
      ),
      { numRuns: 3000 },
    )
    for (let length = 0; length < body.length; length += 97) there(body.subarray(0, length))
  })

  test.each(['', '{}', '[]', '{"values":[]}', '{"values":[1,2]}', 'no JSON "values":[{', '{"a":"values"}'])(
    '%j',
    (text) => {
      expect(there(Buffer.from(text)).form).toBe('zstd')
    },
  )
})
