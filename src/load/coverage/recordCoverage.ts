import type { Insertable, Kysely, Transaction } from 'kysely'
import { prepareQuery } from '../../db/prepared.ts'
import { ALL_GEOS } from '../../db/tables/codes.ts'
import { geoRanges, type Observations } from '../../db/tables/rows.ts'
import type { Database } from '../../db/tables/schema.ts'
import { DEFAULT_LOOKBACK } from '../../job/normalize.ts'
import type { PlannedRequest } from '../../job/plannedRequest.ts'
import type { Instant } from '../../util/time/instant.ts'
import { hull, type Interval } from '../../util/time/interval.ts'
import { findPeriods, type Periods } from '../../util/time/periods.ts'
import type { StoredSeries } from '../storedSeries.ts'
import type { Change, Geo, Series, SeriesReply, StoredCoverage } from './coverageTypes.ts'
import {
  countPeriods,
  decidesAround,
  findReach,
  NEARBY,
  needsNear,
  showsEarlierHoles,
  toWholeWindow,
} from './decideAbsences.ts'
import { decideCoverage, listDecidedGeos } from './decideCoverage.ts'
import { type GeoValues, listSteps, toValues } from './geoValues.ts'

/* Reads the input of the rules of coverage, and writes their decision: a few queries for a reply, however many geos it has. */

/** Records which periods a reply covers and which it lacks. Returns the interval in which missing periods may have changed. */
export async function recordCoverage(
  tx: Transaction<Database>,
  storedSeries: StoredSeries,
  { timeZone, lookbackS }: PlannedRequest,
  reply: SeriesReply,
): Promise<Interval> {
  const { id } = storedSeries
  const series = await readProperties(tx, storedSeries, reply.values, timeZone, lookbackS)
  const stored = await readCoverage(tx, id, series, reply)

  const change = decideCoverage(series, reply, stored)

  if (lookbackS === series.longestLookback && lookbackS !== storedSeries.lookbackS)
    await tx.updateTable('series').set({ lookback_s: lookbackS }).where('id', '=', id).execute()
  await writeCoverage(tx, id, change)
  const { remove, insert } = change.absences
  return hull([reply.window ?? findSpan(reply) ?? NO_TIME, ...remove, ...insert])
}

/** The reply to a planned request, as the rules read it. `fetchedAt`: epoch seconds. */
export function toSeriesReply(
  { window, geoIds: geos, settledBefore }: PlannedRequest,
  observations: Observations,
  fetchedAt: Instant,
  state: Pick<SeriesReply, 'hasUnreadValues' | 'newGeos' | 'dismissed'>,
): SeriesReply {
  const { at, steps, isStepGuessed = false } = observations
  const values = geoRanges(observations).map(({ geoId, first, end }): [Geo, GeoValues] => [
    geoId,
    { at: at.slice(first, end), steps: typeof steps === 'number' ? steps : steps.slice(first, end) },
  ])
  return { ...state, window, geos, values: new Map(values), isStepGuessed, fetchedAt, settledBefore }
}

/** Reads the properties of a series. `values` are those of the reply, `lookbackS` is the lookback of the request. */
async function readProperties(
  tx: Transaction<Database>,
  storedSeries: StoredSeries,
  values: ReadonlyMap<Geo, GeoValues>,
  timeZone: string,
  lookbackS: number | null,
): Promise<Series> {
  const lookbacks = [storedSeries.lookbackS, lookbackS].filter((seconds) => seconds !== null)
  return {
    knownGeos: storedSeries.geoIds,
    timeZone,
    longestLookback: lookbacks.length === 0 ? DEFAULT_LOOKBACK : Math.max(...lookbacks),
    periods: await readPeriods(tx, storedSeries, values, timeZone),
  }
}

/** The periods of a series if they are longer than an hour: by its last value in the reply, else by the last stored one of its first geo. */
async function readPeriods(
  tx: Transaction<Database>,
  { id: seriesId, geoIds: [geo] }: StoredSeries,
  values: ReadonlyMap<Geo, GeoValues>,
  timeZone: string,
): Promise<Periods | null> {
  const last = [...values.values()].at(-1)
  const period = last
    ? { at: last.at.at(-1)!, step: listSteps(last).at(-1)! }
    : geo === undefined
      ? undefined
      : await selectLastPeriod.first(tx, { seriesId, geo })
  return (period && findPeriods(timeZone, period)) ?? null
}

const selectLastPeriod = prepareQuery((db, { seriesId, geo }: { seriesId: number; geo: Geo }) =>
  db
    .selectFrom('observation')
    .select(['at', 'step_s as step'])
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geo)
    .orderBy('at', 'desc')
    .limit(1),
)

const NO_TIME: Interval = { from: 0, to: 0 }
const ALL_TIME: Interval = { from: 0, to: Number.MAX_SAFE_INTEGER }

/** Reads the stored rows of a series near the window of a reply. */
async function readCoverage(
  tx: Transaction<Database>,
  seriesId: number,
  series: Series,
  reply: SeriesReply,
): Promise<StoredCoverage> {
  const window = reply.window ?? findSpan(reply) ?? NO_TIME
  const around = hull([window, toWholeWindow(series, window)])
  // Rule 17: any absence may move to the borders of periods that were not known when it was recorded.
  const readStoredAbsences = (reach: Interval) =>
    selectAbsences.all(tx, { seriesId, ...(series.periods ? ALL_TIME : reach) })
  // Rule 13: a reply about one instant changes only absences.
  if (!reply.window)
    return { ...NOTHING_STORED, reach: around, absences: await readStoredAbsences(around), values: reply.values }

  const geos = listDecidedGeos(series, reply)
  const readNear = () => readNearby(tx, seriesId, geos, series.knownGeos[0], window)
  // Rule 21: values near the window show how far absences beside it are decided.
  const isAround = decidesAround(reply)
  let near: StoredCoverage['near'] = isAround ? await readNear() : new Map()
  const reaches = [...reply.values].flatMap(([geo, values]) => {
    const nearby = near.get(geo)
    return nearby ? findReach(nearby, values) : []
  })
  const reach = hull([around, ...reaches])
  const absences = await readStoredAbsences(reach)
  const coverage = await selectCoverage.all(tx, { seriesId, ...reach })
  // Rule 19: values near the window show whether the series is regular.
  if (!isAround && needsNear(series, reply, geos, absences)) near = await readNear()
  // Rules 3, 4 and 9: stored values that the reply lacks.
  const requested = reply.geos.includes(ALL_GEOS) ? series.knownGeos : reply.geos
  const isLacking = requested.some((geo) => !reply.values.has(geo))
  const lacking = isLacking ? await selectGeosWithValues.all(tx, { seriesId, ...window }) : []
  const omittedGeos = new Set(lacking.map(({ geo }) => geo))
  // Rule 18: a reply with dismissed rejects withdraws no values, so more than its values may be stored.
  const values = reply.dismissed.length > 0 ? await readStoredValues(tx, seriesId, window) : reply.values
  const stored = { reach, coverage, absences, near, values, omittedGeos, rejectedWindows: [] }
  if (!isAround || !showsEarlierHoles(series, reply, stored)) return stored
  return { ...stored, rejectedWindows: await selectRejectedWindows.all(tx, { seriesId, ...reach }) }
}

const NOTHING_STORED = { coverage: [], near: new Map(), omittedGeos: new Set<Geo>(), rejectedWindows: [] }

/** The periods of the values of a reply about one instant; undefined without values. */
function findSpan({ values }: SeriesReply): Interval | undefined {
  const periods = [...values.values()].flatMap((sent) => {
    const steps = listSteps(sent)
    return sent.at.map((from, i) => ({ from, to: from + steps[i]! }))
  })
  return periods.length === 0 ? undefined : hull(periods)
}

const selectCoverage = prepareQuery((db, { seriesId, from, to }: Interval & { seriesId: number }) => {
  const touching = db
    .selectFrom('_coverage')
    .where('series_id', '=', seriesId)
    .where('from_at', '<=', to)
    .where('to_at', '>=', from)
  return (
    db
      .selectFrom('_coverage')
      .select(['geo_id as geo', 'from_at as from', 'to_at as to', 'state', 'fetched_at as fetchedAt'])
      .select(['settled_s as settledFor', 'since_at as sinceAt'])
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

/** The absences of a series in an interval or adjacent to it. */
const selectAbsences = prepareQuery((db, { seriesId, from, to }: Interval & { seriesId: number }) =>
  db
    .selectFrom('_absent')
    .select(['geo_id as geo', 'from_at as from', 'to_at as to', 'step_s as step'])
    .select(['since_at as sinceAt', 'checked_at as checkedAt'])
    .where('series_id', '=', seriesId)
    .where('from_at', '<=', to)
    .where('to_at', '>=', from)
    .orderBy('geo_id')
    .orderBy('from_at'),
)

/** The join reads each geo by its key. Without it, all values of the series would be read. */
const selectGeosWithValues = prepareQuery((db, { seriesId, from, to }: Interval & { seriesId: number }) =>
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

/** Windows of replies with rejects. A reject, even a dismissed one, may be a missing value. */
const selectRejectedWindows = prepareQuery((db, { seriesId, from, to }: Interval & { seriesId: number }) =>
  db
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select(['f.from_at as from', 'f.to_at as to'])
    .distinct()
    .where('f.series_id', '=', seriesId)
    .where('f.from_at', '<', to)
    .where('f.to_at', '>', from)
    .$narrowType<Interval>(),
)

const selectByGeo = (db: Kysely<Database>, seriesId: number) =>
  db
    .selectFrom('series_geo as g')
    .innerJoin('observation as o', (join) =>
      join.onRef('o.series_id', '=', 'g.series_id').onRef('o.geo_id', '=', 'g.geo_id'),
    )
    .select(['g.geo_id as geo', 'o.at', 'o.step_s as step'])
    .where('g.series_id', '=', seriesId)
    .orderBy('g.geo_id')
    .orderBy('o.at')

const selectValues = prepareQuery((db, { seriesId, from, to }: Interval & { seriesId: number }) =>
  selectByGeo(db, seriesId).where('o.at', '>=', from).where('o.at', '<', to),
)

/** Reads the stored values of an interval. */
async function readStoredValues(
  tx: Transaction<Database>,
  seriesId: number,
  { from, to }: Interval,
): Promise<Map<Geo, GeoValues>> {
  const byGeo = Map.groupBy(await selectValues.all(tx, { seriesId, from, to }), ({ geo }) => geo)
  return new Map([...byGeo].map(([geo, rows]) => [geo, toValues(rows)]))
}

/** Selects up to `NEARBY` values on one side of a window, of one geo or of each. */
const selectBeside = (side: 'before' | 'after', isOfOneGeo: boolean) =>
  prepareQuery((db, { seriesId, geo, at }: { seriesId: number; geo: Geo; at: Instant }) =>
    selectByGeo(db, seriesId)
      .$if(isOfOneGeo, (query) => query.where('g.geo_id', '=', geo))
      .where('o.at', side === 'before' ? '<' : '>=', at)
      .where('o.at', side === 'before' ? '>=' : '<=', ({ selectFrom }) =>
        selectFrom(
          selectFrom('observation as n')
            .select('n.at')
            .whereRef('n.series_id', '=', 'g.series_id')
            .whereRef('n.geo_id', '=', 'g.geo_id')
            .where('n.at', side === 'before' ? '<' : '>=', at)
            .orderBy('n.at', side === 'before' ? 'desc' : 'asc')
            .limit(NEARBY)
            .as('nearest'),
        ).select(({ fn }) => (side === 'before' ? fn.min('nearest.at') : fn.max('nearest.at')).as('at')),
      ),
  )
const BESIDE_ONE = { before: selectBeside('before', true), after: selectBeside('after', true) }
const BESIDE_EACH = { before: selectBeside('before', false), after: selectBeside('after', false) }

/** Reads the stored values beside a window. Those of the first geo stand for all geos. */
async function readNearby(
  tx: Transaction<Database>,
  seriesId: number,
  geos: readonly Geo[],
  firstGeo: Geo | undefined,
  { from, to }: Interval,
): Promise<StoredCoverage['near']> {
  const [geo = ALL_GEOS] = geos.length === 1 && geos[0] === ALL_GEOS ? [firstGeo] : geos
  const select = geos.length === 1 ? BESIDE_ONE : BESIDE_EACH
  const before = Map.groupBy(await select.before.all(tx, { seriesId, geo, at: from }), (row) => row.geo)
  const after = Map.groupBy(await select.after.all(tx, { seriesId, geo, at: to }), (row) => row.geo)
  return new Map(
    (geos.length === 1 ? [geo] : geos).map((geo) => [
      geo,
      { before: toValues(before.get(geo) ?? []), after: toValues(after.get(geo) ?? []) },
    ]),
  )
}

/** Writes a decision. */
async function writeCoverage(
  tx: Transaction<Database>,
  seriesId: number,
  { coverage, absences }: Change,
): Promise<void> {
  for (const { geo, from } of coverage.remove) await deleteCoverage.run(tx, { seriesId, geo, from })
  for (const row of coverage.insert)
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
  for (const { geo, from } of absences.remove) await deleteAbsence.run(tx, { seriesId, geo, from })
  for (const row of absences.insert)
    await insertAbsence.run(tx, {
      series_id: seriesId,
      geo_id: row.geo,
      from_at: row.from,
      to_at: row.to,
      step_s: row.step,
      missing: countPeriods(row),
      reason: 'absent',
      since_at: row.sinceAt,
      checked_at: row.checkedAt,
    })
}

const deleteFrom = (table: '_coverage' | '_absent') =>
  prepareQuery((db: Kysely<Database>, { seriesId, geo, from }: { seriesId: number; geo: Geo; from: Instant }) =>
    db.deleteFrom(table).where('series_id', '=', seriesId).where('geo_id', '=', geo).where('from_at', '=', from),
  )
const [deleteCoverage, deleteAbsence] = [deleteFrom('_coverage'), deleteFrom('_absent')]
const insertCoverage = prepareQuery((db, row: Insertable<Database['_coverage']>) =>
  db.insertInto('_coverage').values(row),
)
const insertAbsence = prepareQuery((db, row: Insertable<Database['_absent']>) => db.insertInto('_absent').values(row))
