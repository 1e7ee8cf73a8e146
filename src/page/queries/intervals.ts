import { expressionBuilder } from 'kysely'
import { ALL_GEOS, type GapReason } from '../../db/tables/codes.ts'
import type { PageRequest } from '../page.ts'

/** The states of an interval of a series: never requested, or from the best to the worst of what was answered. */
export const COVERAGE_STATES = ['none', 'final', 'provisional', 'empty', 'unverified', 'failed'] as const
export type CoverageState = (typeof COVERAGE_STATES)[number]

/** An interval of a series and geo in one state (epoch seconds), with what is known of it. */
export interface CoverageInterval {
  readonly geoId: number
  readonly from: number
  readonly to: number
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
export const listed = (ids: readonly number[]) => ids.map((id) => expressionBuilder().val(id))

/**
 * Everything that is known of the coverage of some series: first what is held, with its state, then what is missing, with the
 * reason. Reads no values.
 */
export async function coverageIntervalsOf(
  { store }: Pick<PageRequest, 'store'>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, CoverageInterval[]>> {
  const found = new Map(ids.map((id): [number, CoverageInterval[]] => [id, []]))
  if (ids.length === 0) return found
  const held = await store.kysely
    .selectFrom('coverage')
    .select(['series_id', 'geo_id', 'from_at', 'to_at', 'state'])
    .where('series_id', 'in', listed(ids))
    .$narrowType<{ state: 'final' | 'provisional' | 'empty' | 'unverified' }>()
    .execute()
  for (const { series_id, geo_id, from_at, to_at, state } of held)
    found.get(series_id)!.push({
      geoId: geo_id,
      from: from_at,
      to: to_at,
      state,
      reason: null,
      missing: null,
      nextAt: null,
    })
  const missing = await store.kysely
    .selectFrom('gaps')
    .select(['series_id', 'geo_id', 'from_at', 'to_at', 'reason', 'missing', 'next_at'])
    .where('series_id', 'in', listed(ids))
    .execute()
  for (const { series_id, geo_id, from_at, to_at, reason, missing: count, next_at } of missing)
    found.get(series_id)!.push({
      geoId: geo_id,
      from: from_at,
      to: to_at,
      state: OF_GAP[reason],
      reason,
      missing: count,
      nextAt: next_at,
    })
  return found
}

/** An interval of a timeline that has one state, without what is known of it. */
export interface TimelinePiece {
  readonly from: number
  readonly to: number
  readonly state: CoverageState
}

/**
 * The timelines of a series, one for each geo that was requested (0: all at once): disjoint intervals in order. Where intervals
 * overlap, what is missing covers what is held, and an answer for a geo covers an answer for all.
 */
export function timelines(intervals: readonly CoverageInterval[]): ReadonlyMap<number, TimelinePiece[]> {
  const geos = [...new Set(intervals.map(({ geoId }) => geoId))].sort((a, b) => a - b)
  return new Map(
    geos.map((geo) => [
      geo,
      painted(
        intervals.filter(({ geoId }) => geoId === geo || geoId === ALL_GEOS),
        geo,
      ),
    ]),
  )
}

const layerOf = ({ geoId, reason }: CoverageInterval, geo: number): number =>
  (geoId === geo ? 2 : 0) + (reason === null ? 0 : 1)

/** Disjoint intervals: each instant has the state of the uppermost layer; within a layer, the worst state. */
function painted(intervals: readonly CoverageInterval[], geo: number): TimelinePiece[] {
  const begins = [...intervals].sort((a, b) => a.from - b.from)
  const borders = [...new Set(intervals.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b)
  const result: TimelinePiece[] = []
  let active: CoverageInterval[] = []
  let next = 0
  for (const [i, from] of borders.entries()) {
    const to = borders[i + 1]
    if (to === undefined) break
    active = active.filter((interval) => interval.to > from)
    while (next < begins.length && begins[next]!.from <= from) active.push(begins[next++]!)
    if (active.length === 0) continue
    const { state } = active.reduce((best, interval) => {
      const [a, b] = [layerOf(best, geo), layerOf(interval, geo)]
      return b > a || (b === a && COVERAGE_STATES.indexOf(interval.state) > COVERAGE_STATES.indexOf(best.state))
        ? interval
        : best
    })
    const last = result.at(-1)
    if (last && last.to === from && last.state === state) result[result.length - 1] = { ...last, to }
    else result.push({ from, to, state })
  }
  return result
}

/** The share of each state in a time; together they are 1. States with no share are left out. */
export type Shares = Readonly<Partial<Record<CoverageState, number>>>

/** The geos of some series. */
export async function geosBySeries(
  { store }: Pick<PageRequest, 'store'>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, number[]>> {
  if (ids.length === 0) return new Map()
  const rows = await store.kysely
    .selectFrom('series_geo')
    .selectAll()
    .where('series_id', 'in', [...ids])
    .execute()
  return new Map(
    [...Map.groupBy(rows, ({ series_id }) => series_id)].map(([id, of]) => [id, of.map(({ geo_id }) => geo_id)]),
  )
}

/**
 * The shares of the states in consecutive periods, over all timelines of a series. That of all geos stands for those of its geos
 * that have none of their own.
 */
export function sharesOf(
  lines: ReadonlyMap<number, readonly TimelinePiece[]>,
  borders: readonly number[],
  geos: readonly number[],
): Shares[] {
  const others = geos.length === 0 ? 1 : geos.filter((geo) => geo === ALL_GEOS || !lines.has(geo)).length
  const countOf = (geo: number): number => (geo === ALL_GEOS ? others : 1)
  const count = [...lines.keys()].reduce((sum, geo) => sum + countOf(geo), 0)
  const cells = Array.from(
    { length: Math.max(0, borders.length - 1) },
    (): Partial<Record<CoverageState, number>> => ({}),
  )
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
  const { none = 0, ...known } = seconds
  const rest = whole - Object.values(known).reduce((sum, part) => sum + part, 0) - none
  const all = { ...known, ...(none + rest > 0 || whole === 0 ? { none: none + rest } : {}) }
  if (whole === 0) return { none: 1 }
  return Object.fromEntries(
    COVERAGE_STATES.flatMap((state) =>
      all[state] === undefined ? [] : [[state, Math.round((all[state] / whole) * 1e4) / 1e4]],
    ),
  )
}

/** The worst state with a share in a period. */
export const worstOf = (shares: Shares): CoverageState =>
  [...COVERAGE_STATES].reverse().find((state) => shares[state] !== undefined) ?? 'none'
