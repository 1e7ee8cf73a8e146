import type { Reader } from '../../../db/store.ts'
import type { Instant } from '../../../util/time/instant.ts'
import { type Interval, intersect, subtract } from '../../../util/time/interval.ts'
import { listed } from '../intervals.ts'

/** The states of an interval of a series, from the best to the worst. */
const STATES = ['final', 'provisional', 'empty', 'unverified', 'absent', 'failed', 'unasked'] as const
export type IntervalState = (typeof STATES)[number]

/** An interval of one state. */
export interface ChartState extends Interval {
  readonly state: IntervalState
  /** Periods without a value, where the service answered without them and their step is known. */
  readonly missing?: number | null
  /** The earliest time at which a sync requests it again (UTC); null where none will. */
  readonly nextAt?: string | null
}

/** States in order of precedence: a later one in this list covers an earlier one. */
const WORSE: readonly IntervalState[] = ['final', 'provisional', 'empty', 'absent', 'unverified', 'failed']

/** Intervals in order, without overlap: at each instant the last given interval counts. */
function layered(intervals: readonly ChartState[]): ChartState[] {
  const borders = [...new Set(intervals.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b)
  const byBegin = intervals
    .map((interval, layer) => ({ interval, layer }))
    .sort((a, b) => a.interval.from - b.interval.from)
  const done: ChartState[] = []
  let active: { interval: ChartState; layer: number }[] = []
  let next = 0
  for (const [i, from] of borders.entries()) {
    while (next < byBegin.length && byBegin[next]!.interval.from <= from) active.push(byBegin[next++]!)
    active = active.filter(({ interval }) => interval.to > from)
    if (active.length === 0) continue
    const { interval } = active.reduce((a, b) => (b.layer > a.layer ? b : a))
    const last = done.at(-1)
    const to = borders[i + 1]!
    const isSame = last && last.to === from && last.state === interval.state && last.nextAt === interval.nextAt
    if (isSame && last.missing === interval.missing) done[done.length - 1] = { ...last, to }
    else done.push({ ...interval, from, to })
  }
  return done
}

/**
 * The state of every part of a range of a series and geo, in order and without gaps. Answers for the geo itself cover answers
 * for all geos; what is after `now` and was not requested, or is not published yet, is left out.
 */
export async function readStates(
  { kysely }: Reader,
  { seriesId, geoId }: { readonly seriesId: number; readonly geoId: number },
  range: Interval,
  now: Instant,
): Promise<ChartState[]> {
  const geos = [...new Set([0, geoId])]
  const covered = await kysely
    .selectFrom('coverage')
    .select(['geo_id', 'from_at as from', 'to_at as to', 'state'])
    .where('series_id', 'in', listed([seriesId]))
    .where('geo_id', 'in', geos)
    .where('to_at', '>', range.from)
    .where('from_at', '<', range.to)
    .execute()
  const gaps = await kysely
    .selectFrom('gaps')
    .select(['geo_id', 'from_at as from', 'to_at as to', 'reason', 'missing', 'next_at as nextAt'])
    .where('series_id', 'in', listed([seriesId]))
    .where('geo_id', 'in', geos)
    .where('to_at', '>', range.from)
    .where('from_at', '<', range.to)
    .execute()
  const order = ({ state }: ChartState): number => WORSE.indexOf(state)
  const layersOf = (geo: number): ChartState[] => [
    ...covered
      .filter(({ geo_id }) => geo_id === geo)
      .map(({ from, to, state }) => ({ from, to, state: state as IntervalState }))
      .sort((a, b) => order(a) - order(b)),
    ...gaps
      .filter(({ geo_id, reason }) => geo_id === geo && reason !== 'never requested')
      .map(({ from, to, reason, missing, nextAt }) => ({ from, to, state: reason as IntervalState, missing, nextAt }))
      .sort((a, b) => order(a) - order(b)),
  ]
  const newest = await kysely
    .selectFrom('observation')
    .select(['at', 'step_s'])
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geoId)
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst()
  const published = Math.max(now, newest ? newest.at + newest.step_s : now)
  const known = layered(geos.flatMap(layersOf)).flatMap((one) =>
    one.state === 'provisional'
      ? intersect([one], [{ from: one.from, to: published }]).map((part) => ({ ...one, ...part }))
      : [one],
  )
  const past = { from: range.from, to: Math.min(range.to, Math.max(range.from, now)) }
  const unasked = subtract([past], known).map((hole): ChartState => ({ ...hole, state: 'unasked' }))
  return [
    ...known.flatMap((interval) => intersect([interval], [range]).map((part) => ({ ...interval, ...part }))),
    ...unasked,
  ]
    .sort((a, b) => a.from - b.from)
    .filter(({ from, to }) => from < to)
}
