import { type Kysely, sql } from 'kysely'
import { dayTotals } from '../tables/dayTotals.ts'
import type { Database } from '../tables/schema.ts'

/** Makes the totals of all days anew, from the values, of the series whose days are counted in a zone. Part of a transaction. */
export async function rebuildDays(db: Kysely<Database>, zone: string): Promise<void> {
  const series = db.selectFrom('series').select('id').where('time_zone', '=', zone)
  await db.deleteFrom('_day').where('series_id', 'in', series).execute()
  const timelines = await db.selectFrom('series_geo').selectAll().where('series_id', 'in', series).execute()
  for (const { series_id, geo_id } of timelines)
    await sql`insert into _day ${sql.raw(dayTotals(series_id, geo_id))}`.execute(db)
}
