import { findDifferentDays } from '../../db/queries/values.ts'
import type { Reader } from '../../db/store.ts'
import { seriesName } from '../../reports/seriesName.ts'
import type { KindRules } from '../kindRules.ts'
import type { Trouble } from '../trouble.ts'

/** Finds series and geos with days whose totals differ from their values. Reads every value. */
export async function findDifferingDays({ kysely }: Reader): Promise<Trouble[]> {
  const timelines = await kysely
    .selectFrom((eb) =>
      eb
        .selectFrom('series_geo')
        .select(['series_id', 'geo_id'])
        .union(eb.selectFrom('_day').select(['series_id', 'geo_id']).distinct())
        .as('t'),
    )
    .innerJoin('series as s', 's.id', 't.series_id')
    .select(['t.series_id', 't.geo_id', 's.kind', 's.indicator_id', 's.time_trunc', 's.geo_agg'])
    .orderBy('t.series_id')
    .orderBy('t.geo_id')
    .execute()
  const troubles: Trouble[] = []
  for (const timeline of timelines) {
    const dates = await findDifferentDays(kysely, timeline.series_id, timeline.geo_id)
    if (dates.length === 0) continue
    const about = { sinceAt: null, jobIds: [], seriesIds: [timeline.series_id], cause: null }
    troubles.push({ kind: 'daily totals', timeline, dates, ...about })
  }
  return troubles
}

/** The totals of days differ from their values. */
export const dailyTotals: KindRules<'daily totals'> = {
  find: findDifferingDays,
  subject: ({ timeline }) => seriesName(timeline),
  geoIds: ({ timeline }) => [timeline.geo_id],
  message({ timeline, dates }, { listNames }) {
    const days =
      dates.length === 1 ? '1 day does not match its values' : `${dates.length} days do not match their values`
    return `${seriesName(timeline)}, geo ${timeline.geo_id}: the totals of ${days}: ${listNames(dates)}. Another program changed values`
  },
  command: () => 'replay',
}
