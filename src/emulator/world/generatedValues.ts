import { HOUR, type Instant } from '../../util/time/instant.ts'
import { type CalendarDay, dayAt, dayFrom } from './calendar.ts'
import { CURVES, type CurveName } from './curves.ts'
import { COMMUNITIES } from './emulatedGeos.ts'
import { ENERGY_MAGNITUDE, type Indicator, PRICE_MAGNITUDE, QUARTERS_DAY_AHEAD } from './indicators.ts'
import { noise, smoothNoise } from './noise.ts'
import { BEGINNING, PUBLICATIONS, type PublicationTimes, publishedAt } from './publication.ts'
import type { World } from './world.ts'

/** The spot price, whose history was once rewritten. */
const SPOT = 600
const CURVE_NAMES = Object.keys(CURVES) as CurveName[]

/** A value at an instant, for one geo. */
export interface Point {
  readonly at: Instant
  readonly geo: number
  readonly value: number
}

const isRewritten = (indicator: Indicator, world: World): boolean =>
  indicator.id === SPOT && world.now >= world.historyRewrittenAt

/** Seconds of a period at an instant. */
export function stepAt(indicator: Indicator, at: Instant, world: World): number {
  if (isRewritten(indicator, world)) return 900
  return (indicator.steps.findLast(([from]) => from <= at) ?? indicator.steps[0]!)[1]
}

/** Whether the resolution of an indicator changes within [from, to). */
export const changesWithin = (indicator: Indicator, from: Instant, to: Instant, world: World): boolean =>
  !isRewritten(indicator, world) && indicator.steps.some(([at]) => at > from && at < to)

/** The share of a geo: a community has a part of the total. Prices are not divided. */
const share = ({ id, magnitude }: Indicator, geo: number, seed: number): number =>
  magnitude[0] === PRICE_MAGNITUDE[0] || !COMMUNITIES.includes(geo) ? 1 : 0.02 + 0.08 * Math.abs(noise(seed, id, geo))

/** The values of one indicator and geo as a function of time, as published at the time of the service's clock. */
function createValueSource(indicator: Indicator, geo: number, world: World) {
  const { id, scale, magnitude, published } = indicator
  const { seed, now } = world
  const rule: PublicationTimes = PUBLICATIONS[published]
  const curve = CURVES[indicator.curve]
  // The daily noise is the same for all series with the same curve.
  const daily = smoothNoise(seed, CURVE_NAMES.indexOf(indicator.curve), 0, 2 * 86_400)
  const hourly = smoothNoise(seed, id, geo, HOUR)
  const part = scale * share(indicator, geo, seed)
  const isAbroad = magnitude[0] === PRICE_MAGNITUDE[0] && geo !== indicator.geos[0]
  const versions = rule.ages.length
  return (at: Instant, day: CalendarDay, step: number, revised: number): number => {
    const moment = {
      hour: ((at - day.from) / (day.to - day.from)) * 24,
      day: day.yearDay,
      isWeekend: day.isWeekend,
      daily: daily(at),
      hourly: hourly(at) + 0.3 * noise(seed, id, geo, at),
    }
    let value = curve(moment) * part
    if (magnitude[0] === ENERGY_MAGNITUDE[0]) value *= step / HOUR
    if (isAbroad) value *= 1 + 0.08 * noise(seed, geo, day.from / HOUR)
    let version = revised
    for (let i = 0; i < versions; i++) if (now - at >= rule.ages[i]!) version++
    const open = versions === 0 ? revised < 0 : version < versions
    if (open) value *= 1 + rule.off * noise(seed, id, geo, at, version + 100)
    return Math.round(value * 100) / 100 + 0
  }
}

/** How many revisions of a whole day are still to come, as a negative number. */
const outstanding = (rule: PublicationTimes, day: CalendarDay, now: Instant): number =>
  -rule.dates(day).filter((date) => date > now).length

const isLongDay = (day: CalendarDay): boolean => day.to - day.from > 86_400

/** Shuffles geos, as the service does on a day of 25 hours. */
const shuffled = <T extends { readonly geo: number }>(series: readonly T[], seed: number, at: Instant): T[] =>
  [...series].sort((a, b) => noise(seed, a.geo, at) - noise(seed, b.geo, at))

/** The published part of [from, to). */
function published(indicator: Indicator, from: Instant, to: Instant, world: World) {
  const rule: PublicationTimes = PUBLICATIONS[indicator.published]
  return { rule, start: Math.max(from, BEGINNING), end: Math.min(to, rule.until(world.now)) }
}

/** The largest possible number of instants with values within [from, to). */
export function mostPoints(indicator: Indicator, from: Instant, to: Instant, world: World): number {
  const { start, end } = published(indicator, from, to, world)
  return Math.max(0, end - start) / stepAt(indicator, end, world)
}

/** Every published value within [from, to) for some geos: by instant, then geo, except on a day on which the clocks go back. */
export function points(
  indicator: Indicator,
  geos: readonly number[],
  from: Instant,
  to: Instant,
  world: World,
): Point[] {
  const { rule, start, end } = published(indicator, from, to, world)
  const values: Point[] = []
  if (start >= end) return values
  const series = geos.map((geo) => ({ geo, valueAt: createValueSource(indicator, geo, world) }))
  const rewritten = isRewritten(indicator, world)
  for (let day = dayAt(start); day.from < end; day = dayFrom(day.to)) {
    const step = stepAt(indicator, day.from, world)
    const revised = outstanding(rule, day, world.now)
    const first = day.from >= start ? day.from : day.from + Math.ceil((start - day.from) / step) * step
    const dayEnd = Math.min(day.to, end)
    for (let at = first; at < dayEnd; at += step) {
      // A rewritten quarter-hour repeats the value of its old hour.
      const sourceAt = rewritten && at < QUARTERS_DAY_AHEAD ? at - (at % HOUR) : at
      for (const { geo, valueAt } of isLongDay(day) ? shuffled(series, world.seed, at) : series)
        values.push({ at, geo, value: valueAt(sourceAt, day, step, revised) })
    }
  }
  return values
}

/** When the service last updated a value between two instants. */
export function updatedAt(indicator: Indicator, first: Instant, last: Instant, world: World): Instant {
  const rule: PublicationTimes = PUBLICATIONS[indicator.published]
  const candidates = [publishedAt(rule, last, world.now)]
  // For each age, the latest value that has reached it was revised last.
  for (const age of rule.ages) {
    const at = Math.min(last, world.now - age)
    const start = at - (at % stepAt(indicator, at, world))
    if (start >= first) candidates.push(start + age)
  }
  for (let day = dayAt(first); rule.dates(day).length > 0 && day.from <= last; day = dayFrom(day.to))
    candidates.push(...rule.dates(day).filter((date) => date <= world.now))
  if (isRewritten(indicator, world) && first < QUARTERS_DAY_AHEAD) candidates.push(world.historyRewrittenAt)
  return Math.max(...candidates)
}
