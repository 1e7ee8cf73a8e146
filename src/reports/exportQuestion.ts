import { sql } from 'kysely'
import { geoNameColumn, indicatorNameColumn, seriesUnitColumn } from '../db/queries/catalogueNames.ts'
import type { Reader } from '../db/store.ts'
import { isSummedSql } from '../db/tables/sql/expressions.ts'
import { ENTRY_ROUTES } from '../job/entryRoutes.ts'
import { InputError } from '../util/errors.ts'
import type { Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import type { Resampling } from './resample.ts'

/** An end of a range: an instant, or one for the zone of each series. */
type Border = Instant | ((zone: string) => Instant)

/** The values to export, and their version. */
export interface ExportQuestion {
  /** Ids of the indicators. */
  readonly indicators: readonly number[]
  /** The kind of the indicators: the route of their values. Default: `indicator`. */
  readonly kind?: string | undefined
  /** Ids of series, if an indicator has several. Default: all. */
  readonly series?: readonly number[] | undefined
  /** Empty for all. */
  readonly geos: readonly number[]
  /** The first instant. */
  readonly from: Border
  /** The end, exclusive. */
  readonly to: Border
  /** The periods to aggregate to. Default: values as they are. */
  readonly resampling?: Resampling | undefined
  /** UTC, ISO 8601 to the millisecond; null for the current values. */
  readonly asOf: string | null
}

/** Returns the range of a question in a zone. */
export function rangeIn(zone: string, { from, to }: ExportQuestion): Interval {
  const resolve = (border: Border): Instant => (typeof border === 'number' ? border : border(zone))
  return { from: resolve(from), to: resolve(to) }
}

/** Reads the series and geos of a question, in the order of an export. */
export const readExportedSeries = (
  { kysely }: Reader,
  { indicators, kind = ENTRY_ROUTES.series, series = [], geos }: ExportQuestion,
) =>
  kysely
    .selectFrom('series as s')
    .innerJoin('series_geo as g', 'g.series_id', 's.id')
    .select(['s.id as seriesId', 's.kind', 's.indicator_id as indicatorId', 's.time_trunc as timeTrunc'])
    .select(['s.time_agg as timeAgg', 's.geo_agg as geoAgg', 's.geo_trunc as geoTrunc', 's.geo_ids as geoIds'])
    .select(['s.time_zone as zone', 'g.geo_id as geoId'])
    .select([indicatorNameColumn('s.kind', 's.indicator_id'), geoNameColumn('g.geo_id', 'geoName')])
    .select([seriesUnitColumn('s'), sql.raw<0 | 1 | boolean>(isSummedSql('s')).as('isSummed')])
    .where('s.kind', '=', kind)
    .where('s.indicator_id', 'in', indicators)
    .$if(series.length > 0, (query) => query.where('s.id', 'in', series))
    .$if(geos.length > 0, (query) => query.where('g.geo_id', 'in', geos))
    .orderBy('s.kind')
    .orderBy('s.indicator_id')
    .orderBy('s.id')
    .orderBy('g.geo_id')
    .execute()

/** A series of one geo, with the fields that all its rows share. `isSummed`: its values add up over time; others are averaged. */
export type ExportedSeries = Awaited<ReturnType<typeof readExportedSeries>>[number]

/** Throws if no values of an indicator or geo are stored: a file without it would look as if it had no values. */
export async function requireStored(db: Reader, question: ExportQuestion): Promise<void> {
  const allSeries = await readExportedSeries(db, { ...question, series: [], geos: [] })
  const { indicators, kind = ENTRY_ROUTES.series, series = [], geos } = question
  const foreign = series.filter((id) => !allSeries.some(({ seriesId }) => seriesId === id))
  if (foreign.length > 0)
    throw new InputError(`Series ${foreign.join(', ')} is not stored, or of another indicator.`, {
      hint: 'List the stored series: query "select * from freshness".',
      code: 'not-stored',
    })
  const unknown = indicators.filter((id) => !allSeries.some(({ indicatorId }) => indicatorId === id))
  const missing = geos.filter((id) => !allSeries.some(({ geoId }) => geoId === id))
  if (unknown.length + missing.length === 0) return
  const missed = unknown.length > 0 ? `${kind.replaceAll('_', ' ')} ${unknown.join(', ')}` : `geo ${missing.join(', ')}`
  throw new InputError(`No values of ${missed} are stored.`, {
    hint: '`indicator-sync discover` lists stored series with their geos; a job fetches more.',
    code: 'not-stored',
  })
}

/** Says which indicators of an export have several series, and how to choose one; undefined if none has. */
export function severalSeriesText(exported: readonly ExportedSeries[]): string | undefined {
  const byIndicator = Map.groupBy(exported, ({ indicatorId }) => indicatorId)
  const lines = [...byIndicator].flatMap(([indicator, all]) => {
    const series = new Map(all.map((one) => [one.seriesId, one]))
    if (series.size === 1) return []
    const names = [...series.values()].map(({ seriesId, timeTrunc, timeAgg, geoAgg, geoTrunc }) => {
      const aggregates = [timeTrunc, timeAgg, geoAgg && `geos: ${geoAgg}`, geoTrunc].filter((part) => part !== null)
      return `${seriesId} (${aggregates.join(', ') || 'native'})`
    })
    return `Indicator ${indicator} has ${series.size} series, all exported: ${names.join(', ')}.`
  })
  return lines.length > 0 ? `${lines.join('\n')}\nChoose with --series ID.` : undefined
}

/** Names the column of a series and geo. The name contains their whole identity, so it is unique. */
export function columnName(series: ExportedSeries): string {
  const { kind, indicatorId, geoId, timeTrunc, timeAgg, geoAgg, geoTrunc, geoIds } = series
  const isCombined = geoAgg !== null || geoTrunc !== null || geoIds !== null
  return [
    ...(kind === ENTRY_ROUTES.series ? [] : [kind === ENTRY_ROUTES.offers ? 'offer' : kind]),
    indicatorId,
    geoId,
    timeTrunc,
    timeAgg,
    ...(isCombined ? ['geo', geoAgg, geoTrunc] : []),
    ...(geoIds !== null ? ['of', ...geoIds.split(',')] : []),
  ]
    .filter((part) => part !== null)
    .join('_')
}
