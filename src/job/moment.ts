import { formatUtc, type Instant, isDate, parseInstant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import { addLocal, atLocal, floorTo, startOfDate } from '../util/time/zone.ts'
import type { Duration, Moment, Window } from './job.ts'

const SUFFIXES = { m: 'minute', h: 'hour', d: 'day', w: 'week', mo: 'month', y: 'year' } as const satisfies Record<
  string,
  Duration['unit']
>
/** Examples of legal durations, for messages. */
export const DURATION_FORM = '30m, 6h, 3d, 2w, 8mo or 1y'
/** Examples of legal moments, for messages. */
export const MOMENT_FORM = '2025-10-01, 2025-10-01T12:00, 2025-10-01T12:00:00Z, today, now, +2d or -30d'

/** The default end of windows. */
export const END_OF_TODAY: Moment = { kind: 'relative', duration: { count: 1, unit: 'day' } }

/** Parses `30m`, `6h`, `3d`, `2w`, `8mo` or `1y`; undefined for anything else. */
export function parseDuration(text: string): Duration | undefined {
  const match = /^(\d{1,5})(mo|[mhdwy])$/.exec(text.trim())
  return match ? { count: Number(match[1]), unit: SUFFIXES[match[2] as keyof typeof SUFFIXES] } : undefined
}

/** Formats a duration: `30m`, `1y`. */
export const durationText = ({ count, unit }: Duration): string =>
  `${count}${Object.entries(SUFFIXES).find(([, name]) => name === unit)![0]}`

/** Parses a day, a local time, an instant, `today`, `now` or a signed duration; undefined for anything else. */
export function parseMoment(text: string): Moment | undefined {
  const word = text.trim()
  if (word === 'now') return { kind: 'now' }
  if (word === 'today') return { kind: 'relative', duration: { count: 0, unit: 'day' } }
  if (/^[+-]/.test(word)) {
    const duration = parseDuration(word.slice(1))
    return (
      duration && {
        kind: 'relative',
        duration: { ...duration, count: word.startsWith('-') ? -duration.count : duration.count },
      }
    )
  }
  const local = /^(\d{4})-(\d{2})-(\d{2})(?:T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?)?$/.exec(word)
  if (local) {
    const [year, month, day, ...clock] = local.slice(1).map((part) => Number(part ?? 0)) as [
      number,
      number,
      number,
      ...number[],
    ]
    if (!isDate(year, month, day)) return undefined
    const date = word.slice(0, 10)
    const [hour = 0, minute = 0, second = 0] = clock
    return word.length === 10
      ? { kind: 'date', date }
      : { kind: 'local', date, second: hour * 3600 + minute * 60 + second }
  }
  const at = parseInstant(word.replace(/T(\d{2}:\d{2})(Z|[+-]\d{2}:\d{2})$/, 'T$1:00$2'))
  return Number.isNaN(at) ? undefined : { kind: 'instant', at }
}

const UNIT_SECONDS: Readonly<Record<Duration['unit'], number>> = {
  minute: 60,
  hour: 3_600,
  day: 86_400,
  week: 604_800,
  month: 31 * 86_400,
  year: 366 * 86_400,
}

/** A duration as a number of seconds, for thresholds: a month counts as 31 days, a year as 366. */
export const durationSeconds = ({ count, unit }: Duration): number => count * UNIT_SECONDS[unit]

/** Moves an instant by a duration. Days and longer units keep the local time. */
export function addDuration(zone: string, at: Instant, { count, unit }: Duration, times = 1): Instant {
  const n = count * times
  if (unit === 'minute' || unit === 'hour') return at + n * UNIT_SECONDS[unit]
  return unit === 'week' ? addLocal(zone, at, 'day', 7 * n) : addLocal(zone, at, unit, n)
}

/** The instant of a moment in a zone. Durations of days and longer count from the start of today, hours and minutes from now. */
export function resolveMoment(moment: Moment, zone: string, now: Instant): Instant {
  switch (moment.kind) {
    case 'now':
      return now
    case 'instant':
      return moment.at
    case 'date':
      return startOfDate(zone, moment.date)!
    case 'local':
      return atLocal(zone, moment.date, moment.second)!
    case 'relative': {
      const hasClockUnit = moment.duration.unit === 'minute' || moment.duration.unit === 'hour'
      return addDuration(zone, hasClockUnit ? now - (now % 60) : floorTo(zone, now, 'day'), moment.duration)
    }
  }
}

/**
 * The interval of a window in a zone; empty if its bounds are in the wrong order. `earliest`: the earliest start that it ever had, at
 * which it begins.
 */
export function resolveWindow(
  { from, to }: Window,
  zone: string,
  now: Instant,
  earliest = Number.POSITIVE_INFINITY,
): Interval {
  const interval = { from: Math.min(earliest, resolveMoment(from, zone, now)), to: resolveMoment(to, zone, now) }
  return interval.from < interval.to ? interval : { from: interval.from, to: interval.from }
}

/** A moment as `parseMoment` reads it; equal moments have equal texts. */
function momentText(moment: Moment): string {
  switch (moment.kind) {
    case 'now':
      return 'now'
    case 'instant':
      return formatUtc(moment.at)
    case 'date':
      return moment.date
    case 'local':
      return `${moment.date}T${new Date(moment.second * 1000).toISOString().slice(11, 19)}`
    case 'relative': {
      const { count, unit } = moment.duration
      return `${count < 0 ? '-' : '+'}${durationText({ count: Math.abs(count), unit })}`
    }
  }
}

/** A window as `parseWindow` reads it, such as `2025-01-01..+1d`; equal windows have equal texts. */
export const windowText = ({ from, to }: Window): string => `${momentText(from)}..${momentText(to)}`

/** Parses the text of a window; undefined for anything else. */
export function parseWindow(text: string): Window | undefined {
  const [from, to, ...more] = text.split('..').map(parseMoment)
  return from && to && more.length === 0 ? { from, to } : undefined
}
