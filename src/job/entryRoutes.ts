import type { AnyParams } from '../service/routes.ts'
import type { SeriesIdentity } from './plannedRequest.ts'

/** The route of each part of a job. Entries of `series` and `archives` may set another route of the same shape. */
export const ENTRY_ROUTES = {
  series: 'indicator',
  offers: 'offer_indicator',
  archives: 'archives',
  archivesJson: 'archives_json',
  catalogue: 'indicators',
  widgets: 'widgets',
  widget: 'widget',
} as const

/** The parameters of routes by the keys of entries. */
export const PARAMETER_OF: Readonly<Record<string, string>> = {
  geoIds: 'geo_ids',
  timeTrunc: 'time_trunc',
  timeAgg: 'time_agg',
  geoAgg: 'geo_agg',
  geoTrunc: 'geo_trunc',
  datetime: 'datetime',
  date: 'date',
  dateType: 'date_type',
  taxonomyTerms: 'taxonomy_terms',
  vocabularies: 'vocabularies',
}

type Grouping = Pick<SeriesIdentity, 'timeTrunc' | 'timeAgg' | 'geoAgg' | 'geoTrunc'>

/** The parameters of a series besides its id. `geoIds`: empty for all. */
export const seriesParams = (series: Grouping, geoIds: readonly number[]): AnyParams => ({
  [PARAMETER_OF.timeTrunc!]: series.timeTrunc ?? undefined,
  [PARAMETER_OF.timeAgg!]: series.timeAgg ?? undefined,
  [PARAMETER_OF.geoAgg!]: series.geoAgg ?? undefined,
  [PARAMETER_OF.geoTrunc!]: series.geoTrunc ?? undefined,
  [PARAMETER_OF.geoIds!]: geoIds.length === 0 ? undefined : geoIds,
})
