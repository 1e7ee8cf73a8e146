import { DAY, HOUR } from '../../../util/time/instant.ts'
import { ALL_GEOS, FETCH_OUTCOMES, type FetchOutcome, type GapReason, NOT_FAILED_OUTCOMES } from '../codes.ts'
import { instant, integer, optional, pick, text, word } from '../declare.ts'
import { series } from '../series.ts'
import {
  GEO_COLUMNS,
  geoNameSql,
  INDICATOR_COLUMNS,
  indicatorNameSql,
  localTimeSql,
  offsetSql,
  utcTime,
} from './expressions.ts'

const INTERVAL_COLUMNS = {
  from_at: instant('Start'),
  to_at: instant('End, exclusive'),
  from_local: text('Start'),
  to_local: text('End, exclusive'),
}

/** The lookback of a series; default: two days, as in jobs. */
const LOOKBACK = 'coalesce(s.lookback_s, 172800)'
/** The columns that identify a timeline. Conditions on them reach the tables below the window functions. */
const TIMELINE_COLUMNS = 'series_id, kind, indicator_id, time_trunc, time_zone, geo_id'

/** The geo whose last period shows the length of the periods of a series. */
const FIRST_GEO = '(select min(g.geo_id) from series_geo g where g.series_id = s.id)'
const months = (at: string): string => `(strftime('%Y', ${at}, 'unixepoch') * 12 + strftime('%m', ${at}, 'unixepoch'))`
/**
 * Whether the last period of a series is a calendar period: its length is in a range of days, and it starts at a calendar
 * border.
 */
const lasts = (least: number, most: number, border: string, time: string): string =>
  `d.step_s between ${least * DAY - HOUR} and ${most * DAY + HOUR} and strftime('${border}', d.last_s, 'unixepoch') = '${time}'`

/** The start of the week, month, quarter or year of a local day, if that is the period of the series; else the day. */
const PERIOD_START = `case when ${lasts(7, 7, '%H:%M:%S', '00:00:00')} then d.day_s - ((d.day_s - d.last_s) / ${DAY} % 7 + 7) % 7 * ${DAY}
          when ${lasts(28, 31, '%d %H:%M:%S', '01 00:00:00')} then unixepoch(d.day_s, 'unixepoch', 'start of month')
          when ${lasts(90, 92, '%d %H:%M:%S', '01 00:00:00')} then unixepoch(d.day_s, 'unixepoch', 'start of month',
            '-' || ((${months('d.day_s')} - ${months('d.last_s')}) % 3 + 3) % 3 || ' months')
          when ${lasts(365, 366, '%m-%d %H:%M:%S', '01-01 00:00:00')} then unixepoch(d.day_s, 'unixepoch', 'start of year')
          else d.day_s end`

/** The rows of coverage, each with the instant before which it is final for the longest lookback of its series. */
const WITH_BORDER = `select c.*, case when c.state = 'unverified' or c.settled_s >= c.lookback_s then c.to_at
        else max(c.from_at, min(c.to_at, c.local_border - ${offsetSql('c', `c.local_border - ${offsetSql('c', 'c.seen_at')}`)})) end as border
      from (
        select d.*, case d.time_trunc when 'month' then unixepoch(d.day_s, 'unixepoch', 'start of month')
            when 'year' then unixepoch(d.day_s, 'unixepoch', 'start of year')
            else ${PERIOD_START} end as local_border
        from (
          select b.*, unixepoch(b.local_s, 'unixepoch', 'start of day') as day_s
          from (
            select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, v.geo_id, v.from_at, v.to_at, v.state,
              v.fetched_at, v.settled_s, ${LOOKBACK} as lookback_s, v.fetched_at - ${LOOKBACK} as seen_at,
              v.fetched_at - ${LOOKBACK} + ${offsetSql('s', `v.fetched_at - ${LOOKBACK}`)} as local_s,
              p.step_s, p.at + ${offsetSql('s', 'p.at')} as last_s
            from series s join _coverage v on v.series_id = s.id
            left join observation p on p.series_id = s.id and p.geo_id = ${FIRST_GEO} and p.at = (
              select max(o.at) from observation o where o.series_id = s.id and o.geo_id = ${FIRST_GEO})
          ) b
        ) d
      ) c`

/**
 * Merges adjacent rows of a timeline that have the same value in a column. It uses window functions instead of `group by`:
 * a condition on a series passes through windows that are partitioned by it, and does not pass through groups.
 */
const islands = (rows: string, column: string): string => `select * from (
      select p.*, max(p.to_at) over island as end_at, min(p.fetched_at) over island as oldest_at
      from (
        select m.*, sum(m.fresh) over (partition by ${TIMELINE_COLUMNS} order by from_at) as stretch
        from (
          select q.*, not coalesce(lag(q.to_at) over line = q.from_at and lag(q.${column}) over line = q.${column}, false) as fresh
          from (
            ${rows}
          ) q
          window line as (partition by ${TIMELINE_COLUMNS} order by from_at)
        ) m
      ) p
      window island as (partition by ${TIMELINE_COLUMNS}, stretch)
    ) i where fresh`

// `with` saves a level of nesting: the SQLite in DuckDB's extension parses at most a hundred.
const COVERAGE_VIEW = `with judged as not materialized (${WITH_BORDER})
  select h.series_id, h.kind, h.indicator_id, ${indicatorNameSql('h')}, h.geo_id, h.from_at, h.end_at as to_at,
    ${localTimeSql('h', 'h.from_at')} as from_local,
    ${localTimeSql('h', 'h.end_at')} as to_local,
    h.state, ${utcTime('h.oldest_at')} as fetched_at
  from (
    ${islands(
      `select ${TIMELINE_COLUMNS}, from_at, border as to_at, iif(state = 'values', 'final', state) as state, fetched_at
            from judged where from_at < border
            union all
            select ${TIMELINE_COLUMNS}, border, to_at, 'provisional', fetched_at
            from judged where border < to_at`,
      'state',
    )}
  ) h`

/** Outcomes as a list in SQL. */
const words = (outcomes: readonly FetchOutcome[]): string => outcomes.map((outcome) => `'${outcome}'`).join(', ')

/** A failed request, as `f`. */
const FAILED = `f.outcome not in (${words(NOT_FAILED_OUTCOMES)}) and f.from_at is not null`
const SERIES_SELECT = 's.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone'

/** A request, as `f`, whose response mixed resolutions and was not used. Parts without a response of their own are still open. */
const COARSE = `f.outcome = ${words(FETCH_OUTCOMES.coarse)} and f.from_at is not null`

/**
 * Geos with rows of their own. `single`: requested individually. A geo that a job only selects, or that is only unverified after a
 * response for all geos, also has the coverage of all geos.
 */
const SINGLE = `select series_id, geo_id, iif(state <> 'unverified' or not exists (
              select 1 from _coverage l where l.series_id = k.series_id and l.geo_id = ${ALL_GEOS} and l.from_at <= k.from_at and l.to_at >= k.to_at
            ), 1, 0) as single from _coverage k where geo_id <> ${ALL_GEOS}
            union select f.series_id, g.value, 1 from _fetch f, json_each('[' || f.geo_ids || ']') g where ${FAILED} and f.series_id is not null
            union select f.series_id, g.value, 1 from _fetch f, json_each('[' || f.geo_ids || ']') g where ${COARSE} and f.series_id is not null
            union select w.series_id, g.value, 0 from _duty w, json_each('[' || w.geo_ids || ']') g`

/** Failed requests for all geos and for single geos; those for all geos also appear for each geo that they concern. */
const failedRequests = (
  condition: string,
): string => `select ${SERIES_SELECT}, ${ALL_GEOS}, f.from_at, f.to_at, 0, 1, 0, 1
          from series s cross join _fetch f on f.series_id = s.id where ${condition} and f.geo_ids is null
          union all
          select ${SERIES_SELECT}, g.value, f.from_at, f.to_at, 0, 1, 0, 1
          from series s cross join _fetch f on f.series_id = s.id, json_each('[' || f.geo_ids || ']') g where ${condition}
          union all
          select ${SERIES_SELECT}, g.geo_id, f.from_at, f.to_at, 0, 1, 0, g.single
          from series s
          join (${SINGLE}) g on g.series_id = s.id
          cross join _fetch f on f.series_id = s.id where ${condition} and f.geo_ids is null`

/**
 * The rows that decide about gaps: covered ranges (`covered`), failed requests (`failed`) and ranges of jobs (`selected`), for all
 * geos and for each geo with rows of its own. A geo has the range in which it was requested or selected (`own`), alone or with all.
 */
const GAP_ROWS = `select ${SERIES_SELECT}, c.geo_id, c.from_at, c.to_at, 1 as covered, 0 as failed, 0 as selected, 1 as own
          from series s join _coverage c on c.series_id = s.id
          union all
          select ${SERIES_SELECT}, g.geo_id, c.from_at, c.to_at, 1, 0, 0, g.single
          from series s
          join (${SINGLE}) g on g.series_id = s.id
          join _coverage c on c.series_id = s.id and c.geo_id = ${ALL_GEOS}
          union all
          ${failedRequests(FAILED)}
          union all
          ${failedRequests(COARSE)}
          union all
          select ${SERIES_SELECT}, ${ALL_GEOS}, w.from_at, w.to_at, 0, 0, 1, 1
          from series s join _duty w on w.series_id = s.id where w.geo_ids = ''
          union all
          select ${SERIES_SELECT}, g.geo_id, w.from_at, w.to_at, 0, 0, 1, 0
          from series s
          join (${SINGLE}) g on g.series_id = s.id
          join _duty w on w.series_id = s.id where w.geo_ids = ''
          union all
          select ${SERIES_SELECT}, g.value, w.from_at, w.to_at, 0, 0, 1, 1
          from series s join _duty w on w.series_id = s.id, json_each('[' || w.geo_ids || ']') g`

/** The uncovered intervals of a range. What jobs select is apart from what they do not. */
const HOLES = islands(
  `select ${TIMELINE_COLUMNS}, from_at, to_at, iif(failing > 0, 'failed', 'never requested') as reason,
              iif(failing > 0, 'failed', iif(selecting > 0, 'selected', 'never requested')) as part, null as fetched_at
            from (
              select e.*, lead(e.from_at) over line as to_at, sum(e.covers) over line as covering, sum(e.fails) over line as failing,
                sum(e.selects) over line as selecting,
                min(e.first_at) over whole as range_from, max(e.last_at) over whole as range_to
              from (
                select ${TIMELINE_COLUMNS}, iif(n.value = 1, b.from_at, b.to_at) as from_at, b.covered * n.value as covers, b.failed * n.value as fails,
                  b.selected * n.value as selects,
                  iif(b.own, b.from_at, null) as first_at, iif(b.own, b.to_at, null) as last_at
                from (${GAP_ROWS}) b, json_each('[1, -1]') n
              ) e
              window line as (partition by ${TIMELINE_COLUMNS} order by e.from_at), whole as (partition by ${TIMELINE_COLUMNS})
            ) p
            where covering = 0 and from_at < to_at and to_at > range_from and from_at < range_to`,
  'part',
)

const HALF_YEAR = 182 * DAY
/** A condition: the row `w` of `_duty` selects the series and geo of an interval; one of some geos does not select all geos. */
export const selectsGeo = (row: string): string =>
  `w.series_id = ${row}.series_id and (w.geo_ids = '' or ',' || w.geo_ids || ',' like '%,' || ${row}.geo_id || ',%')`
/** A condition: the row `w` of `_duty` overlaps an interval of a series and geo that it selects. */
export const selectsPart = (row: string): string =>
  `${selectsGeo(row)} and w.from_at < ${row}.to_at and w.to_at > ${row}.from_at`
/** A value of the first job that selects part of the interval; null without such a job, because nothing requests it then. */
const ifSelected = (row: string, value: string, order = 'j.name, j.id'): string => `(select ${value} from _duty w
        join _job j on j.id = w.job_id where ${selectsPart(row)} order by ${order} limit 1)`
/** Scheduled runs may be early by as much (`job/plannerState.ts`). */
const EARLY_S = HOUR
/** The delay of 1, 2, 4, 8 … days, minus the hour by which a scheduled run may be early. */
const wait = (since: string, last: string): string => `${last} - ${since} + ${DAY - EARLY_S}`
/** The next request of an unverified window: not within `refresh`, and after half a year at the latest. */
const UNVERIFIED_NEXT = ifSelected(
  'c',
  `c.fetched_at + max(w.refresh_s, min(${HALF_YEAR - EARLY_S}, ${wait('c.since_at', 'c.fetched_at')}))`,
  'w.refresh_s, j.name, j.id',
)
/** The next request of an absence, while the delay is below half a year. */
const ABSENT_NEXT = ifSelected(
  'a',
  `iif(a.checked_at - a.since_at + ${DAY} > ${HALF_YEAR}, null, a.checked_at + ${wait('a.since_at', 'a.checked_at')})`,
)

const GAPS_VIEW = `select h.series_id, h.kind, h.indicator_id, ${indicatorNameSql('h')}, h.time_trunc, h.geo_id, h.from_at, h.to_at,
      ${localTimeSql('h', 'h.from_at')} as from_local,
      ${localTimeSql('h', 'h.to_at')} as to_local,
      h.reason, h.step_s, h.missing, ${utcTime('h.next_at')} as next_at, ${ifSelected('h', 'j.name')} as job,
      ${ifSelected('h', 'j.id')} as job_id
    from (
      select ${TIMELINE_COLUMNS}, from_at, end_at as to_at, reason, cast(null as integer) as step_s, cast(null as integer) as missing, cast(null as integer) as next_at
      from (${HOLES}) o
      union all
      select ${SERIES_SELECT}, c.geo_id, c.from_at, c.to_at, 'unverified', null, null, ${UNVERIFIED_NEXT}
      from series s join _coverage c on c.series_id = s.id where c.state = 'unverified'
      union all
      select ${SERIES_SELECT}, a.geo_id, a.from_at, a.to_at, 'absent', a.step_s, a.missing, ${ABSENT_NEXT}
      from series s join _absent a on a.series_id = s.id
    ) h`

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
      geo_id: integer('Requested geo; 0 = all'),
      ...INTERVAL_COLUMNS,
      state: text(
        'final, provisional (may still be revised), empty (final, no values) or unverified (the response had invalid rows or lacked stored values; the range is fetched again)',
      ),
      fetched_at: text('Earliest fetch time of any data in the range'),
    },
    sql: COVERAGE_VIEW,
  },
  gaps: {
    about: 'Missing data in ranges that a job selects, or that were requested before.',
    columns: {
      ...INDICATOR_COLUMNS,
      ...pick(series, 'time_trunc'),
      geo_id: integer('Geo (geo.id); 0 = all'),
      ...INTERVAL_COLUMNS,
      reason: word<GapReason>(
        'never requested, failed, unverified (see coverage.state) or absent (the service has no values)',
      ),
      step_s: optional(integer('Length of a missing period, if absent; NULL if unknown')),
      missing: optional(integer('Number of missing periods, if absent; NULL if their length is unknown')),
      next_at: optional(
        text(
          'Earliest next request (UTC), if absent or unverified; NULL if no job selects it, or after half a year of retries',
        ),
      ),
      job: optional(text('First job that selects it; NULL if none')),
      job_id: optional(integer('Its id (_job.id)')),
    },
    sql: GAPS_VIEW,
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
