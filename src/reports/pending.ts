import { prepareQuery } from '../db/prepared.ts'
import { currentValues } from '../db/queries/values.ts'
import type { Reader } from '../db/store.ts'
import { ALL_GEOS } from '../db/tables/codes.ts'
import { quantity } from '../util/text.ts'
import { DAY, floorToSecond } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import { LONGEST_FIXED } from '../util/time/periods.ts'

/** Seconds before a window: the values of a geo in them show whether it has a value in every period. */
const BEFORE = 7 * DAY

/** Values that are not published yet, and the number of their series. */
export interface PendingCounts {
  readonly values: number
  readonly series: number
}

/** The stored values of a geo in an interval. */
interface StoredPeriods {
  /** Number of periods with values. */
  readonly periods: number
  /** Seconds of a period; null without values, or if they differ. */
  readonly step: number | null
}

/** A part of a series. */
type SeriesInterval = Interval & { readonly seriesId: number }
type GeoInterval = SeriesInterval & { readonly geoId: number }

const storedPeriods = prepareQuery((db, { seriesId, from, to }: SeriesInterval) =>
  db
    // The geos come first: the key of values leads to an interval of one geo only.
    .selectFrom('series_geo as g')
    .leftJoin('observation as o', (join) =>
      join
        .onRef('o.series_id', '=', 'g.series_id')
        .onRef('o.geo_id', '=', 'g.geo_id')
        .on('o.at', '>=', from)
        .on('o.at', '<', to),
    )
    .where('g.series_id', '=', seriesId)
    .groupBy('g.geo_id')
    .select(['g.geo_id', ({ fn }) => fn.min('o.step_s').as('least'), ({ fn }) => fn.max('o.step_s').as('most')])
    // A stray value beside another one of its period does not fill a second period.
    .select((eb) =>
      eb.fn
        .count<number>(eb(eb('o.at', '-', from), '/', eb.ref('o.step_s')))
        .distinct()
        .as('periods'),
    ),
)

/** Reads the stored values of the geos of a series in an interval. */
async function readStored({ kysely }: Reader, interval: SeriesInterval): Promise<ReadonlyMap<number, StoredPeriods>> {
  const rows = await storedPeriods.all(kysely, interval)
  return new Map(
    rows.map(({ geo_id, least, most, periods }) => [
      geo_id,
      { periods: Number(periods), step: least === most ? least : null },
    ]),
  )
}

/** Reads the windows of every series that may still be revised, each until its last fetch. */
async function readProvisional({ kysely }: Reader): Promise<ReadonlyMap<number, GeoInterval[]>> {
  const rows = await kysely
    .selectFrom('coverage')
    .select(['series_id as seriesId', 'geo_id as geoId', 'from_at as from', 'to_at as to', 'fetched_at'])
    .where('state', '=', 'provisional')
    .execute()
  const windows = rows.map(({ to, fetched_at, ...row }) => ({ ...row, to: Math.min(to, floorToSecond(fetched_at)) }))
  return Map.groupBy(
    windows.filter(({ from, to }) => from < to),
    ({ seriesId }) => seriesId,
  )
}

/**
 * Returns the step of a geo if it should have a value in every period of a window; null otherwise. It should if it has most values of
 * the week before, or, if it begins with the window, most values of the window itself.
 */
function regularStep({ from, to }: Interval, stored: StoredPeriods, before: StoredPeriods | undefined): number | null {
  const step = stored.periods > 0 ? stored.step : (before?.step ?? null)
  if (step === null || step > LONGEST_FIXED) return null
  const beforePeriods = before?.periods ?? 0
  const hasBegun = beforePeriods === 0 && to - from >= BEFORE && stored.periods * 2 * step >= to - from
  return hasBegun || beforePeriods * 2 * step >= BEFORE ? step : null
}

/** Whether a window has fewer values of a geo than periods. */
const mayLack = ({ from, to }: Interval, { periods, step }: StoredPeriods): boolean =>
  periods === 0 || (step !== null && Math.floor((to - from) / step) > periods)

/** Adjacent periods without values in a window that may still be revised. */
export interface PendingRange extends GeoInterval {
  /** Seconds of a period, and the number of periods. */
  readonly step: number
  readonly missing: number
}

/** Yields the ranges of a window in which a geo lacks values. */
async function* findPending(
  { kysely }: Reader,
  window: GeoInterval & { readonly step: number },
): AsyncGenerator<PendingRange> {
  const { seriesId, geoId, from, to, step } = window
  const rows = await currentValues.all(kysely, { seriesId, geoId, from, to })
  const filled = new Set(rows.map(({ at }) => Math.floor((at - from) / step)))
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
 * Yields missing values of responses that may still be revised. They are not gaps: sources publish late, and every sync requests
 * them again. Only series with a value in every period of less than a day are considered.
 */
export async function* findPendingRanges(db: Reader): AsyncGenerator<PendingRange> {
  for (const [seriesId, windows] of await readProvisional(db)) {
    const single = new Set(windows.map(({ geoId }) => geoId))
    for (const window of windows) {
      const { from, to } = window
      const isOfWindow = (geoId: number): boolean =>
        window.geoId === ALL_GEOS ? geoId === ALL_GEOS || !single.has(geoId) : geoId === window.geoId
      const stored = [...(await readStored(db, { seriesId, from, to }))].filter(
        ([geoId, values]) => isOfWindow(geoId) && mayLack(window, values),
      )
      if (stored.length === 0) continue
      const before = await readStored(db, { seriesId, from: from - BEFORE, to: from })
      for (const [geoId, values] of stored) {
        const step = regularStep(window, values, before.get(geoId))
        if (step !== null) yield* findPending(db, { seriesId, geoId, from, to, step })
      }
    }
  }
}

/** Counts missing values of responses that may still be revised. */
export async function countPendingValues(db: Reader): Promise<PendingCounts> {
  let values = 0
  const series = new Set<number>()
  for await (const { seriesId, missing } of findPendingRanges(db)) {
    values += missing
    series.add(seriesId)
  }
  return { values, series: series.size }
}

/** Describes pending values; empty without any. */
export const pendingText = ({ values, series }: PendingCounts): string =>
  values === 0
    ? ''
    : `${quantity(values, 'value')} in ${series} series ${values === 1 ? 'has' : 'have'} not been published yet; every sync requests ${values === 1 ? 'it' : 'them'} again (list: indicator-sync gaps --provisional)`
