import { type Kysely, sql } from 'kysely'
import type { Database } from '../tables/schema.ts'
import { dayTotals, differentDaySql } from '../tables/sql/daySql.ts'

/**
 * Recomputes the totals of all days, from the values, of the series whose days are counted in a zone. Runs inside a transaction.
 */
export async function rebuildDays(db: Kysely<Database>, zone: string): Promise<void> {
  const series = db.selectFrom('series').select('id').where('time_zone', '=', zone)
  await db.deleteFrom('_day').where('series_id', 'in', series).execute()
  const timelines = await db.selectFrom('series_geo').selectAll().where('series_id', 'in', series).execute()
  for (const { series_id, geo_id } of timelines)
    await sql`insert into _day ${sql.raw(dayTotals(series_id, geo_id))}`.execute(db)
}

/** The local days of a series and geo whose totals are not those of its values, in order. */
export async function differentDays(db: Kysely<Database>, series: number, geo: number): Promise<string[]> {
  const { rows } = await sql<{ date: string }>`${sql.raw(differentDaySql(series, geo))}`.execute(db)
  return rows.map(({ date }) => date)
}
