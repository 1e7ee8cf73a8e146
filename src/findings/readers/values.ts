import { findDifferentDays, readValuesBeyond } from '../../db/queries/values.ts'
import type { Reader } from '../../db/store.ts'
import { seriesName } from '../../reports/seriesName.ts'
import { quantity } from '../../util/text.ts'
import { formatUtc } from '../../util/time/instant.ts'
import { LONGEST_DAY_S } from '../../util/time/localDay.ts'
import type { Trouble } from '../trouble.ts'

/* Findings for which every value or row is read. */

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

/** A trouble whose facts are a sentence. */
const described = (
  kind: 'out of range' | 'reference' | 'daily totals',
  subject: string,
  what: string,
  seriesIds: readonly number[] = [],
): Trouble => ({ kind, subject, what, sinceAt: null, jobIds: [], seriesIds, cause: null })

/**
 * A larger value is a mistake, such as a wrong unit or joined digits. The largest indicators are sums of years; the electricity of a
 * country in a year is some 10⁸ MWh.
 */
const MAX_CREDIBLE = 1e9

/** Finds series with values that are too large to be right. */
async function findLargeValues({ kysely }: Reader): Promise<Trouble[]> {
  const values = await readValuesBeyond(kysely, MAX_CREDIBLE)
  return [...Map.groupBy(values, ({ series_id }) => series_id).values()].map((group) => {
    const first = group[0]!
    const more = group.length === 1 ? '' : `, and ${quantity(group.length - 1, 'more value', 'more values')}`
    const what = `geo ${first.geo_id}: ${first.value} at ${formatUtc(first.at)}${more}`
    return described('out of range', seriesName(first), what, [first.series_id])
  })
}

/** Finds rows that refer to missing rows, by table. */
async function findDangling({ engine }: Reader): Promise<Trouble[]> {
  const rows = await engine.dangling()
  return [...Map.groupBy(rows, ({ table, parent }) => `${table} ${parent}`).values()].map((group) => {
    const { table, row, parent } = group[0]!
    const more = group.length === 1 ? '' : `, and ${quantity(group.length - 1, 'more row', 'more rows')}`
    return described('reference', table, `row ${row ?? '?'} refers to a missing row of ${parent}${more}`)
  })
}

/** Dates that a finding names. */
const MAX_DATES = 10

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
    const days =
      dates.length === 1 ? '1 day does not match its values' : `${dates.length} days do not match their values`
    const more = dates.length > MAX_DATES ? ` and ${dates.length - MAX_DATES} more` : ''
    const what = `geo ${timeline.geo_id}: the totals of ${days}: ${dates.slice(0, MAX_DATES).join(', ')}${more}`
    troubles.push(described('daily totals', seriesName(timeline), what, [timeline.series_id]))
  }
  return troubles
}

/** Finds values that cannot be right, and rows without the row that they refer to. */
export const findValueTroubles = async (db: Reader): Promise<Trouble[]> => [
  ...(await findOverlaps(db)),
  ...(await findLargeValues(db)),
  ...(await findDangling(db)),
]
