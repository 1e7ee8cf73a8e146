import { DAY } from '../util/time/instant.ts'

/** What a job may expect of a timeline instead of the cadence of its stored values: a value in every such period, or nothing. */
const EXPECTATIONS = {
  '1m': 60,
  '5m': 300,
  '10m': 600,
  '15m': 900,
  '30m': 1800,
  hour: 3600,
  day: DAY,
  week: 7 * DAY,
  month: 30 * DAY,
  quarter: 91 * DAY,
  year: 365 * DAY,
  irregular: null,
} as const

export type Expectation = keyof typeof EXPECTATIONS
/** The words of `expect`, for job files and messages. */
export const EXPECTATION_WORDS = Object.keys(EXPECTATIONS) as readonly Expectation[]

/** The expected step in seconds, nominal for months and longer, or `irregular`; null without an expectation. */
export const expectedStep = (expectation: Expectation | null): number | 'irregular' | null =>
  expectation === null ? null : (EXPECTATIONS[expectation] ?? 'irregular')

/** Whether the service groups values by another step than a job expects. */
export const contradictsGrouping = (expectation: Expectation, timeTrunc: string): boolean => {
  const words: Readonly<Record<string, Expectation>> = {
    five_minutes: '5m',
    ten_minutes: '10m',
    fifteen_minutes: '15m',
    hour: 'hour',
    day: 'day',
    month: 'month',
    year: 'year',
  }
  return expectation !== 'irregular' && expectation !== (words[timeTrunc] ?? expectation)
}
