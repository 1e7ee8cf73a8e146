import { sql } from 'kysely'
import type { Reader } from '../db/open.ts'
import { dayTotals } from '../tables/dayTotals.ts'

/** Rounding may take so much of a sum, whichever way its values are added; more is a difference. */
const ROUNDING = '1e-12 * m.count * max(abs(m.min), abs(m.max))'
const EXACT = ['count', 'hours', 'min', 'max', 'first_s', 'last_s', 'missing']

/** The days of a series and geo whose totals are not those of its values. */
const different = (
  series: number,
  geo: number,
): string => `select printf('%04d-%02d-%02d', month / 12, month % 12 + 1, day) as date from (
    select coalesce(m.month, h.month) as month, coalesce(m.day, h.day) as day
    from (${dayTotals(series, geo)}) m
    full join (select * from _day where series_id = ${series} and geo_id = ${geo}) h on h.month = m.month and h.day = m.day
    where ${EXACT.map((column) => `m.${column} is not h.${column}`).join(' or ')}
      or (m.energy is null) <> (h.energy is null) or abs(m.sum - h.sum) > ${ROUNDING} or abs(m.energy - h.energy) > 25 * ${ROUNDING}
  ) order by date`

/** Dates that a finding names one by one. */
const NAMED = 10

/** The series and geos with days whose totals are not those of their values, each in a sentence that names the days. Reads every value. */
export async function differingDays({ kysely }: Reader): Promise<string[]> {
  const timelines = await kysely
    .selectFrom((db) =>
      db
        .selectFrom('series_geo')
        .select(['series_id', 'geo_id'])
        .union(db.selectFrom('_day').select(['series_id', 'geo_id']).distinct())
        .as('t'),
    )
    .leftJoin('series as s', 's.id', 't.series_id')
    .select(['t.series_id as series', 't.geo_id as geo', 's.indicator_id as indicator'])
    .orderBy('t.series_id')
    .orderBy('t.geo_id')
    .execute()
  const found: string[] = []
  for (const { series, geo, indicator } of timelines) {
    const { rows } = await sql<{ date: string }>`${sql.raw(different(series, geo))}`.execute(kysely)
    if (rows.length === 0) continue
    const dates = rows.slice(0, NAMED).map(({ date }) => date)
    const more = rows.length > NAMED ? ` and ${rows.length - NAMED} more` : ''
    const days = rows.length === 1 ? 'the totals of a day are' : `the totals of ${rows.length} days are`
    found.push(
      `indicator ${indicator}, series ${series}, geo ${geo}: ${days} not those of the values: ${dates.join(', ')}${more}; replay makes them anew`,
    )
  }
  return found
}
