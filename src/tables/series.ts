import { INDICATOR_KIND, instant, integer, moment, optional, real, rowid, table, text, word } from './declare.ts'

export const series = table(
  'An indicator together with the aggregation it was requested with. Raw values have no time_trunc and no geo_agg.',
  {
    id: rowid('Our number for it'),
    kind: text(INDICATOR_KIND),
    indicator_id: integer('The indicator (indicator.id)'),
    time_trunc: optional(text('The step that the service grouped by; NULL for the native step')),
    time_agg: optional(text('How it combined the values of a step: sum or average')),
    geo_agg: optional(text('How it combined geos: sum or average')),
    geo_trunc: optional(text('The level to which it grouped geos')),
    geo_ids: optional(text('With geo_agg only: the geos that went in, in order, separated by commas')),
    time_zone: text('The zone in which its days are counted (time_zone_offset.zone)'),
    window_s: optional(integer('The largest window that the service was seen to answer well, in seconds')),
    created_at: moment('When it was first requested'),
    lookback_s: optional(
      integer('The longest lookback that it was ever requested with, in seconds; a month counts 31 days, a year 366'),
    ),
  },
  { key: ['id'], silent: ['created_at'], references: [{ columns: ['kind', 'indicator_id'], of: 'indicator' }] },
)

export const series_geo = table(
  'The geos that a series has values for.',
  {
    series_id: integer('The series'),
    geo_id: integer('The geo; 0 where the service names none'),
  },
  { key: ['series_id', 'geo_id'], references: [{ columns: ['series_id'], of: 'series' }], withoutRowid: true },
)

export const observation = table(
  'The current value of a series at an instant.',
  {
    series_id: integer('The series'),
    geo_id: integer('The geo (geo.id); 0 where the service names none, as for a sum over geos'),
    at: instant('When the period begins'),
    value: optional(real("The value in the indicator's own unit; NULL only where the service sent null")),
    step_s: integer(
      'Length of the period in seconds: the resolution of the answer in which it came; for events, which follow no step, a guess: that of stored neighbours, else an hour',
    ),
    fetch_id: integer('The fetch that brought this value (_fetch.id)'),
  },
  { key: ['series_id', 'geo_id', 'at'], silent: ['fetch_id'], withoutRowid: true },
)

export const observation_revision = table(
  'A superseded or withdrawn value of a series.',
  {
    series_id: integer('The series'),
    geo_id: integer('The geo'),
    at: instant('When the period begins'),
    fetch_id: integer('The fetch that brought this value (_fetch.id)'),
    value: optional(real('The value then')),
    step_s: integer('Length of the period then, in seconds'),
    superseded_by: integer(
      'The fetch that brought another value, or whose complete answer no longer held it (_fetch.id)',
    ),
  },
  { key: ['series_id', 'geo_id', 'at', 'fetch_id'], withoutRowid: true },
)

export const _day = table(
  'Totals of the values of a series and geo in a local day, in which their periods begin; observations_daily and observations_monthly read them.',
  {
    series_id: integer('The series'),
    geo_id: integer('The geo'),
    month: integer("The month in the series' zone: twelve times the year, and 0 for January to 11 for December"),
    day: integer('The day of the month, from 1'),
    count: integer('Values that are not null'),
    hours: optional(real('Hours that they cover; NULL without any')),
    min: optional(real('The smallest value')),
    max: optional(real('The largest value')),
    sum: optional(real('The plain sum')),
    energy: optional(
      real(
        'The sum of value times hours; NULL where all values last equally long, because there it is sum * hours / count',
      ),
    ),
    first_s: optional(integer('From the beginning of the day to that of its first value, in seconds')),
    last_s: optional(integer('From the beginning of its last value to the end of the day, in seconds')),
    missing: integer('Periods, as long as the shortest one of the day, that have no value'),
  },
  { key: ['series_id', 'geo_id', 'month', 'day'], withoutRowid: true },
)

export const _resolution = table(
  'The step of a series from an instant on, where it is known that the service changed it.',
  {
    series_id: integer('The series'),
    from_at: instant('First instant with this step'),
    step_s: integer('Seconds'),
  },
  { key: ['series_id', 'from_at'], references: [{ columns: ['series_id'], of: 'series' }], withoutRowid: true },
)

/** What the answer for an interval had; `doubt`: the answer is not trusted. */
export type CoveredState = 'values' | 'empty' | 'doubt'

export const _coverage = table(
  'What was answered of a series, and when: disjoint half-open intervals of each geo. Rows of a geo are newer than those of all geos.',
  {
    series_id: integer('The series'),
    geo_id: integer('The geo that was requested; 0 when all were'),
    from_at: instant('First instant that was answered'),
    to_at: instant('First instant after it'),
    state: word<CoveredState>('values, empty (the service had nothing), or doubt (the answer is not trusted)'),
    fetched_at: instant('When the part of it that was fetched longest ago was fetched'),
    settled_s: integer(
      'The longest lookback, in seconds, for which every part of it was past revision when it was fetched',
    ),
    since_at: optional(instant('Since when it is in doubt; NULL when it is not')),
  },
  {
    key: ['series_id', 'geo_id', 'from_at'],
    references: [{ columns: ['series_id'], of: 'series' }],
    withoutRowid: true,
  },
)

export const _absent = table(
  'Periods inside answered windows for which the step of the series promises a value and none came.',
  {
    series_id: integer('The series'),
    geo_id: integer('The geo; 0 when nothing came for any'),
    from_at: instant('First instant without a value'),
    to_at: instant('First instant after it'),
    step_s: optional(integer('Length of a period there, in seconds; NULL when no value shows it')),
    missing: optional(integer('How many periods are missing; NULL when no value shows the step')),
    since_at: instant('When it was first past revision and absent'),
    checked_at: instant('When it was last found absent'),
  },
  {
    key: ['series_id', 'geo_id', 'from_at'],
    references: [{ columns: ['series_id'], of: 'series' }],
    withoutRowid: true,
  },
)

export const _wanted = table(
  'What every job wanted of a series when it was last planned: nothing outside of it is requested by any job.',
  {
    series_id: integer('The series'),
    job: text('The job'),
    entry: text('The place in the job file'),
    geo_ids: optional(text('The geos it wants, separated by commas; NULL for all')),
    from_at: instant('First instant that it wants'),
    to_at: instant('First instant after it'),
  },
  { key: ['series_id', 'job', 'entry'], references: [{ columns: ['series_id'], of: 'series' }], withoutRowid: true },
)
