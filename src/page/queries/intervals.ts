import { expressionBuilder } from 'kysely'
import { ALL_GEOS, type GapReason, isAbsence } from '../../db/tables/codes.ts'
import { coverageAt, gapsAt, isMissed } from '../../findings/findGaps.ts'
import { type Interval, intersect, merge, subtract } from '../../util/time/interval.ts'
import type { PageRequest } from '../page.ts'
import { readWithdrawn, type WithdrawnValue } from './withdrawn.ts'

/** The states of an interval of a series: never requested, then from the best to the worst. */
export const COVERAGE_STATES = ['none', 'final', 'provisional', 'empty', 'withdrawn', 'unverified', 'failed'] as const
export type CoverageState = (typeof COVERAGE_STATES)[number]

/** An interval of a series and geo in one state (epoch seconds). */
export interface CoverageInterval extends Interval {
  readonly geoId: number
  readonly state: CoverageState
  /** Why data is missing; null if it is stored. */
  readonly reason: GapReason | null
  /** Missing periods, if they can be counted. */
  readonly missing: number | null
  /** The earliest next request (UTC), if it waits for that. */
  readonly nextAt: string | null
  /** For a gap, the id of a job whose window has it. */
  readonly jobId: number | null
  /** Whether it is withdrawn within the lookback, so that each sync requests it. */
  readonly mayReturn?: true
}

/**
 * The states of missing data that a job selects, by its reason: on the pages of the coverage, and on the page of a series. Other ranges that
 * were never requested are not missing.
 */
const GAP_STATES = {
  absent: { coverage: 'unverified', series: 'absent' },
  unverified: { coverage: 'unverified', series: 'unverified' },
  failed: { coverage: 'failed', series: 'failed' },
  'never requested': { coverage: 'unverified', series: 'unrequested' },
  null: { coverage: 'unverified', series: 'absent' },
  withdrawn: { coverage: 'withdrawn', series: 'withdrawn' },
  late: { coverage: 'unverified', series: 'late' },
  'no values': { coverage: 'unverified', series: 'absent' },
} as const satisfies Record<GapReason, { readonly coverage: CoverageState; readonly series: ChartState['state'] }>

/** The state on the page of a series of data that is missing for a reason. */
export const gapState = (reason: GapReason) => GAP_STATES[reason].series

/** Ids as single parameters, which reach the tables below a view. Another list, or `=`, takes fifty times as long. */
const listed = (ids: readonly number[]) => ids.map((id) => expressionBuilder().val(id))

/** Reads the coverage of series, or of an interval of it: first stored data, then missing data. Reads no values. */
export async function readCoverageIntervals(
  { store, now }: Pick<PageRequest, 'store' | 'now'>,
  ids: readonly number[],
  within?: Interval,
): Promise<ReadonlyMap<number, CoverageInterval[]>> {
  const intervals = new Map(ids.map((id): [number, CoverageInterval[]] => [id, []]))
  if (ids.length === 0) return intervals
  const stored = await store.kysely
    .selectFrom(coverageAt(now))
    .select(['series_id', 'geo_id as geoId', 'from_at as from', 'to_at as to', 'state'])
    .where('series_id', 'in', listed(ids))
    .$if(within !== undefined, (eb) => eb.where('to_at', '>', within!.from).where('from_at', '<', within!.to))
    .$narrowType<{ state: 'final' | 'provisional' | 'empty' | 'unverified' }>()
    .execute()
  for (const { series_id, ...row } of stored)
    intervals.get(series_id)!.push({ ...row, reason: null, missing: null, nextAt: null, jobId: null })
  const gaps = await store.kysely
    .selectFrom(gapsAt(now))
    .select(['series_id', 'geo_id as geoId', 'from_at as from', 'to_at as to'])
    .select(['reason', 'missing', 'next_at as nextAt', 'job_id as jobId'])
    .select((eb) => isMissed(eb).as('isGap'))
    .where('series_id', 'in', listed(ids))
    .$if(within !== undefined, (eb) => eb.where('to_at', '>', within!.from).where('from_at', '<', within!.to))
    .execute()
  for (const { series_id, isGap, ...row } of gaps)
    intervals.get(series_id)!.push({ ...row, state: isGap ? GAP_STATES[row.reason].coverage : 'none' })
  return intervals
}

/** Precedence: a geo before all geos, then missing before stored data, then the worst state. */
const rank = ({ geoId, reason, state }: CoverageInterval, geo: number): number =>
  (geoId === geo ? 40 : 0) + (reason === null ? 0 : 20) + 2 * COVERAGE_STATES.indexOf(state) - Number(isAbsence(reason))

/** Builds the timeline of a geo: disjoint intervals in order, each instant with the interval of the highest rank. */
function buildTimeline(intervals: readonly CoverageInterval[], geo: number): CoverageInterval[] {
  const sorted = intervals.filter(({ geoId }) => geoId === geo || geoId === ALL_GEOS).sort((a, b) => a.from - b.from)
  const borders = [...new Set(sorted.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b)
  const result: CoverageInterval[] = []
  let active: CoverageInterval[] = []
  let next = 0
  for (const [i, from] of borders.slice(0, -1).entries()) {
    const to = borders[i + 1]!
    active = active.filter((interval) => interval.to > from)
    while (next < sorted.length && sorted[next]!.from <= from) active.push(sorted[next++]!)
    if (active.length === 0) continue
    const top = active.reduce((best, interval) => (rank(interval, geo) > rank(best, geo) ? interval : best))
    const last = result.at(-1)
    const isSame = last?.to === from && last.state === top.state && last.reason === top.reason
    if (isSame && last.nextAt === top.nextAt && last.missing === top.missing)
      result[result.length - 1] = { ...last, to }
    else result.push({ ...top, from, to })
  }
  return result
}

/** Joins withdrawn values that follow one another to intervals of a coverage, each with the number of its values. */
export function joinWithdrawn(values: readonly WithdrawnValue[]): CoverageInterval[] {
  const joined: (CoverageInterval & { missing: number })[] = []
  for (const { geoId, from, to } of values) {
    const last = joined.at(-1)
    if (last?.geoId === geoId && last.to === from)
      joined[joined.length - 1] = { ...last, to, missing: last.missing + 1 }
    else
      joined.push({
        geoId,
        from,
        to,
        state: 'withdrawn',
        reason: 'withdrawn',
        missing: 1,
        nextAt: null,
        jobId: null,
        mayReturn: true,
      })
  }
  return joined
}

/** The timelines of a series by requested geo (0: all at once). */
export type Timelines = ReadonlyMap<number, readonly CoverageInterval[]>

/** Builds the timelines of all geos. */
export function timelines(intervals: readonly CoverageInterval[]): Timelines {
  const geos = [...new Set(intervals.map(({ geoId }) => geoId))].sort((a, b) => a - b)
  return new Map(geos.map((geo) => [geo, buildTimeline(intervals, geo)]))
}

/** An interval of one state on the page of a series, which says why data is missing. */
export interface ChartState extends Interval, Pick<CoverageInterval, 'missing' | 'nextAt'> {
  readonly state: CoverageState | 'absent' | 'late' | 'unrequested' | 'expected'
}

const NOT_KNOWN = { missing: null, nextAt: null } as const

/** Reads the parts of a range that are expected later: not requested yet, or not published yet, and not late. */
async function readExpected({ store, now }: Pick<PageRequest, 'store' | 'now'>, seriesId: number, geoId: number) {
  const rows = await store.kysely
    .selectFrom('_span')
    .select(['from_at', 'to_at', 'lag_s'])
    .where('series_id', '=', seriesId)
    .where('reason', 'in', ['late', 'never requested'])
    .where('geo_id', 'in', [geoId, ALL_GEOS])
    .where('due_at', '>', now)
    .execute()
  return rows.map(({ from_at, to_at, lag_s }) => ({
    from: from_at,
    to: Math.min(now, to_at ?? now, lag_s === null ? now : now - lag_s),
  }))
}

/** Reads the states of a range, as the page of its coverage has them. Parts after `now` that were not selected or published are left out. */
export async function readStates(
  request: Pick<PageRequest, 'store' | 'now'>,
  { seriesId, geoId }: { readonly seriesId: number; readonly geoId: number },
  range: Interval,
): Promise<ChartState[]> {
  const { store, now } = request
  const withdrawn = joinWithdrawn((await readWithdrawn(store, seriesId, [geoId], range)).values)
  const stored = (await readCoverageIntervals(request, [seriesId], range)).get(seriesId)!
  const intervals = [...withdrawn, ...stored]
  const newest = await store.kysely
    .selectFrom('observation')
    .select(['at', 'step_s'])
    .where((eb) => eb.and({ series_id: seriesId, geo_id: geoId }))
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst()
  const end = newest ? newest.at + newest.step_s : Number.NEGATIVE_INFINITY
  const timeline = buildTimeline(intervals, geoId).filter(({ state }) => state !== 'none')
  // Provisional parts end with the last value: later ones are not published yet.
  const shown = timeline.map((part) => (part.state === 'provisional' ? { ...part, to: Math.min(part.to, end) } : part))
  const unpublished = timeline.flatMap(({ state, from, to }) =>
    state === 'provisional' ? { from: Math.max(from, end), to: Math.min(to, now) } : [],
  )
  const isSome = ({ from, to }: Interval): boolean => from < to
  const selected = shown.filter(isSome).flatMap(({ from, to, state, reason, missing, nextAt }): ChartState[] => {
    const shownState = reason === null ? state : gapState(reason)
    return intersect([{ from, to }], [range]).map((part) => ({ ...part, state: shownState, missing, nextAt }))
  })
  const past = { from: range.from, to: Math.min(range.to, Math.max(range.from, now)) }
  const rest = subtract([past], shown.filter(isSome))
  const later = merge([...(await readExpected(request, seriesId, geoId)), ...unpublished].filter(isSome))
  const expected = intersect(later, rest).map((part) => ({ ...NOT_KNOWN, ...part, state: 'expected' as const }))
  const unselected = subtract(rest, later).map((part) => ({ ...NOT_KNOWN, ...part, state: 'none' as const }))
  return [...selected, ...expected, ...unselected].filter(isSome).sort((a, b) => a.from - b.from)
}

/** The share of each state in a period; together they are 1. */
export type Shares = Readonly<Partial<Record<CoverageState, number>>>

/** Reads the geos of series. */
export async function geosBySeries({ store }: Pick<PageRequest, 'store'>, ids: readonly number[]) {
  const rows = await store.kysely
    .selectFrom('series_geo')
    .selectAll()
    .where('series_id', 'in', [...ids])
    .execute()
  const groups = Map.groupBy(rows, ({ series_id }) => series_id)
  return new Map([...groups].map(([id, geos]) => [id, geos.map(({ geo_id }) => geo_id)]))
}

/** Computes the shares of states in consecutive periods. The timeline of all geos stands for those without one. */
export function computeShares(lines: Timelines, borders: readonly number[], geos: readonly number[]): Shares[] {
  const without = geos.length === 0 ? 1 : geos.filter((geo) => geo === ALL_GEOS || !lines.has(geo)).length
  const weight = (geo: number): number => (geo === ALL_GEOS ? without : 1)
  const weights = [...lines.keys()].reduce((sum, geo) => sum + weight(geo), 0)
  const cells = borders.slice(1).map((): Partial<Record<CoverageState, number>> => ({}))
  for (const [geo, line] of lines) {
    if (weight(geo) === 0) continue
    let cell = 0
    for (const { from, to, state } of line) {
      while (cell < cells.length && borders[cell + 1]! <= from) cell++
      for (let at = cell; at < cells.length && borders[at]! < to; at++) {
        const seconds = Math.min(to, borders[at + 1]!) - Math.max(from, borders[at]!)
        if (seconds > 0) cells[at]![state] = (cells[at]![state] ?? 0) + seconds * weight(geo)
      }
    }
  }
  return cells.map((seconds, i) => sharesIn(seconds, (borders[i + 1]! - borders[i]!) * weights))
}

/** Parts of a period: six days of a year, half a day of a month. */
const PARTS = 60

/** Computes the shares of consecutive periods as `computeShares`; a mixed one has those of its parts in order. */
export function computePeriods(lines: Timelines, borders: readonly number[], geos: readonly number[]) {
  const cuts = borders.flatMap((to, i) => {
    const from = borders[i - 1] ?? to
    return Array.from({ length: i === 0 ? 1 : PARTS }, (_, n) => to - ((to - from) * (PARTS - 1 - n)) / PARTS)
  })
  const parts = computeShares(lines, cuts, geos)
  return computeShares(lines, borders, geos).map((shares, i) => ({
    shares,
    parts: Object.keys(shares).length > 1 ? parts.slice(i * PARTS, (i + 1) * PARTS) : [],
  }))
}

/** The shares of a period and of its parts. */
export type StripPeriod = ReturnType<typeof computePeriods>[number]

/** Converts seconds by state to shares of a whole; the rest was never requested. */
function sharesIn(seconds: Partial<Record<CoverageState, number>>, whole: number): Shares {
  if (whole === 0) return { none: 1 }
  const rest = whole - Object.values(seconds).reduce((sum, part) => sum + part, 0)
  const parts = rest > 0 ? { ...seconds, none: (seconds.none ?? 0) + rest } : seconds
  return Object.fromEntries(
    COVERAGE_STATES.flatMap((state) =>
      parts[state] === undefined ? [] : [[state, Math.round((parts[state] / whole) * 1e4) / 1e4]],
    ),
  )
}

/** The worst state with a share in a period. */
export const worstState = (shares: Shares): CoverageState =>
  COVERAGE_STATES.findLast((state) => shares[state] !== undefined) ?? 'none'
