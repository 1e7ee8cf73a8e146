import {
  INDICATOR_KIND,
  instant,
  integer,
  json,
  moment,
  optional,
  real,
  rowid,
  smallInteger,
  table,
  text,
  word,
} from './declare.ts'

export const series = table(
  'A time series of an indicator, native or aggregated by the service. Native series have no time_trunc and no geo_agg.',
  {
    id: rowid('Local id'),
    kind: text(INDICATOR_KIND),
    indicator_id: integer('Indicator (indicator.id)'),
    time_trunc: optional(text('Time step of the aggregation by the service (hour, day …); NULL = none')),
    time_agg: optional(text('Aggregation over time: sum or average; NULL = none')),
    geo_agg: optional(text('Aggregation over geos: sum or average; NULL = none')),
    geo_trunc: optional(text('Geographic level of the aggregation')),
    geo_ids: optional(text('Aggregated geos, comma-separated; NULL without geo_agg')),
    time_zone: text('Time zone of its local days (time_zone_offset.zone)'),
    window_s: optional(
      integer(
        'Largest window to request, in seconds, learned from windows that were too large; NULL if no limit is known',
      ),
    ),
    created_at: moment('First requested'),
    lookback_s: optional(integer('Longest lookback requested so far, in seconds (a month = 31 days, a year = 366)')),
    expect: optional(
      text('Cadence that a job expects instead of that of its values, such as 15m or irregular; NULL = none'),
    ),
  },
  { key: ['id'], silent: ['created_at'], references: { indicator: ['kind', 'indicator_id'] } },
)

/**
 * Which periods a timeline (a series and geo) publishes. `regular`: every one. `daily`: irregular, but some value every day.
 * `irregular`: nothing is expected.
 */
export type CadenceKind = 'regular' | 'daily' | 'irregular'
const CADENCE_KIND = 'regular (a value in every period), daily (irregular, but some value every day) or irregular'

export const series_geo = table(
  'The geos for which a series has values.',
  {
    series_id: integer('Series (series.id)'),
    geo_id: integer('Geo (geo.id); 0 = none'),
    first_at: optional(
      instant('Start of the first period with a value other than NULL, also if that was final and is withdrawn'),
    ),
    last_at: optional(instant('Start of the last period with a value other than NULL')),
    step_s: optional(integer('Length of the last period')),
    kind: optional(
      word<CadenceKind>(`Cadence of the last stretch: ${CADENCE_KIND}; NULL until it is judged, after a migration`),
    ),
  },
  { key: ['series_id', 'geo_id'], references: { series: ['series_id'] }, withoutRowid: true },
)

export const observation = table(
  'A current value.',
  {
    series_id: smallInteger('Series (series.id)'),
    geo_id: smallInteger('Geo (geo.id); 0 = none, as in a total of all geos'),
    at: instant('Start of the period'),
    value: optional(real('Value; NULL only if the service sent null')),
    step_s: smallInteger(
      'Length of the period. For irregular events it is estimated from neighbouring values; 3600 if there are none',
    ),
    fetch_id: smallInteger('Fetch that received this value (_fetch.id)'),
  },
  { key: ['series_id', 'geo_id', 'at'], silent: ['fetch_id'], withoutRowid: true },
)

export const observation_revision = table(
  'A superseded or withdrawn value.',
  {
    series_id: smallInteger('Series (series.id)'),
    geo_id: smallInteger('Geo (geo.id)'),
    at: instant('Start of the period'),
    fetch_id: smallInteger('Fetch that received this value (_fetch.id)'),
    value: optional(real('Value of this version')),
    step_s: smallInteger('Length of the period in this version'),
    superseded_by: smallInteger('Fetch that replaced or withdrew it (_fetch.id)'),
  },
  { key: ['series_id', 'geo_id', 'at', 'fetch_id'], withoutRowid: true },
)

export const _day = table(
  'Daily totals of each series and geo, read by observations_daily and observations_monthly.',
  {
    series_id: integer('Series (series.id)'),
    geo_id: integer('Geo (geo.id)'),
    month: integer("12 * year + month - 1, in the series' zone"),
    day: integer('Day of the month, from 1'),
    count: integer('Number of non-NULL values'),
    hours: optional(real('Hours covered; NULL without values')),
    min: optional(real('Minimum')),
    max: optional(real('Maximum')),
    sum: optional(real('Sum of values')),
    energy: optional(
      real('Sum of value × hours; NULL if all periods have the same length, because it is then sum * hours / count'),
    ),
    first_s: optional(integer('Seconds from midnight to the first value')),
    last_s: optional(integer('Seconds from the start of the last value to midnight')),
    missing: integer('Number of missing periods, counted in the shortest step of the day'),
    step_s: optional(integer('Finest step of which the day has values in 7/8 of the periods; NULL if there is none')),
    offset_s: optional(integer('Local seconds from a border of that step to its periods')),
    strays: optional(integer('Number of values that are off these periods')),
  },
  { key: ['series_id', 'geo_id', 'month', 'day'], withoutRowid: true },
)

export const _resolution = table(
  'Known changes of resolution of a series.',
  {
    series_id: integer('Series (series.id)'),
    from_at: instant('First instant with the new step'),
    step_s: integer('New step in seconds'),
  },
  { key: ['series_id', 'from_at'], references: { series: ['series_id'] }, withoutRowid: true },
)

export const _cadence = table(
  'Which periods each series and geo publishes. A row holds until the next one of its series and geo.',
  {
    series_id: integer('Series (series.id)'),
    geo_id: integer('Geo (geo.id)'),
    from_at: instant('First instant; the first row also holds before it'),
    kind: word<CadenceKind>(CADENCE_KIND),
    step_s: optional(integer('Length of a period; NULL unless regular')),
    anchor_at: optional(instant('Start of one of the periods; NULL unless regular')),
    fetch_id: integer('Fetch that showed it (_fetch.id)'),
  },
  { key: ['series_id', 'geo_id', 'from_at'], references: { series: ['series_id'] }, withoutRowid: true },
)

export const _withdrawal = table(
  'Days of which a response lacked many stored final values. They are withdrawn when a second response says the same.',
  {
    series_id: integer('Series (series.id)'),
    geo_id: integer('Geo (geo.id)'),
    from_at: instant('Start of the day'),
    fetch_id: integer('Fetch that first lacked the values (_fetch.id)'),
    to_at: instant('End of the day, exclusive'),
    since_at: instant('Time of that fetch'),
    confirmed_by: optional(integer('Fetch after which the values were withdrawn (_fetch.id); NULL while unconfirmed')),
  },
  {
    key: ['series_id', 'geo_id', 'from_at', 'fetch_id'],
    references: { series: ['series_id'] },
    withoutRowid: true,
  },
)

/** The content of the response for an interval; `unverified`: it is not trusted. */
export type CoveredState = 'values' | 'empty' | 'unverified'

export const _coverage = table(
  'Intervals of each series and geo for which a response was loaded. They never overlap. The row of a geo takes precedence over that of all geos.',
  {
    series_id: integer('Series (series.id)'),
    geo_id: integer('Requested geo; 0 = all'),
    from_at: instant('Start of the interval'),
    to_at: instant('End, exclusive'),
    state: word<CoveredState>('values, empty (the service had no values) or unverified (see coverage.state)'),
    fetched_at: instant('Earliest fetch time of any data in the range'),
    settled_s: integer('Longest lookback, in seconds, for which the data was settled when fetched'),
    since_at: optional(instant('Unverified since; NULL if verified')),
  },
  { key: ['series_id', 'geo_id', 'from_at'], references: { series: ['series_id'] }, withoutRowid: true },
)

/** Why a period has no value: no row, a row with NULL, or a value that the service took back. */
export type MissingReason = 'absent' | 'null' | 'withdrawn'

export const _absent = table(
  'Periods without a value that follow each other, by the cadence of the series and geo, between its first and last value.',
  {
    series_id: integer('Series (series.id)'),
    geo_id: integer('Geo (geo.id)'),
    from_at: instant('Start of the first period'),
    to_at: instant('End of the last period'),
    step_s: optional(integer('Length of a missing period; NULL if some value every day is expected')),
    missing: optional(integer('Number of missing periods; NULL if some value every day is expected')),
    reason: word<MissingReason>(
      'absent (no row), null (a row with NULL) or withdrawn (the service took the value back)',
    ),
    since_at: instant('First found missing while it could no longer be published'),
    checked_at: instant('Last found missing'),
  },
  { key: ['series_id', 'geo_id', 'from_at'], references: { series: ['series_id'] }, withoutRowid: true },
)

export const _duty = table(
  'What each job requires of each series. A period that was once selected stays required until its window, indicator or geo is edited away.',
  {
    series_id: integer('Series (series.id)'),
    job_id: integer('Job (_job.id)'),
    geo_ids: text('Selected geos in ascending order, comma-separated; empty = all'),
    window_text: text('Window as normalized, such as 2025-01-01..+1d; empty if an older version recorded it'),
    entry: text('Entry of the job file, for messages'),
    time_zone: text('Time zone of the job, in which the window is resolved'),
    from_at: instant('Earliest start that the window ever had'),
    to_at: instant('End of the window when the job was last stored, exclusive'),
    lookback_s: integer('Age, in seconds, up to which data may be revised (a month = 31 days, a year = 366)'),
    earlier_lookbacks: optional(
      json(
        'Shorter lookbacks that still apply to older data: [{ "before": epoch seconds, "lookbackS": seconds }]; NULL = none',
      ),
    ),
    refresh_s: integer('Age, in seconds, at which data that can still change is fetched again'),
    expect: optional(text('Cadence that the job expects, such as 15m or irregular; NULL = by the stored values')),
    selector: optional(json('Selection by the catalogue to which the series belongs; NULL = the job lists the id')),
    since_at: instant('First required'),
  },
  {
    key: ['series_id', 'job_id', 'geo_ids', 'window_text'],
    references: { series: ['series_id'] },
    withoutRowid: true,
  },
)
