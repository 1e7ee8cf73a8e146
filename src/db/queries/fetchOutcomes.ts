import { type Kysely, sql } from 'kysely'
import { parseNumbers } from '../../util/json.ts'
import { type Interval, intersect, merge, subtract } from '../../util/time/interval.ts'
import { type Prepared, prepareQuery } from '../prepared.ts'
import type { Reason } from '../tables/bookkeeping.ts'
import {
  ALL_GEOS,
  type FailureOutcome,
  FETCH_OUTCOMES,
  type FetchOutcome,
  NOT_FAILED_OUTCOMES,
} from '../tables/codes.ts'
import type { Database } from '../tables/schema.ts'
import { readGeos } from './seriesLookup.ts'

/*
 * Outcomes and reasons of requests, as SQL literals: a partial index is used only if the query repeats its condition literally.
 */

/** Outcomes with a trusted response. */
export const GOOD_OUTCOMES = FETCH_OUTCOMES.good.map((outcome) => sql.lit(outcome))
/** The outcome of a response with mixed resolutions. */
export const COARSE = sql.lit(FETCH_OUTCOMES.coarse[0])
/** All outcomes that are not failures. */
export const NO_FAILURE = NOT_FAILED_OUTCOMES.map((outcome) => sql.lit(outcome))
/** Whether a request failed. */
export const isFailure = (outcome: FetchOutcome): outcome is FailureOutcome =>
  !(NOT_FAILED_OUTCOMES as readonly FetchOutcome[]).includes(outcome)
/** The statuses of responses for unknown items. */
export const UNKNOWN_STATUSES: readonly number[] = [404, 410]
/** Whether the request came from `backfill` or `restate`, whose ranges may lie outside of all jobs. */
export const isUserRange = ({ command, reason }: { readonly command: string | null; readonly reason: Reason | null }) =>
  command === 'backfill' || reason === 'restate'
/** The reason of repeats: of requests for absent periods and silent ranges. */
export const REPEAT = sql.lit<Reason>('absent')

/** A recorded request for a window of a series, or for anything else by its target. */
export interface RequestRecord {
  readonly fetchId: number
  readonly target: string
  /** Null for listings. */
  readonly seriesId: number | null
  /** Null for requests without a range. */
  readonly window: Interval | null
  /** Null for all geos. */
  readonly geoIds: readonly number[] | null
}

/** A missing part of a request: the intervals of a geo (`ALL_GEOS` for all). */
export interface MissingPart {
  readonly geoId: number
  readonly intervals: readonly Interval[]
}

/** A later reply with its geos; null for all. */
interface Later extends Interval {
  readonly geos: readonly number[] | null
}

/** The intervals of later replies for a geo, including those for all geos. */
const fetchedFor = (later: readonly Later[], geoId: number): Interval[] =>
  merge(later.filter(({ geos }) => geos === null || geos.includes(geoId)))

/** Selects the good fetches after one. `mustBeSound`: only those without rejects, other than dismissed ones. */
function goodFetches(db: Kysely<Database>, fetchId: number, mustBeSound: boolean) {
  const fetches = db.selectFrom('_fetch').where('_fetch.id', '>', fetchId).where('outcome', 'in', GOOD_OUTCOMES)
  return mustBeSound ? fetches.where('rows_rejected', '=', 0) : fetches
}

const bySoundness = <P extends object, T>(make: (mustBeSound: boolean) => Prepared<P, T>) => ({
  all: make(false),
  sound: make(true),
})

const laterOfTarget = bySoundness((mustBeSound) =>
  prepareQuery((db, request: { fetchId: number; target: string }) =>
    goodFetches(db, request.fetchId, mustBeSound).select('_fetch.id').where('target', '=', request.target).limit(1),
  ),
)

const laterOfSeries = bySoundness((mustBeSound) =>
  prepareQuery((db, request: Interval & { fetchId: number; seriesId: number }) =>
    goodFetches(db, request.fetchId, mustBeSound)
      .select(['from_at as from', 'to_at as to', 'geo_ids'])
      .where('series_id', '=', request.seriesId)
      .where('from_at', '<', request.to)
      .where('to_at', '>', request.from)
      .$narrowType<Interval>(),
  ),
)

const laterOfAnyWindow = prepareQuery((db, request: { fetchId: number; seriesId: number }) =>
  goodFetches(db, request.fetchId, true).select('_fetch.id').where('series_id', '=', request.seriesId).limit(1),
)

/** Whether a later reply of a series, with any window, has no open rejects. */
export const isSeriesFetched = async (db: Kysely<Database>, fetchId: number, seriesId: number): Promise<boolean> =>
  (await laterOfAnyWindow.first(db, { fetchId, seriesId })) !== undefined

const laterInstant = prepareQuery((db, request: { fetchId: number }) =>
  db
    .selectFrom('_fetch as f')
    .innerJoin('_run as r', 'r.id', 'f.run_id')
    .innerJoin('_fetch as later', (join) =>
      join
        .onRef('later.series_id', '=', 'f.series_id')
        .onRef('later.entry', '=', 'f.entry')
        .onRef('later.id', '>', 'f.id')
        .onRef('later.target', '!=', 'f.target'),
    )
    .innerJoin('_run as by', 'by.id', 'later.run_id')
    .select('later.id')
    .where('f.id', '=', request.fetchId)
    .where('later.from_at', 'is', null)
    .where('later.outcome', 'in', GOOD_OUTCOMES)
    .whereRef('by.job', '=', 'r.job')
    .whereRef('by.job_id', 'is not distinct from', 'r.job_id')
    .limit(1),
)

/** Whether the entry of a request got a later reply, for another instant. */
export const hasLaterInstant = async (db: Kysely<Database>, fetchId: number): Promise<boolean> =>
  (await laterInstant.first(db, { fetchId })) !== undefined

/**
 * Creates a function that finds the parts of a recorded request that later replies lack. `mustBeSound`: replies with open rejects do
 * not count.
 */
export function createPartFinder(
  db: Kysely<Database>,
  mustBeSound: boolean,
): (request: RequestRecord) => Promise<MissingPart[]> {
  const which = mustBeSound ? 'sound' : 'all'
  return async ({ fetchId, target, seriesId, window, geoIds }) => {
    if (seriesId === null || window === null) {
      const again = await laterOfTarget[which].first(db, { fetchId, target })
      return again === undefined ? [{ geoId: ALL_GEOS, intervals: window ? [window] : [] }] : []
    }
    const rows = await laterOfSeries[which].all(db, { fetchId, seriesId, ...window })
    const later = rows.map(({ geo_ids, ...row }) => ({ ...row, geos: parseNumbers(geo_ids) }))
    // Good replies for each known geo count as a reply for all geos.
    const knownGeos = mustBeSound && geoIds === null ? await readGeos(db, seriesId) : []
    const fetchedForEach = knownGeos
      .map((geoId) => fetchedFor(later, geoId))
      .reduce((a, b) => intersect(a, b), knownGeos.length > 0 ? [window] : [])
    return (geoIds ?? [ALL_GEOS]).flatMap((geoId): MissingPart[] => {
      const intervals = subtract([window], [...fetchedFor(later, geoId), ...fetchedForEach])
      return intervals.length === 0 ? [] : [{ geoId, intervals }]
    })
  }
}
