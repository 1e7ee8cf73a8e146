import { FETCH_OUTCOMES, type FetchOutcome, type GapReason } from '../codes.ts'
import { flag, instant, integer, optional, pick, text, word } from '../declare.ts'
import { series } from '../series.ts'
import { GEO_COLUMNS, geoNameSql, INDICATOR_COLUMNS, indicatorNameSql, localTimeSql, utcTime } from './expressions.ts'

const INTERVAL_COLUMNS = {
  from_at: instant('Start'),
  to_at: instant('End, exclusive'),
  from_local: text('Start'),
  to_local: text('End, exclusive'),
}

/** The current time, unless another one is given. */
const NOW = "unixepoch('now')"
const MAX_INSTANT = 253402300799

/** Spans with the identity of their series, and their end at an instant. */
const spansSql = (now: string): string => `select s.kind, s.indicator_id, s.time_trunc, s.time_zone, p.*,
        min(coalesce(p.to_at, ${MAX_INSTANT}), coalesce(${now} - p.lag_s, ${MAX_INSTANT})) as end_at
      from _span p join series s on s.id = p.series_id`

/** The stored ranges at an instant, as the view `coverage` has them. */
export const coverageSql = (
  now = NOW,
): string => `select h.series_id, h.kind, h.indicator_id, ${indicatorNameSql('h')}, h.geo_id, h.from_at, h.end_at as to_at,
    ${localTimeSql('h', 'h.from_at')} as from_local,
    ${localTimeSql('h', 'h.end_at')} as to_local,
    case when h.response = 'unverified' then 'unverified' when h.state = 'provisional' then 'provisional'
      when h.response = 'empty' then 'empty' else 'final' end as state, ${utcTime('h.fetched_at')} as fetched_at
  from (${spansSql(now)} where p.response is not null) h`

/** Outcomes as a list in SQL. */
const words = (outcomes: readonly FetchOutcome[]): string => outcomes.map((outcome) => `'${outcome}'`).join(', ')

/** A condition: the row `w` of `_duty` selects the series and geo of an interval; one of some geos does not select all geos. */
export const selectsGeo = (row: string): string =>
  `w.series_id = ${row}.series_id and (w.geo_ids = '' or ',' || w.geo_ids || ',' like '%,' || ${row}.geo_id || ',%')`
/** A condition: the row `w` of `_duty` overlaps an interval of a series and geo that it selects. */
export const selectsPart = (row: string): string =>
  `${selectsGeo(row)} and w.from_at < ${row}.to_at and w.to_at > ${row}.from_at`
/** Missing data of an indicator that the catalogue no longer lists has ended, and is not late. */
const IS_WITHDRAWN = `exists (select 1 from indicator i where i.kind = s.kind and i.id = s.indicator_id and i.withdrawn_at is not null)`

/** The missing data at an instant, as the view `gaps` has it; `accepted`: the accepted gaps instead. */
export const gapsSql = (
  now = NOW,
  accepted = 0,
): string => `select h.series_id, h.kind, h.indicator_id, ${indicatorNameSql('h')}, h.time_trunc, h.geo_id, h.from_at, h.end_at as to_at,
      ${localTimeSql('h', 'h.from_at')} as from_local,
      ${localTimeSql('h', 'h.end_at')} as to_local,
      h.reason, h.step_s, h.missing, ${utcTime('h.since_at')} as since_at,
      case when h.reason not in ('never requested', 'failed') then ${utcTime('h.next_at')} end as next_at, h.job, h.job_id,
      h.tolerated
    from (${spansSql(now)}
      where p.state = 'missing' and p.accepted = ${accepted} and (p.due_at is null or p.due_at <= ${now})
        and not (p.reason = 'late' and ${IS_WITHDRAWN})) h
    where h.from_at < h.end_at`

const FRESHNESS_VIEW = `select s.id as series_id, s.kind, s.indicator_id, ${indicatorNameSql('s')}, g.geo_id,
      ${geoNameSql('g')},
      ${utcTime('a.at')} as first_utc,
      ${utcTime('o.at')} as last_utc, ${localTimeSql('s', 'o.at')} as last_local,
      (select f.finished_at from _fetch f where f.series_id = s.id and f.outcome in (${words(FETCH_OUTCOMES.good)})
         and coalesce(',' || coalesce(f.geo_ids, iif(f.from_at is null and s.geo_agg is null,
           (select group_concat(q.value) from json_each(f.params, '$.geo_ids') q), null)) || ',' like '%,' || g.geo_id || ',%', 1 = 1)
       order by f.finished_at desc limit 1) as checked_at
    from series s
    cross join series_geo g on g.series_id = s.id
    cross join observation a on a.series_id = g.series_id and a.geo_id = g.geo_id and a.at = (
      select min(l.at) from observation l where l.series_id = g.series_id and l.geo_id = g.geo_id
    )
    cross join observation o on o.series_id = g.series_id and o.geo_id = g.geo_id and o.at = (
      select max(l.at) from observation l where l.series_id = g.series_id and l.geo_id = g.geo_id
    )`

/** Views on coverage, gaps and freshness. */
export const COVERAGE_VIEWS = {
  coverage: {
    about:
      'Stored ranges of each series and geo. A range is final if it was fetched when its end was already older than the lookback of the series (the longest of all jobs).',
    columns: {
      ...INDICATOR_COLUMNS,
      geo_id: integer('Geo (geo.id); 0 = all, while no geo is known, and other geos that may exist'),
      ...INTERVAL_COLUMNS,
      state: text(
        'final, provisional (may still be revised), empty (final, no values) or unverified (a stored value was missing from a newer response, or rows of it were invalid; the range is fetched again)',
      ),
      fetched_at: text('Earliest fetch time of any data in the range'),
    },
    sql: coverageSql(),
  },
  gaps: {
    about:
      'Missing data in ranges that a job selects, or that were requested before. Data that is expected later and accepted gaps are left out.',
    columns: {
      ...INDICATOR_COLUMNS,
      ...pick(series, 'time_trunc'),
      geo_id: integer('Geo (geo.id); 0 = all, while no geo is known, and other geos that may exist'),
      ...INTERVAL_COLUMNS,
      reason: word<GapReason>(
        'never requested, failed, unverified (see coverage.state), absent (no row), null (a row without value), withdrawn (taken back), late (nothing came after the last value) or no values (never one)',
      ),
      step_s: optional(integer('Length of a missing period, in seconds; NULL if unknown')),
      missing: optional(integer('Number of missing periods; NULL if unknown')),
      since_at: optional(text('Missing since (UTC); NULL if unknown')),
      next_at: optional(
        text(
          'Earliest next request (UTC); NULL for never requested and failed, which the next run of the job requests, if no job selects it, and for periods that are missing for 255 days',
        ),
      ),
      job: optional(text('First job that selects it; NULL if none')),
      job_id: optional(integer('Its id (_job.id)')),
      tolerated: flag('1 if it is one of a few lost values of a day, which are not a finding'),
    },
    sql: gapsSql(),
  },
  freshness: {
    about: 'First and last value of each series and geo, and the last successful request.',
    columns: {
      ...INDICATOR_COLUMNS,
      ...GEO_COLUMNS,
      first_utc: text('First instant with a value'),
      last_utc: text('Last instant with a value'),
      last_local: text('Last instant with a value'),
      checked_at: optional(text('Time of the last successful request (UTC)')),
    },
    sql: FRESHNESS_VIEW,
  },
} as const
