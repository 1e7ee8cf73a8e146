import { integerOf, isObject, listOf } from '../base/json.ts'
import { addUnits, fixedSeconds, floorTo, UNITS, type Unit } from '../base/zone.ts'
import type { Period, Steps } from '../services/steps.ts'
import { smallestDistance, type Values } from './values.ts'

const DAY = { unit: 'day', count: 1 } as const
const WEEK = { unit: 'day', count: 7 } as const
const MONTH = { unit: 'month', count: 1 } as const
const YEAR = { unit: 'year', count: 1 } as const

/** One hour: what is believed of the length of a period when neither the answer nor its rows tell it. */
const DEFAULT = 3600
/** Periods that begin at so many local midnights are days, even where the answer calls them hours. */
const MANY = 3

/** What an answer claims in `tiempo`; null when it claims nothing that is known. */
function claimOf(
  { byNumber, byWord }: Steps,
  tiempo: unknown,
): { readonly period: Period; readonly isNumber: boolean } | null {
  const [first] = listOf(tiempo)
  if (!isObject(first)) return null
  const known = byNumber[Number(first.id)]
  if (known !== undefined) return { period: known, isNumber: true }
  const name = String(first.name).trim().toLowerCase()
  const period = byWord[name.normalize('NFD').replace(/\p{M}/gu, '')]
  return period === undefined ? null : { period, isNumber: false }
}

/** The number under which an answer claims its resolution. */
export function claimedId(tiempo: unknown): number | null {
  const [first] = listOf(tiempo)
  return isObject(first) ? integerOf(first.id) : null
}

/** The seconds of a period that begins at an instant. */
const lengthOf = (zone: string, at: number, period: Period): number =>
  typeof period === 'number' ? period : addUnits(zone, at, period.unit, period.count) - at

/** Whether all instants are borders of a local unit. */
const lieOn = (zone: string, at: readonly number[], unit: Unit): boolean =>
  at.every((one) => floorTo(zone, one, unit) === one)

/** Whether no two neighbours of one geo are nearer than a period is long; called for every value, so in the plainest words. */
function lieApart({ geoIds, at }: Values['observations'], period: number): boolean {
  let before = Number.NEGATIVE_INFINITY
  for (let i = 0; i < at.length; i++) {
    const now = at[i]!
    // Another geo begins where time goes back or where its number says so.
    if (now - before < period && now > before && geoIds[i] === geoIds[i - 1]) return false
    before = now
  }
  return true
}

/** The calendar period of instants that all lie on local midnights, told by themselves; null where they do not or are too few. */
function calendarOf(zone: string, { at }: Values['observations'], window: number): Period | null {
  if (!lieOn(zone, at, 'day')) return null
  const days = new Set(at)
  const [first, second] = days
  const isFirst = lieOn(zone, at, 'month')
  // A single value tells what it is about only where there is room for more.
  if (second === undefined) return isFirst && window > 27 * 86_400 ? MONTH : window > 26 * 3600 ? DAY : null
  if (lieOn(zone, at, 'year')) return YEAR
  if (isFirst) return MONTH
  const isWeekly = days.size >= MANY && at.every((one) => Math.round((one - first!) / 86_400) % 7 === 0)
  return isWeekly ? WEEK : DAY
}

const isLong = (period: Period): boolean => typeof period !== 'number' && period.unit !== 'day'

/**
 * The length of the periods of values that came as they are: what the answer claims by a number that is known; else what
 * its instants tell, when all lie on local midnights; else what it claims by a word; else the smallest distance. A claim
 * that the instants contradict is none.
 */
function periodOf(
  known: Steps,
  zone: string,
  tiempo: unknown,
  observations: Values['observations'],
  window: number,
): Period {
  const claim = claimOf(known, tiempo)
  const calendar = calendarOf(zone, observations, window)
  // Whatever an answer calls its periods, those that begin on borders of months only are months.
  const many = calendar !== null && (new Set(observations.at).size >= MANY || isLong(calendar))
  if (claim && typeof claim.period !== 'number') {
    const { period } = claim
    if (lieOn(zone, observations.at, period.unit)) return period
  } else if (
    claim &&
    typeof claim.period === 'number' &&
    (claim.isNumber ? !many : calendar === null || new Set(observations.at).size < 2)
  ) {
    return lieApart(observations, claim.period) ? claim.period : smallestDistance(observations)!
  }
  return calendar ?? smallestDistance(observations) ?? DEFAULT
}

/** The length of every period in seconds, or of each where they differ: days and months are as long as the local calendar says. */
export function stepsOf(
  known: Steps,
  zone: string,
  timeTrunc: string | null,
  tiempo: unknown,
  observations: Values['observations'],
  window: number,
): number | number[] {
  const { at } = observations
  const period: Period = isUnit(timeTrunc)
    ? (fixedSeconds(timeTrunc) ?? { unit: timeTrunc as 'day', count: 1 })
    : periodOf(known, zone, tiempo, observations, window)
  if (typeof period === 'number') return period
  const steps = at.map((one) => lengthOf(zone, one, period))
  return steps.every((step) => step === steps[0]) ? (steps[0] ?? DEFAULT) : steps
}

/**
 * Whether the length of native periods is only guessed: nothing known is claimed, or the claim is contradicted, and the
 * distances of the values follow no step, or are too few to tell one. Events are so.
 */
export function isGuessed(
  known: Steps,
  timeZone: string,
  tiempo: unknown,
  observations: Values['observations'],
  told: number | number[],
): boolean {
  const { at, geoIds } = observations
  const period = claimOf(known, tiempo)?.period
  if (period !== undefined && (typeof period === 'number' ? period === told : lieOn(timeZone, at, period.unit)))
    return false
  const smallest = smallestDistance(observations)
  if (smallest === null || new Set(at).size < MANY) return true
  if (lieOn(timeZone, at, 'day')) return false
  let distances = 0
  let apart = 0
  for (let i = 1; i < at.length; i++) {
    if (geoIds[i] !== geoIds[i - 1]) continue
    const distance = at[i]! - at[i - 1]!
    // A step of a clock divides the day; what is longer follows the calendar, which a change of the clock bends.
    if (smallest < SHORT ? distance % smallest !== 0 : false) return true
    distances++
    if (distance > smallest + 3600) apart++
    else if (smallest < SHORT && distance > smallest) apart++
  }
  return (smallest < SHORT && 86_400 % smallest !== 0) || apart * 4 > distances
}
/** Lengths that two values alone may tell. */
const LIKELY: readonly number[] = [300, 600, 900, 3600]

/** The length of values that is only guessed: that of the calendar on local midnights, or the same for all events, whatever else is in the window. */
export function guessOf(timeZone: string, { at }: Values['observations'], told: number | number[]): number | number[] {
  if (typeof told !== 'number' || told >= SHORT || lieOn(timeZone, at, 'day')) return told
  return LIKELY.includes(told) && new Set(at).size < MANY ? told : DEFAULT
}

/** Shorter periods are equally long on every day. */
const SHORT = 20 * 3600

/** Whether a text is one of the service's grouping steps. */
export const isUnit = (text: string | null): text is Unit => (UNITS as readonly (string | null)[]).includes(text)
