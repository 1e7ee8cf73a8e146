import type { Reader } from '../db/store.ts'

/** How many dates a finding names. */
const NAMED = 10

/** Finds days whose totals are not those of their values: a sentence for each series and geo, with the days. Reads every value. */
export async function differingDays({ kysely, engine }: Reader): Promise<string[]> {
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
    const all = await engine.differentDays(series, geo)
    if (all.length === 0) continue
    const dates = all.slice(0, NAMED)
    const more = all.length > NAMED ? ` and ${all.length - NAMED} more` : ''
    const days = all.length === 1 ? 'the totals of a day are' : `the totals of ${all.length} days are`
    found.push(
      `indicator ${indicator}, series ${series}, geo ${geo}: ${days} not those of the values: ${dates.join(', ')}${more}; replay makes them anew`,
    )
  }
  return found
}
