import { describe, expect, test } from 'vitest'
import { addDuration, durationSeconds, parseDuration, parseMoment, resolveWindow } from '../../src/job/moment.ts'
import { parseInstant } from '../../src/util/time/instant.ts'

describe('points in time in a job', () => {
  test.each([
    ['2025-10-01T12:34:56', { kind: 'local', date: '2025-10-01', second: 45_296 }],
    ['2025-10-01T12:34', { kind: 'local', date: '2025-10-01', second: 45_240 }],
    ['2025-10-01T00:00:07', { kind: 'local', date: '2025-10-01', second: 7 }],
    [' 2025-10-01 ', { kind: 'date', date: '2025-10-01' }],
    ['2025-10-01T12:00Z', { kind: 'instant', at: parseInstant('2025-10-01T12:00:00Z') }],
    ['-2h', { kind: 'relative', duration: { count: -2, unit: 'hour' } }],
    ['+ 2h ', { kind: 'relative', duration: { count: 2, unit: 'hour' } }],
  ])('%s is a valid point in time', (text, moment) => expect(parseMoment(text)).toEqual(moment))

  test.each([
    ...'2025-02-30 x2025-10-01 2025-10-01x 2025-10-01T12:00:61 2025-10-01T12:00Zx + 1d 2023-02-29'.split(' '),
    ...'2023-13-01 tomorrow +2 2d 2025-1-1 2025-01-01T25:00 +2x'.split(' '),
    '',
  ])('%j is not a valid point in time', (text) => expect(parseMoment(text)).toBeUndefined())

  test.each(['', '3', 'd', '-3d', '3.5d', '3 d', '3dd'])('%j is not a duration', (text) =>
    expect(parseDuration(text)).toBeUndefined(),
  )

  test('spaces around a duration are ignored', () => expect(parseDuration(' 3d ')).toEqual({ count: 3, unit: 'day' }))
})

describe('a duration', () => {
  test.each([
    [{ count: 2, unit: 'minute' }, 120],
    [{ count: 3, unit: 'week' }, 1_814_400],
    [{ count: 2, unit: 'year' }, 63_244_800],
  ] as const)('%o has its length in seconds', (span, seconds) => expect(durationSeconds(span)).toBe(seconds))

  test.each([
    ['minutes are exact across a clock change', { count: 90, unit: 'minute' }, 1, '2025-10-26T02:00:00Z'],
    ['days keep the local time', { count: 1, unit: 'day' }, 1, '2025-10-27T01:30:00Z'],
    ['weeks are multiples of seven days', { count: 1, unit: 'week' }, 2, '2025-11-09T01:30:00Z'],
    ['months keep the day of the month', { count: 1, unit: 'month' }, 1, '2025-11-26T01:30:00Z'],
  ] as const)('%s', (_name, span, times, expected) => {
    const at = parseInstant('2025-10-26T00:30:00Z')
    expect(addDuration('Europe/Madrid', at, span, times)).toBe(parseInstant(expected))
  })

  test('a window that ends at or before its start is empty', () => {
    const now = parseInstant('2025-10-26T12:00:00Z')
    const empty = resolveWindow({ from: { kind: 'now' }, to: parseMoment('-1d')! }, 'Europe/Madrid', now)
    expect(empty).toEqual({ from: now, to: now })
  })
})
