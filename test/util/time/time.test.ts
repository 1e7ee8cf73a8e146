import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { floorToSecond, formatUtc, parseInstant } from '../../../src/util/time/instant.ts'
import { addLocal, formatLocal, localDate, startOfDate, transitions } from '../../../src/util/time/zone.ts'

const ZONES = ['Europe/Madrid', 'Atlantic/Canary', 'America/New_York', 'Pacific/Chatham', 'UTC'] as const
const instants = fc.integer({ min: Date.UTC(1990, 0) / 1000, max: Date.UTC(2040, 0) / 1000 })

describe('timestamps', () => {
  test.each([
    ['2021-10-31T02:00:00.000+02:00', '2021-10-31T00:00:00Z'],
    ['2021-10-31T02:00:00.000+01:00', '2021-10-31T01:00:00Z'],
    ['2025-03-30T03:00:00+02:00', '2025-03-30T01:00:00Z'],
    ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
  ])('the timestamp %s is parsed as %s', (text, utc) => expect(formatUtc(parseInstant(text))).toBe(utc))

  test.each([
    ...['2021-10-31 02:00:00Z', ''],
    ...'2021-10-31T02:00:00 2021-10-31 2021-02-29T00:00:00Z 2021-13-01T00:00:00Z'.split(' '),
    ...'2021-10-31T24:00:00Z 2021-10-31T02:60:00Z 2021-10-31T02:00:00.Z 2021-10-31T02:00:00+0100'.split(' '),
    ...'2021-10-31T02:00:00+25:00 2021-10-31T02:00:00Zx ２021-10-31T02:00:00Z'.split(' '),
    ...'2021/10-31T02:00:00Z 2021-10/31T02:00:00Z 2021-10-31T02.00:00Z 2021-10-31T02:00.00Z'.split(' '),
    ...'2021-10-31T02:00:60Z 2021-10-31T02:00:00.5 2021-10-31T02:00:00*01:00'.split(' '),
    ...'2021-10-31T02:00:00+01.00 2021-10-31T02:00:00+01:00x 2021-10-31T02:00:00+01:60'.split(' '),
    ...'2021-10-3:T02:00:00Z 2021-10-3/T02:00:00Z 2021-10-:1T02:00:00Z'.split(' '),
  ])('%j is not a valid timestamp', (text) => expect(parseInstant(text)).toBeNaN())

  test.each([
    ['2021-10-31T02:00:00+23:59', '2021-10-30T02:01:00Z'],
    ['2021-10-31T02:00:00-00:30', '2021-10-31T02:30:00Z'],
    ['2021-10-31T02:00:00.90-09:00', '2021-10-31T11:00:00Z'],
  ])('the offset of %s is subtracted: %s', (text, utc) => expect(formatUtc(parseInstant(text))).toBe(utc))

  test('a date is valid if the Gregorian calendar contains it', () => {
    const pad = (n: number, digits = 2) => String(n).padStart(digits, '0')
    for (const year of [0, 1, 1600, 1700, 1900, 1996, 2000, 2023, 2024, 2100, 9999])
      for (let month = 0; month <= 13; month++)
        for (let day = 0; day <= 32; day++) {
          const date = new Date(Date.UTC(2000, month - 1, day))
          date.setUTCFullYear(year, month - 1, day)
          const exists = year > 0 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
          const text = `${pad(year, 4)}-${pad(month)}-${pad(day)}T00:00:00Z`
          expect(parseInstant(text), text).toBe(exists ? date.getTime() / 1000 : Number.NaN)
        }
  })

  test('a local timestamp is rounded down to its second', () => {
    expect(floorToSecond('2025-10-01T00:00:00.999Z')).toBe(parseInstant('2025-10-01T00:00:00Z'))
  })

  test('a formatted timestamp is parsed to the same instant in every zone', () => {
    fc.assert(
      fc.property(instants, fc.constantFrom(...ZONES), (at, zone) => {
        expect(parseInstant(formatUtc(at))).toBe(at)
        expect(parseInstant(formatLocal(zone, at))).toBe(at)
      }),
    )
  })
})

describe('local calendars', () => {
  test('Madrid changes its clocks twice a year', () => {
    const year = transitions('Europe/Madrid').filter(({ at }) => localDate('UTC', at).startsWith('2025'))
    expect(year.map(({ at }) => formatUtc(at))).toEqual(['2025-03-30T01:00:00Z', '2025-10-26T01:00:00Z'])
  })

  test.each([
    ['2025-10-26T14:00:00+01:00', 'day', -1, '2025-10-25T14:00:00+02:00'],
    ['2025-10-25T14:00:00+02:00', 'day', 1, '2025-10-26T14:00:00+01:00'],
    ['2025-10-26T02:30:00+01:00', 'day', -1, '2025-10-25T02:30:00+02:00'],
    ['2025-03-29T02:30:00+01:00', 'day', 1, '2025-03-30T03:30:00+02:00'],
    ['2025-10-26T14:00:00+01:00', 'year', -1, '2024-10-26T14:00:00+02:00'],
    ['2024-02-29T10:00:00+01:00', 'year', -1, '2023-02-28T10:00:00+01:00'],
  ] as const)('%s moved by a %s and %i is at the same time on the clock', (text, unit, count, moved) =>
    expect(formatLocal('Europe/Madrid', addLocal('Europe/Madrid', parseInstant(text), unit, count))).toBe(moved),
  )

  test('a date that does not exist has no start', () => {
    expect(startOfDate('Europe/Madrid', '2023-02-30')).toBeUndefined()
    expect(() => transitions('Europe/Madird')).toThrow(/Unknown time zone/)
  })
})
