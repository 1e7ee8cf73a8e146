import type { Reader } from '../../db/store.ts'
import { seriesName } from '../../reports/seriesName.ts'
import { quantity } from '../../util/text.ts'
import { DAY } from '../../util/time/instant.ts'
import { LONGEST_DAY_S } from '../../util/time/localDay.ts'
import { daysCommand, LONGEST_RANGE_S } from '../commands.ts'
import type { KindRules } from '../kindRules.ts'
import type { Trouble } from '../trouble.ts'
import { daysText, seriesAndGeos } from '../words.ts'

/** Finds series with local days that have more hours of values than a day can have. */
async function findOverlaps({ kysely }: Reader): Promise<Trouble[]> {
  const days = await kysely
    .selectFrom('observations_daily')
    .select(['series_id', 'kind', 'indicator_id', 'time_trunc', 'geo_agg', 'geo_id', 'local_date'])
    .where('hours', '>', LONGEST_DAY_S / 3600)
    .where('count', '>', 1)
    .orderBy('series_id')
    .orderBy('local_date')
    .execute()
  return [...Map.groupBy(days, ({ series_id }) => series_id).values()].map((group): Trouble => {
    const { geo_id, local_date, ...named } = group[0]!
    return {
      kind: 'overlap',
      days: {
        ...named,
        geoIds: [...new Set(group.map(({ geo_id }) => geo_id))],
        days: [local_date, group.at(-1)!.local_date],
        count: new Set(group.map(({ local_date }) => local_date)).size,
      },
      sinceAt: null,
      jobIds: [],
      seriesIds: [named.series_id],
      cause: null,
    }
  })
}

/** Local days have more hours of values than a day can have. */
export const overlap: KindRules<'overlap'> = {
  find: findOverlaps,
  subject: ({ days }) => seriesName(days),
  geoIds: ({ days }) => days.geoIds,
  message: ({ days }, { listNames }) =>
    `${seriesAndGeos(days, listNames)}: ${quantity(days.count, 'day has', 'days have')} more than 25 hours of values, ${daysText(days.days)}`,
  command({ days: { series_id, indicator_id, geoIds, days } }, facts) {
    const job = facts.findJob(series_id, geoIds[0]!)
    const dayAfter = new Date(Date.parse(days[1]) + DAY * 1000).toISOString().slice(0, 10)
    const isLong = Date.parse(days[1]) - Date.parse(days[0]) > LONGEST_RANGE_S * 1000
    return job && !isLong ? daysCommand(facts, job, indicator_id, [days[0], dayAfter], false) : null
  },
}
