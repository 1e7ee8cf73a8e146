import { quantity } from '../base/quantity.ts'
import { DAY, floorToSecond } from '../base/time/instant.ts'
import type { Interval } from '../base/time/interval.ts'
import type { Reader } from '../db/store.ts'

/** Seconds. What a geo had in as long before shows whether it has a value in every period. */
const BEFORE = 7 * DAY
/** Seconds. Longer periods depend on the calendar, and so few of them are provisional that none is counted. */
const SHORT = 20 * 3_600

/** How many values were not there yet in windows that may still be revised, and of how many series. */
export interface Pending {
  readonly values: number
  readonly series: number
}

/** For every geo of a series, in how many periods of an interval it has values, and how long a period is; null where steps differ. */
async function heldPeriods(
  { kysely }: Reader,
  seriesId: number,
  { from, to }: Interval,
): Promise<ReadonlyMap<number, { readonly held: number; readonly step: number | null }>> {
  const rows = await kysely
    .selectFrom('observation')
    .select(['geo_id', ({ fn }) => fn.min('step_s').as('least'), ({ fn }) => fn.max('step_s').as('most')])
    // A stray value beside another one of its period fills no second one.
    .select((eb) =>
      eb.fn
        .count<number>(eb(eb('at', '-', from), '/', eb.ref('step_s')))
        .distinct()
        .as('held'),
    )
    .where('series_id', '=', seriesId)
    .where('at', '>=', from)
    .where('at', '<', to)
    .groupBy('geo_id')
    .execute()
  return new Map(rows.map(({ geo_id, least, most, held }) => [geo_id, { held, step: least === most ? least : null }]))
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

/** How many periods a geo has no value in, of an interval in which its step promises one. */
function lackingIn(
  { from, to }: Interval,
  own: { readonly held: number; readonly step: number | null } | undefined,
  before: { readonly held: number; readonly step: number | null } | undefined,
): number {
  const step = own ? own.step : (before?.step ?? null)
  if (step === null || step > SHORT || before === undefined || before.held * 2 * step < BEFORE) return 0
  return Math.max(0, Math.floor((to - from) / step) - (own?.held ?? 0))
}

/**
 * Counts the values that are missing where answers may still be revised, which are no gaps: sources publish late, and every sync
 * requests them again. Only series with a value in every period of less than a day are counted.
 */
export async function pendingValues(db: Reader): Promise<Pending> {
  let values = 0
  const series = new Set<number>()
  for (const [seriesId, windows] of await provisional(db)) {
    const alone = new Set(windows.map(({ geoId }) => geoId))
    for (const window of windows) {
      const [own, before] = [
        await heldPeriods(db, seriesId, window),
        await heldPeriods(db, seriesId, { from: window.from - BEFORE, to: window.from }),
      ]
      const all = [...new Set([...own.keys(), ...before.keys()])].filter((geoId) => geoId === 0 || !alone.has(geoId))
      for (const geoId of window.geoId === 0 ? all : [window.geoId]) {
        const lacking = lackingIn(window, own.get(geoId), before.get(geoId))
        if (lacking === 0) continue
        values += lacking
        series.add(seriesId)
      }
    }
  }
  return { values, series: series.size }
}

/** What to say of it; nothing where no value is known to be missing. */
export const pendingText = ({ values, series }: Pending): string =>
  values === 0
    ? ''
    : `${quantity(values, 'value')} of ${series} series ${values === 1 ? 'was' : 'were'} not there yet where answers may still be revised; every sync requests them again.`
