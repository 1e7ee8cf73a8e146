import { isSmall } from '../../db/tables/declare.ts'
import { type GeoRange, geoRanges } from '../../db/tables/rows.ts'
import { ONE_DAY, ONE_MONTH, ONE_WEEK, ONE_YEAR, type PeriodLength, type Steps } from '../../service/resolutions.ts'
import { isObject, toInteger, toList } from '../../util/json.ts'
import { withoutAccents } from '../../util/text.ts'
import { LONGEST_FIXED_S } from '../../util/time/periods.ts'
import { addUnits, fixedSeconds, floorTo, UNITS, type Unit } from '../../util/time/zone.ts'
import type { ParsedValues } from './collectValues.ts'

/** Seconds of a period that follows neither from the reply nor from its rows. */
const DEFAULT_STEP_S = 3600
/** Periods that start at this many local midnights are days, even if the reply states hours. */
const MIN_MIDNIGHTS = 3

/** The period that a reply states in `tiempo`; null for an unknown one. */
function statedPeriod(
  { byNumber, byWord }: Steps,
  tiempo: unknown,
): { readonly period: PeriodLength; readonly isNumber: boolean } | null {
  const [first] = toList(tiempo)
  if (!isObject(first)) return null
  const numbered = byNumber[Number(first.id)]
  if (numbered !== undefined) return { period: numbered, isNumber: true }
  const period = byWord[withoutAccents(String(first.name).trim())]
  return period === undefined ? null : { period, isNumber: false }
}

/** The resolution id that a reply states. */
export function statedId(tiempo: unknown): number | null {
  const [first] = toList(tiempo)
  return isObject(first) ? toInteger(first.id) : null
}

/** The seconds of a period that starts at an instant. */
const periodLength = (zone: string, at: number, period: PeriodLength): number =>
  typeof period === 'number' ? period : addUnits(zone, at, period.unit, period.count) - at

/** Whether all instants are borders of a local unit. */
const areBorders = (zone: string, at: readonly number[], unit: Unit): boolean =>
  at.every((instant) => floorTo(zone, instant, unit) === instant)

/**
 * Whether most successive values of a geo are at least a period apart. A few may be closer, such as a stray row, or at a clock
 * change by less than an hour. Simple, because it runs over every value.
 */
function areApart({ geoIds, at }: ParsedValues['observations'], period: number): boolean {
  let close = 0
  let distances = 0
  for (let i = 1; i < at.length; i++) {
    if (geoIds[i] !== geoIds[i - 1]) continue
    distances++
    if (at[i]! - at[i - 1]! < period) close++
  }
  return close * 2 <= distances
}

/** The calendar period of instants that are all local midnights; null for others, or too few. */
function calendarPeriod(zone: string, { at }: ParsedValues['observations'], window: number): PeriodLength | null {
  if (!areBorders(zone, at, 'day')) return null
  const days = new Set(at)
  const [first, second] = days
  const isFirst = areBorders(zone, at, 'month')
  // A single value shows its period only in a window with room for more.
  if (second === undefined) {
    if (isFirst && window > 27 * 86_400) return ONE_MONTH
    return window > 26 * 3600 ? ONE_DAY : null
  }
  if (areBorders(zone, at, 'year')) return ONE_YEAR
  if (isFirst) return ONE_MONTH
  const isWeekly =
    days.size >= MIN_MIDNIGHTS && at.every((instant) => Math.round((instant - first!) / 86_400) % 7 === 0)
  return isWeekly ? ONE_WEEK : ONE_DAY
}

const isCalendarPeriod = (period: PeriodLength): boolean => typeof period !== 'number' && period.unit !== 'day'

/**
 * The period of native values: stated by a known id, or shown by local midnights, or stated by a word, or the usual distance.
 * Stated periods that most instants contradict are ignored (decision 003).
 */
function periodInSteps(
  declared: Steps,
  zone: string,
  tiempo: unknown,
  observations: ParsedValues['observations'],
  window: number,
): PeriodLength {
  const stated = statedPeriod(declared, tiempo)
  const calendar = calendarPeriod(zone, observations, window)
  // Periods that all start at borders of months are months.
  const hasManyPeriods =
    calendar !== null && (new Set(observations.at).size >= MIN_MIDNIGHTS || isCalendarPeriod(calendar))
  if (stated && typeof stated.period !== 'number') {
    const { period } = stated
    if (areBorders(zone, observations.at, period.unit)) return period
  } else if (
    stated &&
    typeof stated.period === 'number' &&
    (stated.isNumber ? !hasManyPeriods : calendar === null || new Set(observations.at).size < 2)
  ) {
    return areApart(observations, stated.period) ? stated.period : usualDistance(observations)!
  }
  return calendar ?? usualDistance(observations) ?? DEFAULT_STEP_S
}

/** The step in seconds, or one for each value if they differ, as for days and months. */
export function findSteps(
  declared: Steps,
  zone: string,
  timeTrunc: string | null,
  tiempo: unknown,
  observations: ParsedValues['observations'],
  window: number,
): number | number[] {
  const { at } = observations
  const period: PeriodLength = isUnit(timeTrunc)
    ? (fixedSeconds(timeTrunc) ?? { unit: timeTrunc as 'day', count: 1 })
    : periodInSteps(declared, zone, tiempo, observations, window)
  if (typeof period === 'number') return period
  const steps = at.map((instant) => periodLength(zone, instant, period))
  return steps.every((step) => step === steps[0]) ? (steps[0] ?? DEFAULT_STEP_S) : steps
}

/**
 * Whether the step of native values is guessed, as for events: the reply states no period, or one that the instants contradict,
 * and the distances follow no step or are too few.
 */
export function isGuessed(
  declared: Steps,
  timeZone: string,
  tiempo: unknown,
  observations: ParsedValues['observations'],
  steps: number | number[],
): boolean {
  const { at, geoIds } = observations
  const period = statedPeriod(declared, tiempo)?.period
  if (period !== undefined && (typeof period === 'number' ? period === steps : areBorders(timeZone, at, period.unit)))
    return false
  const usual = usualDistance(observations)
  if (usual === null || new Set(at).size < MIN_MIDNIGHTS) return true
  if (areBorders(timeZone, at, 'day')) return false
  // Short steps divide the day. Longer ones follow the calendar, so that a clock change changes them.
  if (usual < LONGEST_FIXED_S && 86_400 % usual !== 0) return true
  const tolerance = usual < LONGEST_FIXED_S ? 0 : 3600
  let distances = 0
  let deviations = 0
  for (let i = 1; i < at.length; i++) {
    if (geoIds[i] !== geoIds[i - 1]) continue
    distances++
    if (Math.abs(at[i]! - at[i - 1]! - usual) > tolerance) deviations++
  }
  return deviations * 4 > distances
}

/** The step of most distances between successive values of a geo; null if there is none, or too few values. */
function stepAmong(at: readonly number[], first: number, end: number, steps: readonly number[]): number | null {
  if (end - first < MIN_MIDNIGHTS) return null
  for (const step of steps) {
    let count = 0
    for (let i = first + 1; i < end; i++) if (at[i]! - at[i - 1]! === step) count++
    if (count * 2 > end - first - 1) return step
  }
  return null
}

/** This many equal distances in a row show a resolution, as opposed to missing values. */
const EVIDENT_STREAK = 12

/** True if successive values of a geo are likely to have another step than the usual one. Quick, because it visits every value. */
function hasOtherStreak(at: readonly number[], { first, end }: GeoRange, usualStep: number): boolean {
  let streak = 0
  let length = usualStep
  for (let i = first + 1; i < end; i++) {
    const distance = at[i]! - at[i - 1]!
    streak = distance === length ? streak + 1 : 1
    length = distance
    if (streak === EVIDENT_STREAK && length !== usualStep && LIKELY.includes(length)) return true
  }
  return false
}

/** Splits a range of values into local days. */
function splitByDay(timeZone: string, at: readonly number[], { geoId, first, end }: GeoRange): GeoRange[] {
  const days: GeoRange[] = []
  for (let i = first; i < end; ) {
    const border = addUnits(timeZone, floorTo(timeZone, at[i]!, 'day'), 'day', 1)
    const start = i
    do i++
    while (i < end && at[i]! < border)
    days.push({ geoId, first: start, end: i })
  }
  return days
}

/**
 * The step of each value, if geos or days of a reply have different ones: it states only one resolution. Hours beside a geo or day
 * with quarters are not quarters with missing values. Returns `usualStep` if all or none have that step. A day with too few values
 * has the step of the day before.
 */
export function stepsInParts(
  timeZone: string,
  { geoIds, at }: ParsedValues['observations'],
  usualStep: number,
): number | number[] {
  const ranges = geoRanges({ geoIds })
  const isMixed = ranges.map((range) => hasOtherStreak(at, range, usualStep))
  if (ranges.length < 2 && !isMixed[0]) return usualStep
  const likely = [usualStep, ...LIKELY]
  const parts = ranges
    .flatMap((range, i) => (isMixed[i] ? splitByDay(timeZone, at, range) : [range]))
    .map((part) => ({ ...part, step: stepAmong(at, part.first, part.end, likely) }))
  if (!parts.some(({ step }) => step === usualStep) || parts.every(({ step }) => step === usualStep || step === null))
    return usualStep
  const steps: number[] = []
  for (const [i, { geoId, first, end, step }] of parts.entries()) {
    const before = parts[i - 1]?.geoId === geoId ? steps.at(-1)! : usualStep
    for (let k = first; k < end; k++) steps.push(step ?? before)
  }
  return steps
}

/** Steps in seconds for which two values are sufficient evidence. */
const LIKELY: readonly number[] = [300, 600, 900, 3600]

/**
 * The guessed step of values: that of the calendar for local midnights, else a fixed one, so that events have the same step in
 * every window.
 */
export function guessStep(
  timeZone: string,
  { at }: ParsedValues['observations'],
  steps: number | number[],
): number | number[] {
  if (typeof steps !== 'number' || steps >= LONGEST_FIXED_S || areBorders(timeZone, at, 'day')) return steps
  return LIKELY.includes(steps) && new Set(at).size < MIN_MIDNIGHTS ? steps : DEFAULT_STEP_S
}

/** Whether a text is a unit by which the service groups values. */
export const isUnit = (text: string | null): text is Unit => (UNITS as readonly (string | null)[]).includes(text)

/**
 * The most frequent distance between successive values of a geo, or the smallest such one. A single stray row, or a clock change
 * by less than an hour, must not decide.
 */
export function usualDistance({ geoIds, at }: ParsedValues['observations']): number | null {
  const counts = new Map<number, number>()
  for (let i = 1; i < at.length; i++) {
    if (geoIds[i] !== geoIds[i - 1]) continue
    const distance = at[i]! - at[i - 1]!
    // No period lasts for 68 years.
    if (!isSmall(distance)) continue
    counts.set(distance, (counts.get(distance) ?? 0) + 1)
  }
  let usual: number | null = null
  let most = 0
  for (const [distance, count] of counts) {
    if (count < most || (count === most && usual !== null && distance > usual)) continue
    usual = distance
    most = count
  }
  return usual
}
