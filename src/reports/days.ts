import type { Reader } from '../db/store.ts'
import { seriesName } from './seriesName.ts'

/** How many dates a finding names. */
const MAX_NAMED_DATES = 10

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
    .innerJoin('series as s', 's.id', 't.series_id')
    .select(['t.series_id', 't.geo_id', 's.kind', 's.indicator_id', 's.time_trunc', 's.geo_agg'])
    .orderBy('t.series_id')
    .orderBy('t.geo_id')
    .execute()
  const found: string[] = []
  for (const timeline of timelines) {
    const { series_id, geo_id } = timeline
    const all = await engine.differentDays(series_id, geo_id)
    if (all.length === 0) continue
    const dates = all.slice(0, MAX_NAMED_DATES)
    const more = all.length > MAX_NAMED_DATES ? ` and ${all.length - MAX_NAMED_DATES} more` : ''
    const days = all.length === 1 ? 'the totals of a day are' : `the totals of ${all.length} days are`
    found.push(
      `${seriesName(timeline)}, geo ${geo_id}: ${days} not those of the values: ${dates.join(', ')}${more}; replay makes them anew`,
    )
  }
  return found
}
