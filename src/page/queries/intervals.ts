import { expressionBuilder } from 'kysely'
import { ALL_GEOS, type GapReason } from '../../db/tables/codes.ts'
import type { Instant } from '../../util/time/instant.ts'
import { type Interval, intersect, subtract } from '../../util/time/interval.ts'
import { addUnits, floorTo, localDate } from '../../util/time/zone.ts'
import type { PageRequest } from '../page.ts'

/** The states of an interval of a series: never requested, or from the best to the worst of what was answered. */
export const COVERAGE_STATES = ['none', 'final', 'provisional', 'empty', 'unverified', 'failed'] as const
export type CoverageState = (typeof COVERAGE_STATES)[number]

/** An interval of a series and geo in one state (epoch seconds), with what is known of it. */
export interface CoverageInterval extends Interval {
  readonly geoId: number
  readonly state: CoverageState
  /** Why there is nothing: absent at the source, an unverified answer, a request that failed, or never requested. */
  readonly reason: GapReason | null
  /** Periods that are missing, where they can be counted. */
  readonly missing: number | null
  /** The earliest time at which a sync requests it again (UTC), where it waits for that. */
  readonly nextAt: string | null
}

const OF_GAP = { absent: 'unverified', unverified: 'unverified', failed: 'failed', 'never requested': 'none' } as const

/**
 * Numbers of series as a list of single parameters. Such a list reaches the tables below the windows of a view; a list that is
 * read from a table does not, and with `=` each sort of the views is repeated for every series, which takes fifty times as
 * long.
 */
const listed = (ids: readonly number[]) => ids.map((id) => expressionBuilder().val(id))

/**
 * Everything that is known of the coverage of some series, or of an interval of it: first what is held, with its state, then
 * what is missing, with the reason. Reads no values.
 */
export async function coverageIntervalsOf(
  { store }: Pick<PageRequest, 'store'>,
  ids: readonly number[],
  within?: Interval,
): Promise<ReadonlyMap<number, CoverageInterval[]>> {
  const found = new Map(ids.map((id): [number, CoverageInterval[]] => [id, []]))
  if (ids.length === 0) return found
  const held = await store.kysely
    .selectFrom('coverage')
    .select(['series_id', 'geo_id as geoId', 'from_at as from', 'to_at as to', 'state'])
    .where('series_id', 'in', listed(ids))
    .$if(within !== undefined, (of) => of.where('to_at', '>', within!.from).where('from_at', '<', within!.to))
    .$narrowType<{ state: 'final' | 'provisional' | 'empty' | 'unverified' }>()
    .execute()
  for (const { series_id, ...row } of held)
    found.get(series_id)!.push({ ...row, reason: null, missing: null, nextAt: null })
  const gaps = await store.kysely
    .selectFrom('gaps')
    .select(['series_id', 'geo_id as geoId', 'from_at as from', 'to_at as to'])
    .select(['reason', 'missing', 'next_at as nextAt'])
    .where('series_id', 'in', listed(ids))
    .$if(within !== undefined, (of) => of.where('to_at', '>', within!.from).where('from_at', '<', within!.to))
    .execute()
  for (const { series_id, ...row } of gaps) found.get(series_id)!.push({ ...row, state: OF_GAP[row.reason] })
  return found
}

/** Precedence: what is missing covers what is held, an answer for a geo covers one for all; then the worst state counts. */
const rankOf = ({ geoId, reason, state }: CoverageInterval, geo: number): number =>
  (geoId === geo ? 40 : 0) +
  (reason === null ? 0 : 20) +
  2 * COVERAGE_STATES.indexOf(state) -
  Number(reason === 'absent')

/** The timeline of a geo: disjoint intervals in order; each instant has what counts most of the given intervals. */
function painted(intervals: readonly CoverageInterval[], geo: number): CoverageInterval[] {
  const own = intervals.filter(({ geoId }) => geoId === geo || geoId === ALL_GEOS).sort((a, b) => a.from - b.from)
  const borders = [...new Set(own.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b)
  const result: CoverageInterval[] = []
  let active: CoverageInterval[] = []
  let next = 0
  for (const [i, from] of borders.slice(0, -1).entries()) {
    const to = borders[i + 1]!
    active = active.filter((interval) => interval.to > from)
    while (next < own.length && own[next]!.from <= from) active.push(own[next++]!)
    if (active.length === 0) continue
    const top = active.reduce((best, one) => (rankOf(one, geo) > rankOf(best, geo) ? one : best))
    const last = result.at(-1)
    const isSame = last?.to === from && last.state === top.state && last.reason === top.reason
    if (isSame && last.nextAt === top.nextAt && last.missing === top.missing)
      result[result.length - 1] = { ...last, to }
    else result.push({ ...top, from, to })
  }
  return result
}

/** The timelines of a series by the geos that were requested (0: all at once). */
export type Timelines = ReadonlyMap<number, readonly CoverageInterval[]>

/** The timelines of all geos that some intervals have. */
export function timelines(intervals: readonly CoverageInterval[]): Timelines {
  const geos = [...new Set(intervals.map(({ geoId }) => geoId))].sort((a, b) => a - b)
  return new Map(geos.map((geo) => [geo, painted(intervals, geo)]))
}

/** The states that the page of a series tells apart. */
export type IntervalState = CoverageState | 'absent'

/** An interval of one state on the page of a series, with what is known of it. */
export interface ChartState extends Interval, Pick<CoverageInterval, 'missing' | 'nextAt'> {
  readonly state: IntervalState
}

/**
 * The state of every part of a range of a series and geo, in order and without gaps. What is after `now` and was not requested,
 * or is not published yet, is left out.
 */
export async function readStates(
  request: Pick<PageRequest, 'store' | 'now'>,
  { seriesId, geoId }: { readonly seriesId: number; readonly geoId: number },
  range: Interval,
): Promise<ChartState[]> {
  const { store, now } = request
  const intervals = (await coverageIntervalsOf(request, [seriesId], range)).get(seriesId)!
  const newest = await store.kysely
    .selectFrom('observation')
    .select(['at', 'step_s'])
    .where((of) => of.and({ series_id: seriesId, geo_id: geoId }))
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst()
  const published = Math.max(now, newest ? newest.at + newest.step_s : now)
  const timeline = painted(
    intervals.filter(({ reason }) => reason !== 'never requested'),
    geoId,
  )
  const known = timeline.flatMap(({ from, to, state, reason, missing, nextAt }): ChartState[] =>
    intersect([{ from, to: state === 'provisional' ? Math.min(to, published) : to }], [range]).map((part) => ({
      ...part,
      state: reason === 'absent' ? reason : state,
      missing,
      nextAt,
    })),
  )
  const past = { from: range.from, to: Math.min(range.to, Math.max(range.from, now)) }
  const unknown = { state: 'none', missing: null, nextAt: null } as const
  const never = subtract([past], timeline).map((hole) => ({ ...hole, ...unknown }))
  return [...known, ...never].sort((a, b) => a.from - b.from).filter(({ from, to }) => from < to)
}

/** The share of each state in a time; together they are 1. States with no share are left out. */
export type Shares = Readonly<Partial<Record<CoverageState, number>>>

/** The geos of some series. */
export async function geosBySeries({ store }: Pick<PageRequest, 'store'>, ids: readonly number[]) {
  if (ids.length === 0) return new Map()
  const rows = await store.kysely
    .selectFrom('series_geo')
    .selectAll()
    .where('series_id', 'in', [...ids])
    .execute()
  const groups = Map.groupBy(rows, ({ series_id }) => series_id)
  return new Map([...groups].map(([id, of]) => [id, of.map(({ geo_id }) => geo_id)]))
}

/**
 * The shares of the states in consecutive periods, over all timelines of a series. That of all geos stands for those of its geos
 * that have none of their own.
 */
export function sharesOf(lines: Timelines, borders: readonly number[], geos: readonly number[]): Shares[] {
  const others = geos.length === 0 ? 1 : geos.filter((geo) => geo === ALL_GEOS || !lines.has(geo)).length
  const countOf = (geo: number): number => (geo === ALL_GEOS ? others : 1)
  const count = [...lines.keys()].reduce((sum, geo) => sum + countOf(geo), 0)
  const cells = borders.slice(1).map((): Partial<Record<CoverageState, number>> => ({}))
  for (const [geo, line] of lines) {
    if (countOf(geo) === 0) continue
    let cell = 0
    for (const { from, to, state } of line) {
      while (cell < cells.length && borders[cell + 1]! <= from) cell++
      for (let at = cell; at < cells.length && borders[at]! < to; at++) {
        const seconds = Math.min(to, borders[at + 1]!) - Math.max(from, borders[at]!)
        if (seconds > 0) cells[at]![state] = (cells[at]![state] ?? 0) + seconds * countOf(geo)
      }
    }
  }
  return cells.map((seconds, i) => sharesIn(seconds, (borders[i + 1]! - borders[i]!) * count))
}

/** Seconds by state as shares of a whole; the rest was never requested. Rounded, to keep the JSON short. */
function sharesIn(seconds: Partial<Record<CoverageState, number>>, whole: number): Shares {
  if (whole === 0) return { none: 1 }
  const rest = whole - Object.values(seconds).reduce((sum, part) => sum + part, 0)
  const all = rest > 0 ? { ...seconds, none: (seconds.none ?? 0) + rest } : seconds
  return Object.fromEntries(
    COVERAGE_STATES.flatMap((state) =>
      all[state] === undefined ? [] : [[state, Math.round((all[state] / whole) * 1e4) / 1e4]],
    ),
  )
}

/** The worst state with a share in a period. */
export const worstOf = (shares: Shares): CoverageState =>
  COVERAGE_STATES.findLast((state) => shares[state] !== undefined) ?? 'none'

/** Consecutive local days: their dates, and their borders, of which there is one more. */
export interface Days {
  readonly dates: readonly string[]
  readonly borders: readonly Instant[]
}

/** The local days of a zone from one instant to before another. */
export function daysBetween(zone: string, from: Instant, to: Instant): Days {
  const borders = [floorTo(zone, from, 'day')]
  while (borders.at(-1)! < to) borders.push(addUnits(zone, borders.at(-1)!, 'day', 1))
  return { dates: borders.slice(0, -1).map((at) => localDate(zone, at)), borders }
}

/** The last local days of a zone, as many as given, up to and including the one that holds an instant. */
export const lastDays = (zone: string, now: Instant, count: number): Days =>
  daysBetween(zone, addUnits(zone, floorTo(zone, now, 'day'), 'day', 1 - count), now + 1)
