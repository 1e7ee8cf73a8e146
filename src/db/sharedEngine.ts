import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Engine, Revision, SeriesRange, ValueAt, ValueVersion } from './engine.ts'
import { prepared } from './prepared.ts'
import { readGeos } from './queries/seriesLookup.ts'
import type { Database } from './tables/schema.ts'
import { dayTotals, differentDaySql } from './tables/sql/daySql.ts'

const isIn = ({ seriesId, geoId, from, to }: SeriesRange): RawBuilder<unknown> =>
  sql`series_id = ${seriesId} and geo_id = ${geoId} and at >= ${from} and at < ${to}`

/** All versions of the values of a range, with the moments between which each was valid. */
const versions = (range: SeriesRange): RawBuilder<unknown> => sql`(
    select v.at, v.value, v.step_s, v.fetch_id, f.finished_at as valid_from, n.finished_at as valid_to
    from (
      select at, value, step_s, fetch_id, null as superseded_by from observation where ${isIn(range)}
      union all
      select at, value, step_s, fetch_id, superseded_by from observation_revision where ${isIn(range)}
    ) v
    join _fetch f on f.id = v.fetch_id
    left join _fetch n on n.id = v.superseded_by
  ) v`

/** The values of a range in order of time: as they are, or as they were known at a moment (UTC to the millisecond). */
export const valuesQuery = (
  range: SeriesRange,
  then: string | null,
): RawBuilder<{ at: number; value: number | null; step: number }> =>
  then === null
    ? sql`select at, value, step_s as step from observation where ${isIn(range)} order by at`
    : sql`select at, value, step_s as step from ${versions(range)}
        where valid_from <= ${then} and (valid_to is null or valid_to > ${then}) order by at`

const firstValuesQuery = (range: SeriesRange): RawBuilder<ValueAt> => sql`select at, value, step_s as step from (
    select v.*, row_number() over (partition by at order by valid_from, fetch_id) as nth from ${versions(range)}
  ) v where nth = 1 order by at`

/*
 * Values as they were known when a fetch had been recorded. Fetches of a series are numbered in the order in which they were
 * recorded, so the two fetch numbers of a row are enough to know when it was valid.
 */
export const knownQuery = (range: SeriesRange, fetchId: number | null): RawBuilder<unknown> =>
  fetchId === null
    ? sql`select at, value, step_s from observation where ${isIn(range)}`
    : sql`select at, value, step_s from observation where ${isIn(range)} and fetch_id <= ${fetchId}
        union all
        select at, value, step_s from observation_revision
        where ${isIn(range)} and fetch_id <= ${fetchId} and superseded_by > ${fetchId}`

const current = prepared((db, { seriesId, geoId, from, to }: SeriesRange) =>
  db
    .selectFrom('observation')
    .select(['at', 'value', 'step_s', 'fetch_id'])
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geoId)
    .where('at', '>=', from)
    .where('at', '<', to)
    .orderBy('at'),
)

const superseded = prepared((db, { seriesId, geoId, from, to }: SeriesRange) =>
  db
    .selectFrom('observation_revision')
    .select(['at', 'value', 'step_s', 'fetch_id', 'superseded_by'])
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geoId)
    .where('at', '>=', from)
    .where('at', '<', to)
    .orderBy('at')
    .orderBy('fetch_id'),
)

const supersedingFetches = prepared((db, { seriesId, geoId, from, to }: SeriesRange) =>
  db
    .selectFrom('observation_revision as r')
    .innerJoin('_fetch as f', 'f.id', 'r.superseded_by')
    .select(['f.id', 'f.finished_at'])
    .distinct()
    .where('r.series_id', '=', seriesId)
    .where('r.geo_id', '=', geoId)
    .where('r.at', '>=', from)
    .where('r.at', '<', to),
)

/**
 * Every time that a value of a range was replaced or withdrawn, after a moment if one is given; the latest first. Both tables are
 * read once, in the order of their keys, and joined here: a lookup of what follows each version takes three times as long.
 */
async function readRevisions(db: Kysely<Database>, range: SeriesRange, after: string | null): Promise<Revision[]> {
  const replaced = await superseded.all(db, range)
  if (replaced.length === 0) return []
  const now = await current.all(db, range)
  const fetches = await supersedingFetches.all(db, range)
  const momentOf = new Map(fetches.map(({ id, finished_at }) => [id, finished_at]))
  const found: Revision[] = []
  let next = 0
  for (const [i, { at, value, superseded_by }] of replaced.entries()) {
    while (next < now.length && now[next]!.at < at) next++
    const successor = [replaced[i + 1], now[next]].find((one) => one?.at === at && one.fetch_id === superseded_by)
    const revisedAt = momentOf.get(superseded_by)!
    if (after === null || revisedAt > after)
      found.push({ at, before: value, after: successor?.value ?? null, withdrawn: successor === undefined, revisedAt })
  }
  // Those of one moment stay in order of time.
  return found.sort((a, b) => (a.revisedAt < b.revisedAt ? 1 : a.revisedAt > b.revisedAt ? -1 : 0))
}

/** Versions of the values of a range that began or ended between two moments, a block a geo. */
async function* readChangedVersions(
  db: Kysely<Database>,
  seriesId: number,
  range: { readonly from: number; readonly to: number },
  { from, to }: { readonly from: string; readonly to: string },
): AsyncGenerator<ValueVersion[]> {
  for (const geoId of (await readGeos(db, seriesId)).sort((a, b) => a - b)) {
    const { rows } = await sql<Omit<ValueVersion, 'geo_id'>>`
      select at, value, step_s, valid_from, valid_to from ${versions({ seriesId, geoId, ...range })}
      where (valid_from > ${from} and valid_from <= ${to}) or (valid_to > ${from} and valid_to <= ${to})
      order by at, valid_from`.execute(db)
    yield rows.map((row) => ({ geo_id: geoId, ...row }))
  }
}

type Shared =
  | ('currentValues' | 'supersededValues' | 'valuesThen' | 'knownValues' | 'revisions' | 'changedVersions')
  | ('rebuildDays' | 'differentDays')

/** The operations that are the same in both databases. */
export const sharedEngine = (db: Kysely<Database>): Pick<Engine, Shared> => ({
  currentValues: async (range) =>
    (await current.all(db, range)).map(({ at, value, step_s, fetch_id }) => [at, value, step_s, fetch_id]),
  supersededValues: async (range) =>
    (await superseded.all(db, range)).map((row) => [row.at, row.value, row.step_s, row.fetch_id, row.superseded_by]),
  async valuesThen(range, then) {
    const query = then === 'first' ? firstValuesQuery(range) : valuesQuery(range, then === 'now' ? null : then)
    return (await query.execute(db)).rows
  },
  knownValues: async (range, fetchId, limit) =>
    (
      await sql<ValueAt>`select at, value, step_s as step from (${knownQuery(range, fetchId)}) v
        order by at limit ${Math.trunc(limit)}`.execute(db)
    ).rows,
  revisions: (range, after) => readRevisions(db, range, after),
  changedVersions: (...question) => readChangedVersions(db, ...question),
  rebuildDays,
  differentDays: (...of) => differentDays(db, ...of),
})

/**
 * Recomputes the totals of all days, from the values, of the series whose days are counted in a zone. Runs inside a transaction.
 */
async function rebuildDays(db: Kysely<Database>, zone: string): Promise<void> {
  const series = db.selectFrom('series').select('id').where('time_zone', '=', zone)
  await db.deleteFrom('_day').where('series_id', 'in', series).execute()
  const timelines = await db.selectFrom('series_geo').selectAll().where('series_id', 'in', series).execute()
  for (const { series_id, geo_id } of timelines)
    await sql`insert into _day ${sql.raw(dayTotals(series_id, geo_id))}`.execute(db)
}

/** The local days of a series and geo whose totals are not those of its values, in order. */
async function differentDays(db: Kysely<Database>, series: number, geo: number): Promise<string[]> {
  const { rows } = await sql<{ date: string }>`${sql.raw(differentDaySql(series, geo))}`.execute(db)
  return rows.map(({ date }) => date)
}
