import type { Kysely, Transaction } from 'kysely'
import { prepared, preparedInsert } from '../../db/prepared.ts'
import { ALL_GEOS } from '../../db/tables/codes.ts'
import { geoRanges, type Observations } from '../../db/tables/rows.ts'
import type { Database } from '../../db/tables/schema.ts'
import { DEFAULT_LOOKBACK } from '../../job/normalize.ts'
import type { PlannedRequest } from '../../job/plannedRequest.ts'
import type { Instant } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { findPeriods, type Periods } from '../../util/time/periods.ts'
import type { StoredSeries } from '../storedSeries.ts'
import type { Change, Geo, Series, SeriesReply, StoredCoverage, Values } from './coverageTypes.ts'
import { countPeriods, earlierHoles, findReach, judgedWindow, NEARBY, needsNear, reachesOut } from './decideAbsences.ts'
import { decideCoverage, judgedGeos } from './decideCoverage.ts'

/* Reads what the rules of coverage need, and writes what they decide: a few queries a reply, however many geos. */

/** What is known of a reply beside its rows. */
export type ReplyState = Pick<SeriesReply, 'isIncomplete' | 'newGeos' | 'dismissed'>

/** Records what was answered and what is missing in it. */
export async function recordCoverage(
  tx: Transaction<Database>,
  stored: StoredSeries,
  planned: PlannedRequest,
  rows: Observations,
  fetchedAt: Instant,
  state: ReplyState,
): Promise<void> {
  const { window, geoIds, settledBefore } = planned
  const values = valuesByGeo(rows)
  const reply = {
    ...state,
    window,
    geos: geoIds,
    rows: values,
    stepsGuessed: rows.guessed ?? false,
    fetchedAt,
    settledBefore,
  }
  const series = await describeSeries(tx, stored, values, planned)
  await writeCoverage(
    tx,
    stored.id,
    decideCoverage(series, reply, await readStoredCoverage(tx, stored.id, series, reply)),
  )
}

/** What the rules know of a series. */
export async function describeSeries(
  tx: Transaction<Database>,
  stored: StoredSeries,
  values: ReadonlyMap<Geo, Values>,
  { timeZone, lookbackS }: Pick<PlannedRequest, 'timeZone' | 'lookbackS'>,
): Promise<Series> {
  const { id, geoIds: knownGeos } = stored
  const isLonger = lookbackS !== null && (stored.lookbackS === null || stored.lookbackS < lookbackS)
  if (isLonger) await tx.updateTable('series').set({ lookback_s: lookbackS }).where('id', '=', id).execute()
  const longestLookback = (isLonger ? lookbackS : stored.lookbackS) ?? DEFAULT_LOOKBACK
  return { knownGeos, timeZone, longestLookback, periods: await periodsOfSeries(tx, stored, values, timeZone) }
}

/** The periods of a series if they are longer than an hour: from a reply, else from the last stored value of its first geo. */
async function periodsOfSeries(
  tx: Transaction<Database>,
  { id: seriesId, geoIds: [first] }: StoredSeries,
  values: ReadonlyMap<Geo, Values>,
  timeZone: string,
): Promise<Periods | null> {
  const last = [...values.values()].at(-1)
  if (last) {
    const step = typeof last.steps === 'number' ? last.steps : last.steps.at(-1)!
    return findPeriods(timeZone, { at: last.at.at(-1)!, step }) ?? null
  }
  const period = first === undefined ? undefined : await lastPeriod.first(tx, { seriesId, geo: first })
  return (period && findPeriods(timeZone, period)) ?? null
}

const lastPeriod = prepared((db, of: { seriesId: number; geo: Geo }) =>
  db
    .selectFrom('observation')
    .select(['at', 'step_s as step'])
    .where('series_id', '=', of.seriesId)
    .where('geo_id', '=', of.geo)
    .orderBy('at', 'desc')
    .limit(1),
)

/** The values of each geo in a reply. */
function valuesByGeo(rows: Observations): Map<Geo, Values> {
  const { at, steps } = rows
  return new Map(
    geoRanges(rows).map(({ geoId, first, end }): [Geo, Values] => [
      geoId,
      { at: at.slice(first, end), steps: typeof steps === 'number' ? steps : steps.slice(first, end) },
    ]),
  )
}

const NOTHING = { from: 0, to: 0 }

/** Reads what is stored of a series near the window of a reply. */
export async function readStoredCoverage(
  tx: Transaction<Database>,
  seriesId: number,
  series: Series,
  reply: SeriesReply,
): Promise<StoredCoverage> {
  const window = reply.window ?? findSpan(reply) ?? NOTHING
  const whole = hull([window, judgedWindow(series, window)])
  const geos = reply.window ? judgedGeos(series, reply) : []
  const isOpen = reply.window !== null && reachesOut(reply)
  const readNear = (): Promise<StoredCoverage['near']> => readNearby(tx, seriesId, geos, series.knownGeos[0], window)
  let near: StoredCoverage['near'] = isOpen ? await readNear() : new Map()
  const reach = hull([whole, ...reaches(reply, near)])
  // An absence from before the length of a period was known may lie anywhere.
  const absences = await absencesIn.all(tx, { seriesId, ...(series.periods ? EVER : reach) })
  const coverage = reply.window ? await coverageIn.all(tx, { seriesId, ...reach }) : []
  if (reply.window && !isOpen && needsNear(series, reply, geos, absences)) near = await readNear()
  const valuesInWindow = lacksGeos(series, reply) ? await geosIn.all(tx, { seriesId, ...window }) : []
  // A reply with rejects withdraws nothing, so its rows are not all that is stored.
  const isPartial = reply.window !== null && reply.dismissed.length > 0
  const values = isPartial ? await readValues(tx, seriesId, window) : reply.rows
  const before = {
    reach,
    coverage,
    absences,
    near,
    values,
    valuesInWindow: new Set(valuesInWindow.map(({ geo }) => geo)),
  }
  const isRejected = isOpen && earlierHoles(series, reply, { ...before, rejectedWindows: [] }).length > 0
  return { ...before, rejectedWindows: isRejected ? await rejectedIn.all(tx, { seriesId, ...reach }) : [] }
}

const EVER: Interval = { from: 0, to: Number.MAX_SAFE_INTEGER }

const hull = (all: readonly Interval[]): Interval => ({
  from: Math.min(...all.map(({ from }) => from)),
  to: Math.max(...all.map(({ to }) => to)),
})

/** The periods of the values of a reply about one instant; undefined without any. */
function findSpan({ rows }: SeriesReply): Interval | undefined {
  const all = [...rows.values()].flatMap(({ at, steps }) =>
    at.map((from, i) => ({ from, to: from + (typeof steps === 'number' ? steps : steps[i]!) })),
  )
  return all.length === 0 ? undefined : hull(all)
}

const reaches = ({ rows }: SeriesReply, near: StoredCoverage['near']): Interval[] =>
  [...rows].flatMap(([geo, values]) => {
    const beside = near.get(geo)
    return beside ? findReach(beside, values) : []
  })

/** Whether geos without rows in a reply may have stored values in its window. */
const lacksGeos = ({ knownGeos }: Series, { window, geos, rows }: SeriesReply): boolean =>
  window !== null && (geos.includes(ALL_GEOS) ? knownGeos : geos).some((geo) => !rows.has(geo))

const coverageIn = prepared((db, of: Interval & { seriesId: number }) => {
  const touching = db
    .selectFrom('_coverage')
    .where('series_id', '=', of.seriesId)
    .where('from_at', '<=', of.to)
    .where('to_at', '>=', of.from)
  return (
    db
      .selectFrom('_coverage')
      .select(['geo_id as geo', 'from_at as from', 'to_at as to', 'state', 'fetched_at as fetchedAt'])
      .select(['settled_s as settledFor', 'since_at as since'])
      .where('series_id', '=', of.seriesId)
      // What is left of an adjacent row may be merged with the row next to it.
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
const absencesIn = prepared((db, of: Interval & { seriesId: number }) =>
  db
    .selectFrom('_absent')
    .select(['geo_id as geo', 'from_at as from', 'to_at as to', 'step_s as step'])
    .select(['since_at as since', 'checked_at as checked'])
    .where('series_id', '=', of.seriesId)
    .where('from_at', '<=', of.to)
    .where('to_at', '>=', of.from)
    .orderBy('geo_id')
    .orderBy('from_at'),
)

// Geo by geo, each by its key: without the join, all values of the series would be read.
const geosIn = prepared((db, of: Interval & { seriesId: number }) =>
  db
    .selectFrom('series_geo as g')
    .select('g.geo_id as geo')
    .where('g.series_id', '=', of.seriesId)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('observation as o')
          .select('o.at')
          .whereRef('o.series_id', '=', 'g.series_id')
          .whereRef('o.geo_id', '=', 'g.geo_id')
          .where('o.at', '>=', of.from)
          .where('o.at', '<', of.to),
      ),
    ),
)

// A reject, even a dismissed one, may be one of the values that are missing near it.
const rejectedIn = prepared((db, of: Interval & { seriesId: number }) =>
  db
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select(['f.from_at as from', 'f.to_at as to'])
    .distinct()
    .where('f.series_id', '=', of.seriesId)
    .where('f.from_at', '<', of.to)
    .where('f.to_at', '>', of.from)
    .$narrowType<Interval>(),
)

const valuesIn = prepared((db, of: Interval & { seriesId: number }) =>
  db
    .selectFrom('series_geo as g')
    .innerJoin('observation as o', (join) =>
      join.onRef('o.series_id', '=', 'g.series_id').onRef('o.geo_id', '=', 'g.geo_id'),
    )
    .select(['g.geo_id as geo', 'o.at', 'o.step_s as step'])
    .where('g.series_id', '=', of.seriesId)
    .where('o.at', '>=', of.from)
    .where('o.at', '<', of.to)
    .orderBy('g.geo_id')
    .orderBy('o.at'),
)

/** The stored values in an interval, in the form of a reply. */
export async function readValues(
  tx: Transaction<Database>,
  seriesId: number,
  { from, to }: Interval,
): Promise<Map<Geo, Values>> {
  const rows = await valuesIn.all(tx, { seriesId, from, to })
  const byGeo = [...Map.groupBy(rows, ({ geo }) => geo)]
  return new Map(
    byGeo.map(([geo, some]) => [geo, { at: some.map(({ at }) => at), steps: some.map(({ step }) => step) }]),
  )
}

/** Up to `NEARBY` values of each geo on one side of a window; `geo` limits them to one geo. */
const valuesBeside = (side: 'before' | 'after', isOne: boolean) =>
  prepared((db, of: { seriesId: number; geo: Geo; at: Instant }) =>
    db
      .selectFrom('series_geo as g')
      .innerJoin('observation as o', (join) =>
        join.onRef('o.series_id', '=', 'g.series_id').onRef('o.geo_id', '=', 'g.geo_id'),
      )
      .select(['g.geo_id as geo', 'o.at', 'o.step_s as step'])
      .where('g.series_id', '=', of.seriesId)
      .$if(isOne, (query) => query.where('g.geo_id', '=', of.geo))
      .where('o.at', side === 'before' ? '<' : '>=', of.at)
      .where('o.at', side === 'before' ? '>=' : '<=', ({ selectFrom }) =>
        selectFrom(
          selectFrom('observation as n')
            .select('n.at')
            .whereRef('n.series_id', '=', 'g.series_id')
            .whereRef('n.geo_id', '=', 'g.geo_id')
            .where('n.at', side === 'before' ? '<' : '>=', of.at)
            .orderBy('n.at', side === 'before' ? 'desc' : 'asc')
            .limit(NEARBY)
            .as('nearest'),
        ).select(({ fn }) => (side === 'before' ? fn.min('nearest.at') : fn.max('nearest.at')).as('at')),
      )
      .orderBy('g.geo_id')
      .orderBy('o.at'),
  )
const BESIDE = {
  one: [valuesBeside('before', true), valuesBeside('after', true)],
  all: [valuesBeside('before', false), valuesBeside('after', false)],
} as const

/** The stored values beside a window, of one geo or of all that are known. */
async function readNearby(
  tx: Transaction<Database>,
  seriesId: number,
  geos: readonly Geo[],
  first: Geo | undefined,
  { from, to }: Interval,
): Promise<StoredCoverage['near']> {
  // The values of the first geo stand for all.
  const [geo = ALL_GEOS] = geos.length === 1 && geos[0] === ALL_GEOS ? [first] : geos
  const [before, after] = BESIDE[geos.length === 1 ? 'one' : 'all']
  const sides = [
    Map.groupBy(await before.all(tx, { seriesId, geo, at: from }), (row) => row.geo),
    Map.groupBy(await after.all(tx, { seriesId, geo, at: to }), (row) => row.geo),
  ]
  const wanted = geos.length === 1 ? [geo] : geos
  const [earlier, later] = sides.map((rows) => (one: Geo): Values => {
    const some = rows.get(one) ?? []
    return { at: some.map(({ at }) => at), steps: some.map(({ step }) => step) }
  })
  return new Map(wanted.map((one) => [one, { before: earlier!(one), after: later!(one) }]))
}

/** Writes what was decided: rows to remove, then rows to insert. */
export async function writeCoverage(
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
      since_at: row.since,
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
      since_at: row.since,
      checked_at: row.checked,
    })
}

const deleteFrom = (table: '_coverage' | '_absent') =>
  prepared((db: Kysely<Database>, of: { seriesId: number; geo: Geo; from: Instant }) =>
    db
      .deleteFrom(table)
      .where('series_id', '=', of.seriesId)
      .where('geo_id', '=', of.geo)
      .where('from_at', '=', of.from),
  )
const [deleteCoverage, deleteAbsence] = [deleteFrom('_coverage'), deleteFrom('_absent')]
const insertCoverage = preparedInsert('_coverage', [
  ...(['series_id', 'geo_id', 'from_at', 'to_at', 'state', 'fetched_at', 'settled_s', 'since_at'] as const),
])
const insertAbsence = preparedInsert('_absent', [
  ...(['series_id', 'geo_id', 'from_at', 'to_at', 'step_s', 'missing', 'since_at', 'checked_at'] as const),
])
