/** The route of the requests of each part of a job. Entries of `series` and `archives` may name another one of its shape. */
export const ENTRY_ROUTES = {
  series: 'indicator',
  offers: 'offer_indicator',
  archives: 'archives',
  archivesJson: 'archives_json',
  catalogue: 'indicators',
  widgets: 'widgets',
  widget: 'widget',
} as const

/** What the keys of an entry are called as parameters of its route. */
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
