import { INDICATOR_KIND, instant, integer, moment, optional, real, rowid, table, text, word } from './declare.ts'

export const series = table(
  'An indicator with the aggregation requested from the service; native series have no time_trunc and no geo_agg.',
  {
    id: rowid('Local id'),
    kind: text(INDICATOR_KIND),
    indicator_id: integer('Indicator (indicator.id)'),
    time_trunc: optional(text('Step grouped by the service (hour, day …); NULL = native')),
    time_agg: optional(text('sum or average over time; NULL = native')),
    geo_agg: optional(text('sum or average over geos; NULL = not combined')),
    geo_trunc: optional(text('Level to which geos were grouped')),
    geo_ids: optional(text('With geo_agg: the combined geos, comma-separated')),
    time_zone: text('Time zone of its local days (time_zone_offset.zone)'),
    window_s: optional(integer('Largest window that the service has answered, in seconds')),
    created_at: moment('First requested'),
    lookback_s: optional(integer('Longest lookback requested so far, in seconds (a month = 31 days, a year = 366)')),
  },
  { key: ['id'], silent: ['created_at'], references: [{ columns: ['kind', 'indicator_id'], of: 'indicator' }] },
)

export const series_geo = table(
  'The geos for which a series has values.',
  {
    series_id: integer('Series (series.id)'),
    geo_id: integer('Geo (geo.id); 0 = none'),
  },
  { key: ['series_id', 'geo_id'], references: [{ columns: ['series_id'], of: 'series' }], withoutRowid: true },
)

export const observation = table(
  'The current value of a series and geo at an instant.',
  {
    series_id: integer('Series (series.id)'),
    geo_id: integer('Geo (geo.id); 0 = none, as in a sum over geos'),
    at: instant('Start of the period'),
    value: optional(real('The value; NULL only if the service sent null')),
    step_s: integer(
      'Length of the period, from the resolution of the response; for irregular events estimated from neighbours, else 3600',
    ),
    fetch_id: integer('Fetch that received this value (_fetch.id)'),
  },
  { key: ['series_id', 'geo_id', 'at'], silent: ['fetch_id'], withoutRowid: true },
)

export const observation_revision = table(
  'A superseded or withdrawn value of a series.',
  {
    series_id: integer('Series (series.id)'),
    geo_id: integer('Geo (geo.id)'),
    at: instant('Start of the period'),
    fetch_id: integer('Fetch that received this value (_fetch.id)'),
    value: optional(real('The value at that time')),
    step_s: integer('Length of the period at that time'),
    superseded_by: integer('Fetch that replaced or withdrew it (_fetch.id)'),
  },
  { key: ['series_id', 'geo_id', 'at', 'fetch_id'], withoutRowid: true },
)

export const _day = table(
  'Totals of a series and geo for each local day, read by observations_daily and observations_monthly.',
  {
    series_id: integer('Series (series.id)'),
    geo_id: integer('Geo (geo.id)'),
    month: integer("12 * year + month - 1, in the series' zone"),
    day: integer('Day of the month, from 1'),
    count: integer('Number of values, without NULL'),
    hours: optional(real('Hours covered; NULL without values')),
    min: optional(real('Smallest value')),
    max: optional(real('Largest value')),
    sum: optional(real('Sum of the values')),
    energy: optional(
      real('Sum of value × hours; NULL if all periods have the same length (then it is sum * hours / count)'),
    ),
    first_s: optional(integer('Seconds from midnight to the first value')),
    last_s: optional(integer('Seconds from the start of the last value to midnight')),
    missing: integer('Missing periods, counted in the shortest step of the day'),
  },
  { key: ['series_id', 'geo_id', 'month', 'day'], withoutRowid: true },
)

export const _resolution = table(
  'Known changes of the step of a series.',
  {
    series_id: integer('Series (series.id)'),
    from_at: instant('First instant with this step'),
    step_s: integer('New step in seconds'),
  },
  { key: ['series_id', 'from_at'], references: [{ columns: ['series_id'], of: 'series' }], withoutRowid: true },
)

/** What the answer for an interval had; `unverified`: the answer is not trusted. */
export type CoveredState = 'values' | 'empty' | 'unverified'

export const _coverage = table(
  'Answered intervals of each series and geo: half-open and disjoint; the row of one geo takes precedence over that of all geos.',
  {
    series_id: integer('Series (series.id)'),
    geo_id: integer('Requested geo; 0 = all'),
    from_at: instant('Start of the interval'),
    to_at: instant('End, exclusive'),
    state: word<CoveredState>('values, empty (the service had none) or unverified (see coverage.state)'),
    fetched_at: instant('Fetch time of its oldest part'),
    settled_s: integer('Longest lookback in seconds for which it was already final when fetched'),
    since_at: optional(instant('Unverified since; NULL if verified')),
  },
  {
    key: ['series_id', 'geo_id', 'from_at'],
    references: [{ columns: ['series_id'], of: 'series' }],
    withoutRowid: true,
  },
)

export const _absent = table(
  'Periods for which a response lacked an expected value.',
  {
    series_id: integer('Series (series.id)'),
    geo_id: integer('Geo (geo.id); 0 = no geo has a value'),
    from_at: instant('Start of the interval'),
    to_at: instant('End, exclusive'),
    step_s: optional(integer('Step there, in seconds; NULL if unknown')),
    missing: optional(integer('Missing periods; NULL if the step is unknown')),
    since_at: instant('First confirmed absent'),
    checked_at: instant('Last confirmed absent'),
  },
  {
    key: ['series_id', 'geo_id', 'from_at'],
    references: [{ columns: ['series_id'], of: 'series' }],
    withoutRowid: true,
  },
)

export const _wanted = table(
  'The range of each series that each job selected when last planned.',
  {
    series_id: integer('Series (series.id)'),
    job: text('Job name'),
    entry: text('Entry of the job file'),
    geo_ids: optional(text('Selected geos, comma-separated; NULL = all')),
    from_at: instant('Start of the range'),
    to_at: instant('End, exclusive'),
    refresh_s: integer('Age in seconds from which data that can still change is fetched again'),
  },
  { key: ['series_id', 'job', 'entry'], references: [{ columns: ['series_id'], of: 'series' }], withoutRowid: true },
)
