import { GOOD_OUTCOMES } from '../../db/queries/fetchOutcomes.ts'
import type { Reader } from '../../db/store.ts'
import { seriesName } from '../../reports/seriesName.ts'
import { quantity } from '../../util/text.ts'
import { DAY, formatMillis, type Instant } from '../../util/time/instant.ts'
import { overlaps } from '../../util/time/interval.ts'
import { dayNumber, localDay } from '../../util/time/localDay.ts'
import { localDate } from '../../util/time/zone.ts'
import type { KindRules } from '../kindRules.ts'
import type { Trouble } from '../trouble.ts'
import { daysText, seriesAndGeos } from '../words.ts'

/** Nobody can end this finding, so it ends after a while; the tables keep the values. */
const REPORTED_S = 31 * DAY

/** Reads the windows of the requests since an instant that stored values of a series, by series. */
async function readNewWindows({ kysely }: Reader, since: Instant, series: readonly number[]) {
  const rows = await kysely
    .selectFrom('_fetch')
    .select(['series_id', 'from_at as from', 'to_at as to'])
    .where('series_id', 'in', series)
    .where('outcome', 'in', GOOD_OUTCOMES)
    .where('finished_at', '>', formatMillis(since * 1000))
    .where(({ eb }) => eb(eb('rows_new', '+', eb.ref('rows_revised')), '>', 0))
    .execute()
  return Map.groupBy(
    rows.flatMap(({ series_id, from, to }) => (from === null || to === null ? [] : [{ series_id, from, to }])),
    ({ series_id }) => series_id,
  )
}

/** Finds regular series with values between their periods, in days that were loaded lately. */
async function findStrayValues(db: Reader, now: Instant): Promise<Trouble[]> {
  const rows = await db.kysely
    .selectFrom('_day as d')
    .innerJoin('series_geo as g', (join) =>
      join.onRef('g.series_id', '=', 'd.series_id').onRef('g.geo_id', '=', 'd.geo_id'),
    )
    .innerJoin('series as s', 's.id', 'd.series_id')
    .select(['d.series_id', 'd.geo_id', 'd.month', 'd.day', 'd.step_s', 'd.strays'])
    .select(['s.kind', 's.indicator_id', 's.time_trunc', 's.geo_agg', 's.time_zone'])
    .where('d.strays', '>', 0)
    .where('g.kind', '=', 'regular')
    .$narrowType<{ strays: number }>()
    .orderBy('d.series_id')
    .orderBy('d.month')
    .orderBy('d.day')
    .execute()
  if (rows.length === 0) return []
  const seriesIds = [...new Set(rows.map(({ series_id }) => series_id))]
  const windows = await readNewWindows(db, now - REPORTED_S, seriesIds)
  const stretches = Map.groupBy(
    await db.kysely
      .selectFrom('_cadence')
      .select(['series_id', 'geo_id', 'from_at', 'step_s'])
      .where('series_id', 'in', seriesIds)
      .orderBy('from_at')
      .execute(),
    ({ series_id, geo_id }) => `${series_id} ${geo_id}`,
  )
  const days = rows
    .map((row) => ({ ...row, ...localDay(row.time_zone, dayNumber({ month: row.month, dayOfMonth: row.day })) }))
    .filter(({ series_id, geo_id, from, to, step_s }) => {
      const isNew = windows.get(series_id)?.some((window) => overlaps(window, { from, to })) ?? false
      const ofGeo = stretches.get(`${series_id} ${geo_id}`) ?? []
      // On the day of a change, both steps are native. A thinned day has a step of its own.
      const isChange = ofGeo.some(({ from_at }) => from_at > from && from_at < to)
      const stretch = ofGeo.findLast(({ from_at }) => from_at <= from) ?? ofGeo[0]
      return isNew && !isChange && stretch?.step_s === step_s
    })
  return [...Map.groupBy(days, ({ series_id }) => series_id).values()].map((group): Trouble => {
    const { series_id, kind, indicator_id, time_trunc, geo_agg, time_zone, from } = group[0]!
    return {
      kind: 'off the grid',
      days: {
        series_id,
        kind,
        indicator_id,
        time_trunc,
        geo_agg,
        geoIds: [...new Set(group.map(({ geo_id }) => geo_id))],
        days: [localDate(time_zone, from), localDate(time_zone, group.at(-1)!.from)],
        count: group.reduce((total, { strays }) => total + strays, 0),
      },
      sinceAt: from,
      jobIds: [],
      seriesIds: [series_id],
      cause: null,
    }
  })
}

/** A regular series has values between its periods. */
export const offTheGrid: KindRules<'off the grid'> = {
  find: findStrayValues,
  subject: ({ days }) => seriesName(days),
  geoIds: ({ days }) => days.geoIds,
  message: ({ days }, { listNames }) =>
    `${seriesAndGeos(days, listNames)}: ${quantity(days.count, 'value is', 'values are')} between the periods of the series, ${daysText(days.days)}. They are kept, and stand for no period: compare them with the source. Reported for 31 days`,
  command: null,
}
