import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { daysFromCivil, type Instant } from '../../../src/util/time/instant.ts'
import {
  addUnits,
  atLocal,
  ceilTo,
  floorTo,
  formatLocal,
  localDate,
  offsetAt,
  startOfDate,
  transitions,
  UNITS,
} from '../../../src/util/time/zone.ts'
import { cases } from '../../support/randomCases.ts'

const ZONES = [
  ...['Europe/Madrid', 'Atlantic/Canary', 'America/New_York', 'UTC', 'Europe/London', 'Asia/Kolkata'],
  ...['Australia/Lord_Howe', 'Pacific/Apia', 'Africa/Casablanca', 'America/Sao_Paulo', 'Asia/Beirut'],
  ...['Antarctica/Troll', 'Pacific/Chatham', 'America/St_Johns', 'Africa/Cairo', 'Asia/Tehran', 'Africa/Monrovia'],
  ...['America/Caracas', 'Asia/Pyongyang', 'Pacific/Kwajalein', 'Asia/Gaza', 'America/Scoresbysund'],
] as const
const formats = new Map<string, Intl.DateTimeFormat>()

/** Returns the local time in UTC-like seconds, by Intl without offsets. */
function wall(zone: string, at: Instant): number {
  let format = formats.get(zone)
  if (!format) {
    const digits = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
    format = new Intl.DateTimeFormat('en', { ...digits, second: 'numeric', hourCycle: 'h23', timeZone: zone })
    formats.set(zone, format)
  }
  const parts = Object.fromEntries(format.formatToParts(at * 1000).map(({ type, value }) => [type, Number(value)]))
  const { year, month, day, hour, minute, second } = parts as Record<string, number>
  return daysFromCivil(year!, month!, day!) * 86_400 + hour! * 3600 + minute! * 60 + second!
}

/** Generates instants, mostly near clock changes. */
const instantsOf = (zone: string): fc.Arbitrary<Instant> =>
  fc.oneof(
    fc.integer({ min: 0, max: Date.UTC(2099, 0) / 1000 }),
    fc
      .tuple(fc.constantFrom(...transitions(zone)), fc.integer({ min: -100_000, max: 100_000 }))
      .map(([{ at }, distance]) => Math.max(0, at + distance)),
    fc
      .tuple(fc.constantFrom(...transitions(zone)), fc.integer({ min: -3, max: 3 }))
      .map(([{ at }, n]) => Math.max(0, at + n * 900)),
  )
const everyZone = (name: string, check: (zone: string, at: Instant) => void): void =>
  test.each(ZONES)(`${name}: %s`, (zone) => {
    fc.assert(
      fc.property(instantsOf(zone), (at) => void check(zone, at)),
      { numRuns: cases(25) },
    )
  })

describe('every time zone, compared with the clocks of Intl', () => {
  everyZone('the offset is the difference between local time and UTC', (zone, at) =>
    expect(offsetAt(zone, at)).toBe(wall(zone, at) - at),
  )

  everyZone('a day begins at the first second that has its date', (zone, at) => {
    const day = floorTo(zone, at, 'day')
    const next = addUnits(zone, day, 'day', 1)
    expect(day).toBeLessThanOrEqual(at)
    expect(next).toBeGreaterThan(at)
    for (const border of [day, next]) {
      const date = Math.floor(wall(zone, border) / 86_400)
      expect(Math.floor(wall(zone, border - 1) / 86_400)).toBeLessThan(date)
      expect(border).toBe(startOfDate(zone, localDate(zone, border)))
    }
    expect(next - day).toBeLessThanOrEqual(27 * 3600)
    expect(next - day).toBeGreaterThanOrEqual(21 * 3600)
  })

  everyZone('every unit divides time without gaps', (zone, at) => {
    for (const unit of UNITS) {
      const floor = floorTo(zone, at, unit)
      const next = addUnits(zone, floor, unit, 1)
      expect(floorTo(zone, floor, unit)).toBe(floor)
      expect(floorTo(zone, next, unit)).toBe(next)
      expect(floorTo(zone, next - 1, unit)).toBe(floor)
      expect([floor <= at, at < next]).toEqual([true, true])
      expect(ceilTo(zone, at, unit)).toBe(floor === at ? at : next)
    }
  })

  everyZone('a formatted local time is parsed to the same clock time', (zone, at) => {
    const text = formatLocal(zone, at)
    const found = atLocal(zone, text.slice(0, 10), wall(zone, at) - Math.floor(wall(zone, at) / 86_400) * 86_400)!
    expect(wall(zone, found)).toBe(wall(zone, at))
    expect(found).toBeLessThanOrEqual(at)
  })
})

describe('unusual days', () => {
  const at = (text: string): Instant => Date.parse(text) / 1000
  test('Lord Howe changes its clocks by half an hour', () => {
    const howe = 'Australia/Lord_Howe'
    expect([at('2025-10-04T15:29:59Z'), at('2025-10-04T15:30:00Z')].map((one) => formatLocal(howe, one))).toEqual([
      '2025-10-05T01:59:59+10:30',
      '2025-10-05T02:30:00+11:00',
    ])
    expect([at('2025-04-05T14:59:59Z'), at('2025-04-05T15:00:00Z')].map((one) => formatLocal(howe, one))).toEqual([
      '2025-04-06T01:59:59+11:00',
      '2025-04-06T01:30:00+10:30',
    ])
    expect(
      transitions(howe)
        .filter((one) => one.at > at('2025-01-01T00:00:00Z'))
        .slice(0, 2),
    ).toEqual([
      { at: at('2025-04-05T15:00:00Z'), offset: 37_800 },
      { at: at('2025-10-04T15:30:00Z'), offset: 39_600 },
    ])
  })

  test('Apia has no 30 December 2011', () => {
    const apia = 'Pacific/Apia'
    expect(startOfDate(apia, '2011-12-30')).toBe(startOfDate(apia, '2011-12-31'))
    expect(addUnits(apia, startOfDate(apia, '2011-12-29')!, 'day', 1)).toBe(startOfDate(apia, '2011-12-31'))
    expect(addUnits(apia, startOfDate(apia, '2011-12-01')!, 'month', 1)).toBe(at('2011-12-31T10:00:00Z'))
  })

  test.each([
    ['America/Sao_Paulo', '2018-11-04', '2018-11-04T01:00:00-02:00', 23],
    ['America/Sao_Paulo', '2018-02-17', '2018-02-17T00:00:00-02:00', 25],
    ['Europe/Madrid', '2025-03-30', '2025-03-30T00:00:00+01:00', 23],
    ['Europe/Madrid', '2025-03-31', '2025-03-31T00:00:00+02:00', 24],
    ['Europe/Madrid', '2025-10-26', '2025-10-26T00:00:00+02:00', 25],
    ['Asia/Beirut', '2025-03-30', '2025-03-30T01:00:00+03:00', 23],
    ['Antarctica/Troll', '2025-03-30', '2025-03-30T00:00:00+00:00', 22],
    ['Antarctica/Troll', '2025-10-26', '2025-10-26T00:00:00+02:00', 26],
    ['Africa/Casablanca', '2025-02-23', '2025-02-23T00:00:00+01:00', 25],
    ['Pacific/Chatham', '2025-09-28', '2025-09-28T00:00:00+12:45', 23],
  ])('%s on %s begins at %s and has %i hours', (zone, date, begins, hours) => {
    const from = startOfDate(zone, date)!
    expect(formatLocal(zone, from)).toBe(begins)
    expect((addUnits(zone, from, 'day', 1) - from) / 3600).toBe(hours)
  })

  test.each([
    ['America/New_York', '2025-03-09', 2.5, '2025-03-09T03:30:00-04:00'],
    ['America/New_York', '2025-11-02', 1.5, '2025-11-02T01:30:00-04:00'],
    ['Europe/Madrid', '2025-03-30', 2.5, '2025-03-30T03:30:00+02:00'],
    ['Europe/Madrid', '2025-10-26', 2.5, '2025-10-26T02:30:00+02:00'],
    ['Australia/Lord_Howe', '2025-10-05', 2.25, '2025-10-05T02:45:00+11:00'],
    ['Pacific/Auckland', '2025-09-28', 2.5, '2025-09-28T03:30:00+13:00'],
  ])('%s on %s, hour %d is %s', (zone, date, hour, text) =>
    expect(formatLocal(zone, atLocal(zone, date, hour * 3600)!)).toBe(text),
  )
})
