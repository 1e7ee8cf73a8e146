import { prepared } from '../db/prepared.ts'
import type { Reader } from '../db/store.ts'
import { ALL_GEOS } from '../db/tables/codes.ts'
import { quantity } from '../util/text.ts'
import { DAY, floorToSecond } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import { LONGEST_FIXED } from '../util/time/periods.ts'

/** Seconds before an interval: what a geo had in them shows whether it has a value in every period. */
const BEFORE = 7 * DAY

/** How many values were not there yet in windows that may still be revised, and of how many series. */
export interface Pending {
  readonly values: number
  readonly series: number
}

/** What a geo has in an interval. */
interface Stored {
  /** In how many periods it has values. */
  readonly periods: number
  /** Seconds of a period; null where there are no values, or of several lengths. */
  readonly step: number | null
}

const coveredPeriods = prepared((db, of: Interval & { seriesId: number }) =>
  db
    // The geos come first: the key of values leads to an interval of one geo only.
    .selectFrom('series_geo as g')
    .leftJoin('observation as o', (join) =>
      join
        .onRef('o.series_id', '=', 'g.series_id')
        .onRef('o.geo_id', '=', 'g.geo_id')
        .on('o.at', '>=', of.from)
        .on('o.at', '<', of.to),
    )
    .where('g.series_id', '=', of.seriesId)
    .groupBy('g.geo_id')
    .select(['g.geo_id', ({ fn }) => fn.min('o.step_s').as('least'), ({ fn }) => fn.max('o.step_s').as('most')])
    // A stray value next to another one of its period does not fill a second period.
    .select((eb) =>
      eb.fn
        .count<number>(eb(eb('o.at', '-', of.from), '/', eb.ref('o.step_s')))
        .distinct()
        .as('periods'),
    ),
)

/** What the geos of a series have in an interval. */
async function readStoredPeriods(
  { kysely }: Reader,
  seriesId: number,
  interval: Interval,
): Promise<ReadonlyMap<number, Stored>> {
  const rows = await coveredPeriods.all(kysely, { seriesId, ...interval })
  return new Map(
    rows.map(({ geo_id, least, most, periods }) => [
      geo_id,
      { periods: Number(periods), step: least === most ? least : null },
    ]),
  )
}

/** The windows of every series that may still be revised, by geo (0: all), up to when they were last answered. */
async function provisional({ kysely }: Reader): Promise<ReadonlyMap<number, (Interval & { geoId: number })[]>> {
  const rows = await kysely
    .selectFrom('coverage')
    .select(['series_id', 'geo_id as geoId', 'from_at as from', 'to_at as to', 'fetched_at'])
    .where('state', '=', 'provisional')
    .execute()
  const over = rows.map(({ to, fetched_at, ...row }) => ({ ...row, to: Math.min(to, floorToSecond(fetched_at)) }))
  return Map.groupBy(
    over.filter(({ from, to }) => from < to),
    ({ series_id }) => series_id,
  )
}

/** How many periods of this length have no value in an interval. */
const countLacking = ({ from, to }: Interval, periods: number, step: number): number =>
  Math.max(0, Math.floor((to - from) / step) - periods)

/**
 * Seconds of a period of a geo, if it promises a value in every period of an interval; null otherwise. It does so if it has most
 * values of the week before, or, if it begins with the interval, most of the interval itself.
 */
function promisedStep(window: Interval, own: Stored, before: Stored | undefined): number | null {
  const step = own.periods > 0 ? own.step : (before?.step ?? null)
  if (step === null || step > LONGEST_FIXED) return null
  const length = window.to - window.from
  const begins = (before?.periods ?? 0) === 0 && length >= BEFORE && own.periods * 2 * step >= length
  return begins || (before?.periods ?? 0) * 2 * step >= BEFORE ? step : null
}

/** Whether a geo can lack values in an interval, whatever it had before. */
const mayLack = (window: Interval, { periods, step }: Stored): boolean =>
  periods === 0 || (step !== null && countLacking(window, periods, step) > 0)

const valuesOfGeo = prepared((db, of: Interval & { seriesId: number; geoId: number }) =>
  db
    .selectFrom('observation')
    .select('at')
    .where('series_id', '=', of.seriesId)
    .where('geo_id', '=', of.geoId)
    .where('at', '>=', of.from)
    .where('at', '<', of.to),
)

/** Adjacent periods without values in a window that may still be revised. */
export interface PendingRange extends Interval {
  readonly seriesId: number
  readonly geoId: number
  /** Seconds of a period, and how many of them have no value. */
  readonly step: number
  readonly missing: number
}

/** The ranges of a window in which a geo lacks values. */
async function* lackingRanges(
  { kysely }: Reader,
  of: Interval & { readonly seriesId: number; readonly geoId: number; readonly step: number },
): AsyncGenerator<PendingRange> {
  const { seriesId, geoId, from, to, step } = of
  const filled = new Set((await valuesOfGeo.all(kysely, of)).map(({ at }) => Math.floor((at - from) / step)))
  const count = Math.floor((to - from) / step)
  for (let first = 0; first < count; first++) {
    if (filled.has(first)) continue
    let end = first + 1
    while (end < count && !filled.has(end)) end++
    yield { seriesId, geoId, step, from: from + first * step, to: from + end * step, missing: end - first }
    first = end
  }
}

/**
 * Finds the values that are missing where answers may still be revised. They are not gaps: sources publish late, and every sync
 * requests them again. Only series with a value in every period of less than a day are considered.
 */
export async function* pendingRanges(db: Reader): AsyncGenerator<PendingRange> {
  for (const [seriesId, windows] of await provisional(db)) {
    const alone = new Set(windows.map(({ geoId }) => geoId))
    for (const window of windows) {
      const own = [...(await readStoredPeriods(db, seriesId, window))].filter(
        ([geoId, stored]) =>
          (window.geoId === ALL_GEOS ? geoId === ALL_GEOS || !alone.has(geoId) : geoId === window.geoId) &&
          mayLack(window, stored),
      )
      if (own.length === 0) continue
      const before = await readStoredPeriods(db, seriesId, { from: window.from - BEFORE, to: window.from })
      for (const [geoId, stored] of own) {
        const step = promisedStep(window, stored, before.get(geoId))
        if (step !== null) yield* lackingRanges(db, { ...window, seriesId, geoId, step })
      }
    }
  }
}

/** Counts the values that are missing where answers may still be revised. */
export async function pendingValues(db: Reader): Promise<Pending> {
  let values = 0
  const series = new Set<number>()
  for await (const { seriesId, missing } of pendingRanges(db)) {
    values += missing
    series.add(seriesId)
  }
  return { values, series: series.size }
}

/** A sentence about it; empty where no value is known to be missing. */
export const pendingText = ({ values, series }: Pending): string =>
  values === 0
    ? ''
    : `${quantity(values, 'value')} in ${series} series ${values === 1 ? 'has' : 'have'} not been published yet; every sync requests ${values === 1 ? 'it' : 'them'} again (list: indicator-sync gaps --provisional)`
