import type { Insertable, Kysely, Transaction } from 'kysely'
import { prepareQuery } from '../../db/prepared.ts'
import { COVERAGE_COLUMNS } from '../../db/queries/coverageColumns.ts'
import { ALL_GEOS } from '../../db/tables/codes.ts'
import { geoRanges, type Observations } from '../../db/tables/rows.ts'
import type { Database } from '../../db/tables/schema.ts'
import { DEFAULT_LOOKBACK_S } from '../../job/normalize.ts'
import type { PlannedRequest } from '../../job/plannedRequest.ts'
import type { Coverage } from '../../judge/stored.ts'
import { CLOCK_ERROR_S, type Instant } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { findPeriods, type Period } from '../../util/time/periods.ts'
import type { StoredSeries } from '../storedSeries.ts'
import type { CoverageChange, Geo, Series, SeriesReply, StoredCoverage } from './coverageTypes.ts'
import { decideCoverage } from './decideCoverage.ts'

/* Reads the input of the rules of coverage, and writes their decision: a few queries for a reply, however many geos it has. */

/** Records which periods a reply covers. Returns the geos about which it says nothing. */
export async function recordCoverage(
  tx: Transaction<Database>,
  storedSeries: StoredSeries,
  { timeZone, lookbackS }: PlannedRequest,
  reply: SeriesReply,
): Promise<Pick<CoverageChange, 'unverified'>> {
  const series = toSeries(storedSeries, reply.period, timeZone, lookbackS)
  if (lookbackS === series.longestLookback && lookbackS !== storedSeries.lookbackS)
    await tx.updateTable('series').set({ lookback_s: lookbackS }).where('id', '=', storedSeries.id).execute()
  // S13: a reply about one instant covers nothing.
  if (!reply.window) return { unverified: new Set() }
  const stored = await readCoverage(tx, storedSeries.id, series, reply, reply.window)
  const change = decideCoverage(series, reply, stored)
  await writeCoverage(tx, storedSeries.id, change)
  return change
}

/** The reply to a planned request, as the rules read it. `fetchedAt`: epoch seconds. */
export function toSeriesReply(
  { window, geoIds: geos }: PlannedRequest,
  observations: Observations,
  fetchedAt: Instant,
  state: Pick<SeriesReply, 'hasUnreadValues' | 'newGeos' | 'dismissed' | 'unverifiedDays'>,
): SeriesReply {
  const { at, steps } = observations
  const last = at.length - 1
  return {
    ...state,
    window,
    geos,
    present: new Set(geoRanges(observations).map(({ geoId }) => geoId)),
    period: last < 0 ? undefined : { at: at[last]!, step: typeof steps === 'number' ? steps : steps[last]! },
    fetchedAt,
  }
}

/** The longest lookback of a series, with that of a request. */
export function findLongestLookback(series: StoredSeries, lookbackS: number | null): number {
  const lookbacks = [series.lookbackS, lookbackS].filter((seconds) => seconds !== null)
  return lookbacks.length === 0 ? DEFAULT_LOOKBACK_S : Math.max(...lookbacks)
}

/** The properties of a series. Its periods follow from a period of the reply, else from the last one of its first geo. */
function toSeries(
  storedSeries: StoredSeries,
  received: Period | undefined,
  timeZone: string,
  lookbackS: number | null,
): Series {
  const { geoIds, timelines } = storedSeries
  const [first] = timelines
  const known = first?.extent && { at: first.extent.last, step: first.extent.step }
  const period = received ?? known
  return {
    knownGeos: geoIds,
    longestLookback: findLongestLookback(storedSeries, lookbackS),
    periods: (period && findPeriods(timeZone, period)) ?? null,
    ends: timelines.flatMap(({ geoId, extent }) =>
      extent ? [extent.first, extent.last].map((at) => ({ geo: geoId, at })) : [],
    ),
  }
}

/** Reads the stored rows of a series near the window of a reply. */
async function readCoverage(
  tx: Transaction<Database>,
  seriesId: number,
  series: Series,
  reply: SeriesReply,
  window: Interval,
): Promise<StoredCoverage> {
  const touching = await selectTouching.all(tx, { seriesId, ...window })
  const isTouching = ({ geo, from }: Coverage): boolean => touching.some((row) => row.geo === geo && row.from === from)
  const future = await selectFuture.all(tx, { seriesId, after: reply.fetchedAt + CLOCK_ERROR_S })
  const coverage = [...touching, ...future.filter((row) => !isTouching(row))]
  // S3, S4 and S9: stored values that the reply lacks.
  const requested = reply.geos.includes(ALL_GEOS) ? series.knownGeos : reply.geos
  const isLacking = requested.some((geo) => !reply.present.has(geo))
  const lacking = isLacking ? await selectGeosWithValues.all(tx, { seriesId, ...window }) : []
  return { coverage, omittedGeos: new Set(lacking.map(({ geo }) => geo)) }
}

const selectRows = (db: Kysely<Database>) => db.selectFrom('_coverage').select(COVERAGE_COLUMNS)

const selectTouching = prepareQuery((db, { seriesId, from, to }: { seriesId: number } & Interval) => {
  const touching = db
    .selectFrom('_coverage')
    .where('series_id', '=', seriesId)
    .where('from_at', '<=', to)
    .where('to_at', '>=', from)
  return (
    selectRows(db)
      .where('series_id', '=', seriesId)
      // The rest of an adjacent row may be merged with the row next to it.
      .where(
        'from_at',
        '<=',
        touching.select(({ fn }) => fn.max('to_at').as('to')),
      )
      .where(
        'to_at',
        '>=',
        touching.select(({ fn }) => fn.min('from_at').as('from')),
      )
      .orderBy('geo_id')
      .orderBy('from_at')
  )
})

/** S15: rows with a time in the future. */
const selectFuture = prepareQuery((db, { seriesId, after }: { readonly seriesId: number; readonly after: Instant }) =>
  selectRows(db).where('series_id', '=', seriesId).where('fetched_at', '>', after),
)

/** The join reads each geo by its key. Without it, all values of the series would be read. */
const selectGeosWithValues = prepareQuery((db, { seriesId, from, to }: { seriesId: number } & Interval) =>
  db
    .selectFrom('series_geo as g')
    .select('g.geo_id as geo')
    .where('g.series_id', '=', seriesId)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('observation as o')
          .select('o.at')
          .whereRef('o.series_id', '=', 'g.series_id')
          .whereRef('o.geo_id', '=', 'g.geo_id')
          .where('o.at', '>=', from)
          .where('o.at', '<', to),
      ),
    ),
)

/** Writes a decision. */
async function writeCoverage(
  tx: Transaction<Database>,
  seriesId: number,
  { remove, insert }: CoverageChange,
): Promise<void> {
  for (const { geo, from } of remove) await deleteCoverage.run(tx, { seriesId, geo, from })
  for (const row of insert)
    await insertCoverage.run(tx, {
      series_id: seriesId,
      geo_id: row.geo,
      from_at: row.from,
      to_at: row.to,
      state: row.state,
      fetched_at: row.fetchedAt,
      settled_s: row.settledFor,
      since_at: row.sinceAt,
    })
}

const deleteCoverage = prepareQuery((db, { seriesId, geo, from }: { seriesId: number; geo: Geo; from: Instant }) =>
  db.deleteFrom('_coverage').where('series_id', '=', seriesId).where('geo_id', '=', geo).where('from_at', '=', from),
)
const insertCoverage = prepareQuery((db, row: Insertable<Database['_coverage']>) =>
  db.insertInto('_coverage').values(row),
)
