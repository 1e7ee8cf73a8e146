import { GOOD_OUTCOMES } from '../db/queries/fetchOutcomes.ts'
import type { Reader } from '../db/store.ts'
import { epochSeconds } from '../db/tables/sql/expressions.ts'
import { findUsualLag } from '../judge/usualLag.ts'
import { DAY, floorToSecond, formatUtc, HOUR, type Instant } from '../util/time/instant.ts'
import { roughDuration } from './rhythm.ts'
import { seriesName } from './seriesName.ts'

/** The usual lag of a series is that of its last fetches. */
const LAST_FETCHES = 30
/** Seconds. A series that is further behind than usual by more than this has ended. */
const ENDED_AFTER_S = 60 * DAY
/** Seconds. Without a usual lag, a series is late if its last value is older than this and than three steps. */
const OLD_AFTER_S = 7 * DAY

/** How far a series reaches. Lags are in seconds since the end of the last period, negative for the future. */
export interface Reach {
  readonly seriesId: number
  readonly indicatorId: number
  /** The last instant with a value of any geo; null without any. */
  readonly lastAt: Instant | null
  readonly behindS: number | null
  /** Its usual lag at the time of a fetch; null if too little is known. */
  readonly usualS: number | null
  /** When it was last fetched (UTC); null if never. */
  readonly checkedAt: string | null
  /** A sentence if it is further behind than usual; null otherwise. */
  readonly late: string | null
}

/** Reads the last fetches of every series that had values and reached the present, the latest first. */
const readLastFetches = ({ kysely }: Reader) =>
  kysely
    .selectFrom('series as s')
    .innerJoin('_fetch as f', (join) =>
      join.on('f.id', 'in', (eb) =>
        eb
          .selectFrom('_fetch as l')
          .select('l.id')
          .whereRef('l.series_id', '=', 's.id')
          .where('l.outcome', 'in', GOOD_OUTCOMES)
          .where('l.last_at', 'is not', null)
          .where((fetch) => fetch('l.to_at', '>=', fetch(epochSeconds(fetch, 'l.finished_at'), '-', HOUR)))
          .orderBy('l.finished_at', 'desc')
          .limit(LAST_FETCHES),
      ),
    )
    .select(['s.id as series_id', 'f.finished_at', 'f.last_at', 'f.step_s', 'f.to_at'])
    .$narrowType<{ last_at: Instant; to_at: Instant }>()
    .orderBy('s.id')
    .orderBy('f.finished_at', 'desc')
    .execute()

type LastFetch = Awaited<ReturnType<typeof readLastFetches>>[number]

/** Reads every series with its last value of any geo, its last fetch, and the end of its coverage. */
const readSeriesEnds = ({ kysely }: Reader) =>
  kysely
    .selectFrom('series as s')
    .innerJoin(
      (eb) =>
        eb
          .selectFrom('series_geo as g')
          .select('g.series_id')
          .select(({ fn, selectFrom }) =>
            fn
              .max<Instant | null>(
                selectFrom('observation as o')
                  .select(({ fn }) => fn.max('o.at').as('at'))
                  .whereRef('o.series_id', '=', 'g.series_id')
                  .whereRef('o.geo_id', '=', 'g.geo_id'),
              )
              .as('last_at'),
          )
          .groupBy('g.series_id')
          .as('e'),
      (join) => join.onRef('e.series_id', '=', 's.id'),
    )
    .select(['s.id as series_id', 's.kind', 's.indicator_id', 's.time_trunc', 's.geo_agg', 'e.last_at'])
    .select(({ exists, selectFrom }) => [
      exists(
        selectFrom('indicator as i')
          .select('i.id')
          .whereRef('i.kind', '=', 's.kind')
          .whereRef('i.id', '=', 's.indicator_id')
          .where('i.withdrawn_at', 'is not', null),
      ).as('withdrawn'),
      exists(selectFrom('_duty as w').select('w.job_id').whereRef('w.series_id', '=', 's.id')).as('selected'),
      selectFrom('series_geo as g')
        .innerJoin('observation as o', (join) =>
          join.onRef('o.series_id', '=', 'g.series_id').onRef('o.geo_id', '=', 'g.geo_id'),
        )
        .select('o.step_s')
        .whereRef('g.series_id', '=', 's.id')
        .whereRef('o.at', '=', 'e.last_at')
        .limit(1)
        .as('step_s'),
      selectFrom('_fetch as f')
        .select('f.finished_at')
        .whereRef('f.series_id', '=', 's.id')
        .where('f.outcome', 'in', GOOD_OUTCOMES)
        .orderBy('f.finished_at', 'desc')
        .limit(1)
        .as('checked_at'),
      selectFrom('_coverage as c')
        .select(({ fn }) => fn.max('c.to_at').as('to_at'))
        .whereRef('c.series_id', '=', 's.id')
        .as('covered_to'),
    ])
    .orderBy('s.id')
    .execute()

type SeriesRow = Awaited<ReturnType<typeof readSeriesEnds>>[number]

const lagText = (seconds: number): string =>
  seconds < 0 ? `is ${roughDuration(seconds)} in the future` : `ended ${roughDuration(seconds)} ago`

/** Returns the usual lag of a series; null if too little is known. */
function usualLag(fetches: readonly LastFetch[], now: Instant): ReturnType<typeof findUsualLag> {
  const lag = findUsualLag(fetches)
  // Windows that all end at the same past instant were about the past.
  const ends = new Set(fetches.map(({ to_at }) => to_at))
  return lag && ends.size === 1 && now > fetches[0]!.to_at
    ? { usual: 0, allowed: Number.POSITIVE_INFINITY, interval: DAY }
    : lag
}

/** A sentence if a series that jobs select is further behind than usual, else null. */
function describeLag(
  series: SeriesRow & { readonly last_at: Instant; readonly checked_at: string },
  behind: number,
  lag: ReturnType<typeof usualLag>,
): string | null {
  const { withdrawn, selected, last_at, checked_at, covered_to, step_s } = series
  const step = step_s ?? 0
  if (withdrawn || !selected) return null
  if (lag) {
    if (behind <= lag.allowed || behind > lag.usual + ENDED_AFTER_S + 3 * step) return null
    const usually = lag.usual < 0 ? `it ${lagText(lag.usual)}` : `${roughDuration(lag.usual)} ago`
    return `${seriesName(series)}: the last value ${lagText(behind)}; usually ${usually}`
  }
  const checkedAt = floorToSecond(checked_at)
  const age = checkedAt - last_at - step
  const isCovered = covered_to !== null && covered_to >= checkedAt
  if (!isCovered || age <= Math.max(OLD_AFTER_S, 3 * step) || age > ENDED_AFTER_S + 3 * step) return null
  return `${seriesName(series)}: the last value is from ${formatUtc(last_at)}, although data was requested up to ${formatUtc(checkedAt)}`
}

/** Finds how far every series reaches, in the order of their numbers. */
export async function findReaches(db: Reader, now: Instant): Promise<Reach[]> {
  const fetches = Map.groupBy(await readLastFetches(db), ({ series_id }) => series_id)
  const reaches: Reach[] = []
  for (const series of await readSeriesEnds(db)) {
    const { series_id, indicator_id, last_at, checked_at } = series
    const isKnown = last_at !== null && checked_at !== null
    const lag = isKnown ? usualLag(fetches.get(series_id) ?? [], now) : null
    const behindS = last_at === null ? null : now - last_at - (series.step_s ?? 0)
    reaches.push({
      seriesId: series_id,
      indicatorId: indicator_id,
      lastAt: last_at,
      behindS,
      usualS: lag?.usual ?? null,
      checkedAt: checked_at,
      late: isKnown ? describeLag({ ...series, last_at, checked_at }, behindS!, lag) : null,
    })
  }
  return reaches
}

/** Finds series that are further behind than usual, each with a sentence. */
export async function findStaleSeries(
  db: Reader,
  now: Instant,
): Promise<{ readonly seriesId: number; readonly what: string }[]> {
  return (await findReaches(db, now)).flatMap(({ seriesId, late }) => (late === null ? [] : [{ seriesId, what: late }]))
}
