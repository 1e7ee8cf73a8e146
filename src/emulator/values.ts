import { type Instant, parseInstant } from '../base/instant.ts'
import { addUnits, floorTo, localDate } from '../base/zone.ts'
import { CURVES } from './curves.ts'
import { type Indicator, type Publication, QUARTERS_DAY_AHEAD } from './indicators.ts'
import { noise, type World, ZONE } from './world.ts'

/** Nothing is older than this. */
const BEGINNING = parseInstant('2014-01-01T00:00:00+01:00')
const HOUR = 3_600
const DAY = 86_400

/** A value at an instant, for one geo. */
export interface Point {
  readonly at: Instant
  readonly geo: number
  readonly value: number
}

/** Until when values are to be had, seen from the service's clock. */
const UNTIL: Readonly<Record<Publication, (now: Instant) => Instant>> = {
  afternoon: (now) => endAfter(now, 14 * HOUR),
  evening: (now) => endAfter(now, 20 * HOUR + 20 * 60),
  live: (now) => now - 300,
  forecast: (now) => addUnits(ZONE, floorTo(ZONE, now, 'day'), 'day', 4),
  settled: (now) => floorTo(ZONE, now, 'day'),
}

/** The end of tomorrow once the clock has passed a time of today, else the end of today. */
function endAfter(now: Instant, second: number): Instant {
  const today = floorTo(ZONE, now, 'day')
  return addUnits(ZONE, today, 'day', now >= today + second ? 2 : 1)
}

/** Ages at which a value is said anew; before the last of them it is off by a little. */
const REVISED_AT: Readonly<Record<Publication, readonly number[]>> = {
  afternoon: [],
  evening: [],
  live: [3 * HOUR, 30 * HOUR],
  forecast: [-48 * HOUR, -24 * HOUR, -6 * HOUR, 0],
  settled: [31 * DAY, 92 * DAY, 243 * DAY],
}

/** Seconds of a period at an instant. */
export function stepAt(indicator: Indicator, at: Instant, world: World): number {
  if (indicator.id === 600 && world.now >= world.historyRewrittenAt) return 900
  return indicator.steps.findLast(([from]) => from <= at)![1]
}

/** The instants within [from, to) at which the resolution of an indicator changes. */
export const changesWithin = (indicator: Indicator, from: Instant, to: Instant, world: World): readonly Instant[] =>
  indicator.steps
    .map(([at]) => at)
    .filter((at) => at > from && at < to && stepAt(indicator, at - 1, world) !== stepAt(indicator, at, world))

/** Chance that changes smoothly: neighbouring numbers are blended. */
function smooth(world: World, id: number, geo: number, at: number, every: number): number {
  const slot = Math.floor(at / every)
  const part = at / every - slot
  const blend = part * part * (3 - 2 * part)
  return noise(world.seed, id, geo, slot, every) * (1 - blend) + noise(world.seed, id, geo, slot + 1, every) * blend
}

/** The part of a whole that a geo is: some have much, some little. */
const share = (indicator: Indicator, geo: number): number =>
  indicator.geos[0] === geo || indicator.magnitude[0] === 23 ? 1 : 0.05 + 0.15 * Math.abs(noise(7, indicator.id, geo))

interface Day {
  readonly from: Instant
  readonly to: Instant
  readonly yearDay: number
  readonly weekend: boolean
}

const days = new Map<Instant, Day>()

/** The local day that begins at an instant; remembered, for calendars are slow. */
function dayOf(from: Instant): Day {
  let day = days.get(from)
  if (!day) {
    const [year, month, date] = localDate(ZONE, from).split('-').map(Number) as [number, number, number]
    const utc = Date.UTC(year, month - 1, date)
    day = {
      from,
      to: addUnits(ZONE, from, 'day', 1),
      yearDay: (utc - Date.UTC(year, 0, 1)) / 86_400_000,
      weekend: [0, 6].includes(new Date(utc).getUTCDay()),
    }
    days.set(from, day)
  }
  return day
}

/** One value, as the service says it at its clock's time. */
function valueAt(indicator: Indicator, geo: number, at: Instant, day: Day, step: number, world: World): number {
  const { id, curve, scale, published, magnitude } = indicator
  // A rewritten quarter-hour repeats the value of its old hour.
  const said = step === 900 && at < QUARTERS_DAY_AHEAD && id === 600 ? at - ((at - day.from) % HOUR) : at
  const moment = {
    hour: ((said - day.from) / (day.to - day.from)) * 24,
    day: day.yearDay,
    weekend: day.weekend,
    // Weather and mood are the same for all series of a kind of curve.
    daily: smooth(world, 1, curve.length, said, 2 * DAY),
    hourly: smooth(world, id, geo, said, HOUR) + 0.3 * noise(world.seed, id, geo, said),
  }
  const perPeriod = magnitude[0] === 13 ? step / HOUR : 1
  const abroad =
    magnitude[0] === 23 && geo !== indicator.geos[0] ? 1 + 0.08 * noise(world.seed, geo, Math.floor(said / DAY)) : 1
  const exact = CURVES[curve](moment) * scale * perPeriod * share(indicator, geo) * abroad
  const ages = REVISED_AT[published]
  const version = ages.filter((age) => world.now - at >= age).length
  const off = version === ages.length ? 0 : 0.02 * noise(world.seed, id, geo, said, version + 1)
  return Math.round(exact * (1 + off) * 100) / 100
}

/** Every published value within [from, to) for some geos, by instant, then geo. */
export function* points(
  indicator: Indicator,
  geos: readonly number[],
  from: Instant,
  to: Instant,
  world: World,
): Generator<Point> {
  const end = Math.min(to, UNTIL[indicator.published](world.now))
  const start = Math.max(from, BEGINNING)
  if (start >= end) return
  for (let day = dayOf(floorTo(ZONE, start, 'day')); day.from < end; day = dayOf(day.to)) {
    const step = stepAt(indicator, day.from, world)
    for (let at = day.from; at < day.to; at += step) {
      if (at < start || at >= end) continue
      for (const geo of geos) yield { at, geo, value: valueAt(indicator, geo, at, day, step, world) }
    }
  }
}

/** When the service last touched a window that ends with an instant. */
export function updatedAt(indicator: Indicator, last: Instant, world: World): Instant {
  const { published } = indicator
  if (published === 'afternoon' || published === 'evening') {
    const evening = published === 'evening' ? 20 * HOUR + 17 * 60 : 14 * HOUR + 27 * 60
    return Math.min(world.now, addUnits(ZONE, floorTo(ZONE, last, 'day'), 'day', -1) + evening)
  }
  const passed = REVISED_AT[published].filter((age) => world.now - last >= age)
  return Math.min(world.now, last + Math.max(300, ...passed))
}
