import { HOUR, type Instant, parseInstant } from '../../util/time/instant.ts'
import { addUnits } from '../../util/time/zone.ts'
import { type CalendarDay, clockTime, dayAt } from './calendar.ts'
import { EMULATED_ZONE } from './world.ts'

/** When the values of an indicator are published, and when they are revised. */
export interface PublicationTimes {
  /** Values before this instant are published, at a time of the service's clock. */
  readonly until: (now: Instant) => Instant
  /** When a value is first published. */
  readonly first: (at: Instant, day: CalendarDay) => Instant
  /** Ages of a value at which it is revised, in seconds; negative: before its instant. */
  readonly ages: readonly number[]
  /** Instants at which a whole local day is revised. */
  readonly dates: (day: CalendarDay) => readonly Instant[]
  /** The error of a value before its last revision, relative to the value. */
  readonly off: number
}

const never = (): readonly Instant[] => []

/** Some calendar months later, at a fixed time of day in UTC. */
const monthsLater = ({ year, month, date }: CalendarDay, months: number): Instant =>
  Date.UTC(year, month - 1 + months, Math.min(date, 28), 15, 27, 10) / 1000

/** Published on the day before: the values of tomorrow appear at a local time of today. */
const dayAhead = (hour: number, minute: number, second: number): PublicationTimes => ({
  until: (now) => {
    const today = dayAt(now)
    return now >= clockTime(today, 0, hour, minute) ? dayAt(today.to).to : today.to
  },
  first: (_at, day) => clockTime(day, -1, hour, minute, second),
  ages: [],
  dates: never,
  off: 0,
})

/** The rules by name; an indicator's row names one. */
export const PUBLICATIONS = {
  /** Day-ahead market: 14:00. */
  afternoon: dayAhead(14, 0, 21),
  /** Retail prices: 20:20. */
  evening: dayAhead(20, 20, 17),
  /** As it happens, five minutes late; settles within hours. */
  live: {
    until: (now) => now - 300 + 1,
    first: (at) => at + 300,
    ages: [2 * HOUR, 6 * HOUR],
    dates: never,
    off: 0.02,
  },
  /** Schedules of the day and, from 18:00, of the next; final on the morning after. */
  schedule: {
    until: (now) => {
      const today = dayAt(now)
      return now >= clockTime(today, 0, 18) ? dayAt(today.to).to : today.to
    },
    first: (_at, day) => clockTime(day, -1, 18, 2),
    ages: [],
    dates: (day) => [clockTime(day, 1, 9, 15)],
    off: 0.03,
  },
  /** Three days ahead, revised until its instant. */
  forecast: {
    until: (now) => dayAt(dayAt(dayAt(dayAt(now).to).to).to).to,
    first: (_at, day) => addUnits(EMULATED_ZONE, day.from, 'day', -3),
    ages: [-48 * HOUR, -24 * HOUR, -6 * HOUR, 0],
    dates: never,
    off: 0.06,
  },
  /** Up to yesterday; revised by settlements after one, three and eight months. */
  settled: {
    until: (now) => dayAt(now).from,
    first: (_at, day) => day.to,
    ages: [],
    dates: (day) => [monthsLater(day, 1), monthsLater(day, 3), monthsLater(day, 8)],
    off: 0.02,
  },
} as const satisfies Record<string, PublicationTimes>

export type PublicationName = keyof typeof PUBLICATIONS

/** Nothing is older than this. */
export const BEGINNING: Instant = parseInstant('2014-01-01T00:00:00+01:00')

/** When a value was last published or revised, at a time of the service's clock. */
export function publishedAt(rule: PublicationTimes, at: Instant, now: Instant): Instant {
  const day = dayAt(at)
  const events = [rule.first(at, day), ...rule.ages.map((age) => at + age), ...rule.dates(day)]
  return Math.max(Math.min(now, events[0]!), ...events.filter((event) => event <= now))
}
