import { type Kysely, type RawBuilder, sql } from 'kysely'
import { type DayStep, findDayStep } from '../../util/time/dayStep.ts'
import { dayIntervalAt, dayNumber, localDay } from '../../util/time/localDay.ts'
import type { Blocks, LocatedValue, SeriesRange, ValueAt, ValueVersion } from '../engine.ts'
import { prepareQuery } from '../prepared.ts'
import type { Database } from '../tables/schema.ts'
import { dayTotals, differentDaySql } from '../tables/sql/daySql.ts'
import { readGeos } from './seriesLookup.ts'

const isIn = ({ seriesId, geoId, from, to }: SeriesRange): RawBuilder<unknown> =>
  sql`series_id = ${seriesId} and geo_id = ${geoId} and at >= ${from} and at < ${to}`

/** All versions of the values of a range, with the times from which and until which each was valid. */
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

/** The values of a range in order of time: now, or as of a time (UTC to the millisecond). */
export const valuesQuery = (
  range: SeriesRange,
  asOf: string | null,
): RawBuilder<{ at: number; value: number | null; step: number }> =>
  asOf === null
    ? sql`select at, value, step_s as step from observation where ${isIn(range)} order by at`
    : sql`select at, value, step_s as step from ${versions(range)}
        where valid_from <= ${asOf} and (valid_to is null or valid_to > ${asOf}) order by at`

/*
 * The values as of a fetch. Fetches of a series are numbered in the order of their records, so the two fetch numbers of a row
 * show when it was valid.
 */
export const valuesAsOfFetch = (range: SeriesRange, fetchId: number | null): RawBuilder<unknown> =>
  fetchId === null
    ? sql`select at, value, step_s from observation where ${isIn(range)}`
    : sql`select at, value, step_s from observation where ${isIn(range)} and fetch_id <= ${fetchId}
        union all
        select at, value, step_s from observation_revision
        where ${isIn(range)} and fetch_id <= ${fetchId} and superseded_by > ${fetchId}`

/** All values of a range with their fetches, in order of time. */
export const currentValues = prepareQuery((db, { seriesId, geoId, from, to }: SeriesRange) =>
  db
    .selectFrom('observation')
    .select(['at', 'value', 'step_s', 'fetch_id'])
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geoId)
    .where('at', '>=', from)
    .where('at', '<', to)
    .orderBy('at'),
)

/** All superseded and withdrawn values of a range, in order of time. */
export const supersededValues = prepareQuery((db, { seriesId, geoId, from, to }: SeriesRange) =>
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

/** The first values of a range in order of time: now, or as of a fetch. */
export async function readKnownValues(
  db: Kysely<Database>,
  range: SeriesRange,
  fetchId: number | null,
  limit: number,
): Promise<ValueAt[]> {
  const { rows } = await sql<ValueAt>`select at, value, step_s as step from (${valuesAsOfFetch(range, fetchId)}) v
        order by at limit ${Math.trunc(limit)}`.execute(db)
  return rows
}

/** Reads the versions of values of a series that began or ended between two times, one block per geo, in order of time. */
export async function* readChangedVersions(
  db: Kysely<Database>,
  seriesId: number,
  range: { readonly from: number; readonly to: number },
  { from, to }: { readonly from: string; readonly to: string },
): Blocks<ValueVersion> {
  for (const geoId of (await readGeos(db, seriesId)).sort((a, b) => a - b)) {
    const { rows } = await sql<Omit<ValueVersion, 'geo_id'>>`
      select at, value, step_s, valid_from, valid_to from ${versions({ seriesId, geoId, ...range })}
      where (valid_from > ${from} and valid_from <= ${to}) or (valid_to > ${from} and valid_to <= ${to})
      order by at, valid_from`.execute(db)
    yield rows.map((row) => ({ geo_id: geoId, ...row }))
  }
}

/** Columns of `_day` that SQL computes. */
const TOTALS = 'series_id, geo_id, month, day, count, hours, min, max, sum, energy, first_s, last_s, missing'

/** Recomputes all daily totals of the series of a time zone from their values. Runs inside a transaction. */
export async function rebuildDays(db: Kysely<Database>, zone: string): Promise<void> {
  const series = db.selectFrom('series').select('id').where('time_zone', '=', zone)
  await db.deleteFrom('_day').where('series_id', 'in', series).execute()
  const timelines = await db.selectFrom('series_geo').selectAll().where('series_id', 'in', series).execute()
  for (const { series_id, geo_id } of timelines) {
    await sql`insert into _day (${sql.raw(TOTALS)}) ${sql.raw(dayTotals(series_id, geo_id))}`.execute(db)
    await writeDaySteps(db, zone, series_id, geo_id)
  }
}

/** Writes the steps of the days of a series and geo, which take a loop over the values. */
async function writeDaySteps(db: Kysely<Database>, zone: string, seriesId: number, geoId: number): Promise<void> {
  const days = await db
    .selectFrom('_day')
    .select(['month', 'day'])
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geoId)
    .where('count', '>', 0)
    .execute()
  for (const { month, day } of days) {
    const whole = localDay(zone, dayNumber({ month, dayOfMonth: day }))
    const values = await currentValues.all(db, { seriesId, geoId, from: whole.from, to: whole.to })
    // If the clocks go back over midnight, values of two local days alternate.
    const inDay = values.filter(({ at, value }) => value !== null && dayIntervalAt(zone, at).day === whole.day)
    const { step, offset, strays } = findDayStep(
      zone,
      whole,
      inDay.map(({ at }) => at),
    )
    if (step !== null) await updateDayStep.run(db, { seriesId, geoId, month, day, step, offset, strays })
  }
}

interface DayStepRow extends DayStep {
  readonly seriesId: number
  readonly geoId: number
  readonly month: number
  readonly day: number
}

const updateDayStep = prepareQuery((db, { seriesId, geoId, month, day, step, offset, strays }: DayStepRow) =>
  db
    .updateTable('_day')
    .set({ step_s: step, offset_s: offset, strays })
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geoId)
    .where('month', '=', month)
    .where('day', '=', day),
)

/** Finds the local days (`YYYY-MM-DD`) of a series and geo whose totals differ from its values, in order. Reads every value. */
export async function findDifferentDays(db: Kysely<Database>, series: number, geo: number): Promise<string[]> {
  const { rows } = await sql<{ date: string }>`${sql.raw(differentDaySql(series, geo))}`.execute(db)
  return rows.map(({ date }) => date)
}

/**
 * The values larger than a limit, of either sign. Days narrow the search: a value is at most a day and a half from the midnight
 * (UTC) of its day.
 */
export async function readValuesBeyond(db: Kysely<Database>, limit: number): Promise<LocatedValue[]> {
  const { rows } = await sql<LocatedValue>`
    select distinct s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.geo_agg, o.geo_id, o.value, o.at
    from (
      select series_id, geo_id, unixepoch(printf('%04d-%02d-%02d', month / 12, month % 12 + 1, day)) as midnight
      from _day where max > ${limit} or min < ${-limit}
    ) d
    join series s on s.id = d.series_id
    cross join observation o
    where o.series_id = d.series_id and o.geo_id = d.geo_id and o.at between d.midnight - 129600 and d.midnight + 216000
      and abs(o.value) > ${limit}`.execute(db)
  return rows
}
