import { InputError } from '../../../util/errors.ts'
import { type Instant, parseInstant } from '../../../util/time/instant.ts'
import type { Interval } from '../../../util/time/interval.ts'
import { addUnits, floorTo, formatLocal, localClock, startOfDate, type Unit } from '../../../util/time/zone.ts'

/** The calendar steps in which a reader goes through time. */
export const SPANS = ['day', 'week', 'month', 'year'] as const
type RangeSpan = (typeof SPANS)[number]

/** How many local days are shown by default, up to the last one with a value. */
const USUAL_DAYS = 30

/** The longest interval of time that is shown at once: a century. */
const LONGEST_RANGE = 100 * 366 * 86_400

const BORDER_HINT = 'Use a local day (2025-10-01) or an instant with its offset (2025-10-01T12:00:00+02:00).'

/** An instant of an address: a local day, or an instant with its offset. */
function instantOfText(zone: string, name: string, text: string): Instant {
  const at = startOfDate(zone, text) ?? parseInstant(text.replace(/ (?=\d\d:\d\d$)/, '+'))
  if (Number.isNaN(at))
    throw new InputError(`${name}=${JSON.stringify(text)} is not a valid time.`, {
      hint: BORDER_HINT,
      code: 'bad-time',
    })
  return at
}

/** A border of a range as an address has it: a local day where it is the beginning of one. */
export function borderText(zone: string, at: Instant): string {
  const local = formatLocal(zone, at)
  return floorTo(zone, at, 'day') === at ? local.slice(0, 10) : local
}

/** The range in an address, or its one local `day`; `last` is the last instant with a value. */
export function requestedRange(zone: string, query: URLSearchParams, last: Instant): Interval {
  const [first, end, day] = [query.get('from'), query.get('to'), query.get('day')]
  if (day && !first && !end) return spanAt(zone, instantOfText(zone, 'day', day), 'day')
  const to = end
    ? instantOfText(zone, 'to', end)
    : first
      ? addUnits(zone, floorTo(zone, instantOfText(zone, 'from', first), 'day'), 'day', USUAL_DAYS)
      : addUnits(zone, floorTo(zone, last, 'day'), 'day', 1)
  const from = first ? instantOfText(zone, 'from', first) : addUnits(zone, floorTo(zone, to, 'day'), 'day', -USUAL_DAYS)
  if (from >= to)
    throw new InputError('The range ends before it begins.', {
      hint: `${BORDER_HINT} to= is the first instant after it.`,
      code: 'bad-range',
    })
  if (to - from > LONGEST_RANGE)
    throw new InputError('The range is longer than a century.', { hint: BORDER_HINT, code: 'bad-range' })
  return { from, to }
}

/** The Monday with which the local week of an instant begins. */
function startOfWeek(zone: string, at: Instant): Instant {
  const day = floorTo(zone, at, 'day')
  const weekday = new Date(`${localClock(zone, day).slice(0, 10)}T00:00:00Z`).getUTCDay()
  return addUnits(zone, day, 'day', -((weekday + 6) % 7))
}

/** The calendar span that holds an instant, moved by a number of spans. */
function spanAt(zone: string, at: Instant, span: RangeSpan, moved = 0): Interval {
  const [unit, count]: [Unit, number] = span === 'week' ? ['day', 7] : [span, 1]
  const start = span === 'week' ? startOfWeek(zone, at) : floorTo(zone, at, unit)
  const from = addUnits(zone, start, unit, count * moved)
  return { from, to: addUnits(zone, from, unit, count) }
}

/** The calendar span that a range is exactly; null for any other range. */
const rangeSpan = (zone: string, { from, to }: Interval): RangeSpan | null =>
  SPANS.find((span) => {
    const whole = spanAt(zone, from, span)
    return whole.from === from && whole.to === to
  }) ?? null

/** The ranges that a reader can go to: the previous and next one, and the calendar spans around its middle. */
export interface RangeLinks {
  readonly span: RangeSpan | null
  readonly previous: Interval
  readonly next: Interval
  readonly spans: Readonly<Record<RangeSpan, Interval>>
}

/** The ranges around a range: whole calendar spans where it is one, else as many local days, or as long a time. */
export function rangeLinks(zone: string, range: Interval, last: Instant): RangeLinks {
  const { from, to } = range
  const span = rangeSpan(zone, range)
  const middle = from <= last && last < to ? last : Math.floor((from + to) / 2)
  const spans = Object.fromEntries(SPANS.map((one) => [one, spanAt(zone, middle, one)])) as Record<RangeSpan, Interval>
  if (span) return { span, previous: spanAt(zone, from, span, -1), next: spanAt(zone, from, span, 1), spans }
  const whole = [from, to].every((at) => floorTo(zone, at, 'day') === at)
  const days = Math.round((to - from) / 86_400)
  const move = (at: Instant, by: number): Instant =>
    whole ? addUnits(zone, at, 'day', by * days) : at + by * (to - from)
  return { span, previous: { from: move(from, -1), to: from }, next: { from: to, to: move(to, 1) }, spans }
}
