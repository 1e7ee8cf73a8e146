/* Stored values and coverage in memory, to test the pure coverage rules with histories of replies. */

import type { Coverage } from '../../src/judge/stored.ts'
import type { CoverageChange, Series, SeriesReply, StoredCoverage } from '../../src/load/coverage/coverageTypes.ts'
import { decideCoverage } from '../../src/load/coverage/decideCoverage.ts'
import { findPeriods } from '../../src/util/time/periods.ts'
import { formatLocal, startOfDate } from '../../src/util/time/zone.ts'

export const ZONE = 'Europe/Madrid'
export const HOUR = 3600
export const DAY = 86_400
/** Returns local midnight of a day of October 2025; 32 is 1 November. */
export const day = (number: number): number =>
  startOfDate(
    ZONE,
    number > 31 ? `2025-11-${String(number - 31).padStart(2, '0')}` : `2025-10-${String(number).padStart(2, '0')}`,
  )!
/** Returns the evening of a night, counted from 4 November. */
export const night = (n: number): number => Date.parse('2025-11-04T20:15:00Z') / 1000 + n * DAY

export interface Memory {
  readonly values: ReadonlyMap<number, ReadonlyMap<number, number>>
  readonly coverage: readonly Coverage[]
}
export const EMPTY: Memory = { values: new Map(), coverage: [] }

/** The values of a geo in a reply. */
interface GeoValues {
  readonly at: readonly number[]
  readonly steps: number | readonly number[]
}

/** A reply as described by a test. */
export interface Said {
  readonly at: number
  /** First day and exclusive last day; null for a reply about an instant. */
  readonly days: readonly [number, number] | null
  /** Null for all geos. */
  readonly geos?: readonly number[] | null
  /** The geos with values, and which of their hours have one. */
  readonly has?: readonly number[]
  readonly hours?: (at: number, geo: number) => boolean
  readonly values?: ReadonlyMap<number, GeoValues>
  readonly rejects?: number
  readonly dismissed?: SeriesReply['dismissed']
  /** The days of which it lacks too many values, by geo. */
  readonly unverifiedDays?: ReadonlyMap<number, readonly number[]>
  readonly lookback?: number
}

/** Returns the hours of geos in a window. */
function hourly({ days, has = [3, 4], hours = () => true }: Said): Map<number, GeoValues> {
  const rows = new Map<number, GeoValues>()
  for (const geo of has) {
    const at = []
    for (let one = day(days![0]); one < day(days![1]); one += HOUR) if (hours(one, geo)) at.push(one)
    if (at.length > 0) rows.set(geo, { at, steps: HOUR })
  }
  return rows
}

/** Returns the reply, the state of the series, and the stored rows before coverage is written. */
export function prepare(
  before: Memory,
  said: Said,
): { series: Series; reply: SeriesReply; current: StoredCoverage; stored: Memory } {
  const { at: fetchedAt, days, geos = null, rejects = 0, dismissed = [], lookback = 2 * DAY } = said
  const window = days && { from: day(days[0]), to: day(days[1]) }
  const rows = said.values ?? hourly(said)
  const values = new Map([...before.values].map(([geo, some]) => [geo, new Map(some)]))
  const isUnverified = (geo: number, at: number): boolean =>
    said.unverifiedDays?.get(geo)?.some((one) => at >= day(one) && at < day(one + 1)) ?? false
  for (const [geo, { at, steps }] of rows) {
    const own = values.get(geo) ?? new Map<number, number>()
    values.set(geo, own)
    // A complete reply withdraws what it does not contain, except values of days that are not believed.
    if (window && rejects + dismissed.length === 0)
      for (const one of own.keys())
        if (one >= window.from && one < window.to && !isUnverified(geo, one)) own.delete(one)
    for (const [i, one] of at.entries()) own.set(one, typeof steps === 'number' ? steps : steps[i]!)
  }
  const newGeos = [...rows.keys()].filter((geo) => !before.values.has(geo))
  const lastOf = ({ at, steps }: GeoValues) => ({
    at: at.at(-1)!,
    step: typeof steps === 'number' ? steps : steps.at(-1)!,
  })
  const sent = [...rows.values()].at(-1)
  const kept = sorted([...values.values()][0])
  const period = sent ? lastOf(sent) : undefined
  const last = period ?? (kept && lastOf(kept))
  const series: Series = {
    knownGeos: [...values.keys()].sort((a, b) => a - b),
    periods: (last && findPeriods(ZONE, last)) ?? null,
    longestLookback: lookback,
    ends: [...values].flatMap(([geo, some]) =>
      some.size > 0 ? [Math.min(...some.keys()), Math.max(...some.keys())].map((at) => ({ geo, at })) : [],
    ),
  }
  const unverifiedDays = new Map(
    [...(said.unverifiedDays ?? [])].map(([geo, all]) => [
      geo,
      all.map((one) => ({ from: day(one), to: day(one + 1) })),
    ]),
  )
  const reply: SeriesReply = {
    window,
    period,
    newGeos,
    dismissed,
    unverifiedDays,
    fetchedAt,
    present: new Set(rows.keys()),
    hasUnreadValues: rejects > 0,
    geos: window ? (geos ?? [0]) : [],
  }
  const stored = { ...before, values }
  return { series, reply, stored, current: currentCoverage(stored, reply) }
}

const sorted = (values: ReadonlyMap<number, number> | undefined): GeoValues | undefined => {
  const all = [...(values ?? [])].sort((a, b) => a[0] - b[0])
  return all.length === 0 ? undefined : { at: all.map(([at]) => at), steps: all.map(([, step]) => step) }
}

/** Returns the stored rows in the form that the rules read. */
export function currentCoverage({ values, coverage }: Memory, { window, present }: SeriesReply): StoredCoverage {
  const inside = (at: number): boolean => window !== null && at >= window.from && at < window.to
  const lacking = [...values].filter(([geo, some]) => !present.has(geo) && [...some.keys()].some(inside))
  return { coverage, omittedGeos: new Set(lacking.map(([geo]) => geo)) }
}

/** Returns the memory after a change of rows. */
export const apply = (memory: Memory, { remove, insert }: CoverageChange): Memory => ({
  ...memory,
  coverage: [...memory.coverage.filter((row) => !remove.includes(row)), ...insert],
})

/** Returns the memory after a reply. */
export function loadInto(before: Memory, said: Said): Memory {
  const { series, reply, current, stored } = prepare(before, said)
  // A reply about one instant covers nothing (S13).
  if (!reply.window) return stored
  return apply(stored, decideCoverage(series, reply, current))
}

const date = (at: number): string => {
  const text = formatLocal(ZONE, at)
  return text.slice(11, 16) === '00:00' ? text.slice(5, 10) : text.slice(5, 16)
}
const nightName = (at: number): string => `n${(at - night(0)) / DAY}`

/** Formats coverage rows, one per line: geo, state, dates, time of fetch, and start time. */
export const show = ({ coverage }: Memory): string[] =>
  [...coverage]
    .sort((a, b) => a.geo - b.geo || a.from - b.from)
    .map(({ geo, state, from, to, fetchedAt, sinceAt }) => {
      const begun = sinceAt === null ? '' : ` since ${nightName(sinceAt)}`
      return `${geo} ${state} ${date(from)}..${date(to)} ${nightName(fetchedAt)}${begun}`
    })
