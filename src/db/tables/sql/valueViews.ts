import { flag, instant, integer, moment, optional, pick, real, text } from '../declare.ts'
import { series } from '../series.ts'
import {
  GEO_COLUMNS,
  geoNameSql,
  hasUnitsSql,
  INDICATOR_COLUMNS,
  indicatorNameSql,
  instantSql,
  isSummedSql,
  localDateSql,
  localTimeSql,
  measureAtSql,
  measureSql,
  offsetSql,
  unitAtSql,
  unitSql,
  utcTime,
} from './expressions.ts'

/** The most important note for readers of values. */
export const SEVERAL_SERIES =
  'An indicator can have several series: a native one (time_trunc and geo_agg are null), and others that the service aggregated. To select the native one, filter by indicator_id, time_trunc is null and geo_agg is null, and by kind if offer indicators are stored, which have ids of their own. To select another one, filter by series_id.'

/** Columns that identify the series and geo of a row. */
const SERIES_COLUMNS = {
  ...INDICATOR_COLUMNS,
  ...pick(series, 'time_trunc', 'time_agg', 'geo_agg', 'geo_trunc'),
  unit: optional(
    text(
      'Unit at this time, of a day or month at its start (magnitude.unit); if unknown, the quantity as the service names it; sum of …, if time_agg = sum and the values are not energy',
    ),
  ),
  ...GEO_COLUMNS,
}
/** Why averages need the length of periods. */
export const WEIGHT_ABOUT = 'sum(value * step_s) / sum(step_s). If the resolution changes, avg(value) is wrong'
const CURRENT_VALUE_COLUMNS = {
  ...SERIES_COLUMNS,
  at: instant('Start of the period'),
  at_utc: text('Start of the period'),
  at_local: text("Start of the period in the series' zone, for every geo: the Canary Islands' clock is an hour behind"),
  local_date: text('Local day in which the period starts'),
  step_s: integer(
    `Length of the period; for a daily value, 23, 24 or 25 hours. Weight averages by it: ${WEIGHT_ABOUT}`,
  ),
  value: optional(real('Value')),
  fetched_at: moment('Fetch time'),
}
export const AVERAGE_ABOUT = 'Time-weighted average'
export const ENERGY_ABOUT =
  'Energy: sum of value × hours for power, sum of values for energy per period, NULL for other quantities (table magnitude)'
const TOTAL_COLUMNS = {
  count: integer('Number of non-NULL values'),
  min: optional(real('Minimum')),
  max: optional(real('Maximum')),
  avg: optional(real(AVERAGE_ABOUT)),
  sum: optional(real('Sum of values; meaningful for energy per period')),
  energy: optional(real(ENERGY_ABOUT)),
  hours: real('Hours with values'),
}

const seriesColumnsSql = (
  row: string,
  time?: Parameters<typeof unitSql>[1],
): string => `${row}.kind, ${row}.indicator_id,
    ${indicatorNameSql(row)},
    ${row}.time_trunc, ${row}.time_agg, ${row}.geo_agg, ${row}.geo_trunc,
    ${unitSql(row, time)} as unit`

/** The time of a fetch; a subquery, which costs nothing if it is not read. */
const finishedSql = (fetchId: string): string => `(select f.finished_at from _fetch f where f.id = ${fetchId})`

/**
 * Each series with each of its geos, and their names. The grouping makes databases look up the names once per series and geo instead
 * of once per value; conditions still reach the tables.
 */
const seriesGeoSql = (more = ''): string => `(
    select s.id as series_id, ${seriesColumnsSql('s')}, s.time_zone, g.geo_id,
      ${geoNameSql('g')}, ${hasUnitsSql('s')} as has_units${more}
    from series s
    cross join series_geo g on g.series_id = s.id
    group by s.id, s.kind, s.indicator_id, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, g.geo_id
  )`

/** An expression of a series `p`. If its quantity changed, the other one, for an instant. */
const byTime = (expression: string, atInstant: string): string =>
  `case when p.has_units then ${atInstant} else ${expression} end`

/** The columns of a series and geo `p`, with the unit at an instant. */
const seriesGeoColumns = (
  at: string,
): string => `p.series_id, p.kind, p.indicator_id, p.indicator_name, p.time_trunc, p.time_agg, p.geo_agg, p.geo_trunc,
    ${byTime('p.unit', unitAtSql('p', at))} as unit, p.geo_id, p.geo_name`

/** The local time and day of an instant in the zone of a row. */
interface Local {
  time(row: string, at: string): string
  date(row: string, at: string): string
}

const zoneTime = (row: string, at: string): string => `(to_timestamp(${at}) at time zone ${row}.time_zone)`

/** A view for both databases. The zones of PostgreSQL are ten times as fast as a lookup of the stored offset. */
const byLocal = (make: (local: Local) => string) => ({
  sql: make({ time: localTimeSql, date: localDateSql }),
  postgres: make({ time: zoneTime, date: (row, at) => `${zoneTime(row, at)}::date` }),
})

/** The values `o` of a table. `cross join` fixes the order for SQLite: from the few series to their values, by the key. */
const valuesSql = (
  local: Local,
  table: string,
  { more = '', where = '' } = {},
): string => `select ${seriesGeoColumns('o.at')},
    o.at, ${utcTime('o.at')} as at_utc,
    ${local.time('p', 'o.at')} as at_local,
    ${local.date('p', 'o.at')} as local_date,
    o.step_s, o.value, ${finishedSql('o.fetch_id')} as fetched_at${more}
  from ${seriesGeoSql()} p
  cross join ${table} o on o.series_id = p.series_id and o.geo_id = p.geo_id${where}`

const latestSql = (local: Local): string =>
  valuesSql(local, 'observation', {
    where: ` and o.at = (
    select max(l.at) from observation l where l.series_id = p.series_id and l.geo_id = p.geo_id
  )`,
  })

const versionsSql = (local: Local, table: string, validTo: string): string =>
  valuesSql(local, table, { more: `,\n    ${finishedSql('o.fetch_id')} as valid_from, ${validTo} as valid_to` })

const historySql = (local: Local): string => `${versionsSql(local, 'observation', 'null')}
  union all
  ${versionsSql(local, 'observation_revision', finishedSql('o.superseded_by'))}`

/** The midnight of a day of the month, as if local time were UTC. Algorithm: days_from_civil by Howard Hinnant. */
const midnight = (day: string): string =>
  `((365 * ((d.month - 2) / 12) + (d.month - 2) / 48 - (d.month - 2) / 1200 + (d.month - 2) / 4800 + (153 * ((d.month - 2) % 12) + 2) / 5 + ${day} - 719469) * 86400)`

/** The sum of value × hours of a day, which is stored only if its periods differ in length. */
const ENERGY_SQL = 'coalesce(d.energy, d.sum * d.hours / d.count)'

/** The month and the day of a local time, which is given as if it were UTC; after the year 9999, a later month than any. */
const monthNumberSql = (local: string): string =>
  `ifnull(strftime('%Y', ${local}, 'unixepoch') * 12 + strftime('%m', ${local}, 'unixepoch') - 1, 120000)`
const dayOfMonthSql = (local: string): string => `ifnull(strftime('%d', ${local}, 'unixepoch') + 0, 0)`

/**
 * The offsets of all zones, each with the local days that start while it applies, from `first_day` to `end_day` (exclusive). Computed
 * once per query instead of once per day.
 */
const CLOCK_SQL = `clock as materialized (
    select zone, from_at, offset_s, ${monthNumberSql('first_s')} as first_month, ${dayOfMonthSql('first_s')} as first_day,
      ${monthNumberSql('end_s')} as end_month, ${dayOfMonthSql('end_s')} as end_day
    from (
      select zone, from_at, offset_s, from_at + lag(offset_s, 1, offset_s) over (partition by zone order by from_at) + 86399 as first_s,
        to_at + offset_s + 86399 as end_s
      from time_zone_offset
    ) z
  )`

const SERIES_GEO_MONTHS = seriesGeoSql(`, ${measureSql('s')} as measure,
      (select min(m.month) from _day m where m.series_id = s.id and m.geo_id = g.geo_id) as first_month,
      (select max(m.month) from _day m where m.series_id = s.id and m.geo_id = g.geo_id) as last_month`)

const dailySql = (at: string, days: string): string => `select ${seriesGeoColumns(at)}, ${at} as at,
    date(${midnight('d.day')}, 'unixepoch') as local_date, d.count, d.min, d.max,
    coalesce(d.energy / d.hours, d.sum / d.count) as avg, d.sum,
    case ${byTime('p.measure', measureAtSql('p', at))} when 'power' then ${ENERGY_SQL} when 'energy' then d.sum end as energy, d.hours
  from ${SERIES_GEO_MONTHS} p
  ${days}`

const DAILY_VIEW = `with ${CLOCK_SQL}
  ${dailySql(
    `max(c.from_at, ${midnight('d.day')} - c.offset_s)`,
    `cross join clock c on c.zone = p.time_zone and c.end_month >= p.first_month and c.first_month <= p.last_month
  cross join _day d on d.series_id = p.series_id and d.geo_id = p.geo_id
    and (d.month, d.day) >= (c.first_month, c.first_day) and (d.month, d.day) < (c.end_month, c.end_day)`,
  )}`

/** PostgreSQL would compare every day with every offset, so it looks the offset up if `at` is read. */
const DAILY_VIEW_POSTGRES = dailySql(
  instantSql('p.time_zone', midnight('d.day')),
  'join _day d on d.series_id = p.series_id and d.geo_id = p.geo_id',
)

const MONTH_START = instantSql('d.time_zone', midnight('1'))

/** The energy of a month of a series whose quantity changed, day by day. */
const MONTHLY_ENERGY = `(
      select sum(case ${measureAtSql('d', instantSql('d.time_zone', midnight('e.day')))} when 'power' then ${ENERGY_SQL.replaceAll('d.', 'e.')} when 'energy' then e.sum end)
      from _day e where e.series_id = d.series_id and e.geo_id = d.geo_id and e.month = d.month
    )`

const GROUPED_BY = 's.id, s.kind, s.indicator_id, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, d.geo_id, d.month'

// The key of days is ordered by month, so that grouping needs no sort and conditions on the grouped columns use the key.
const MONTHLY_VIEW = `select d.series_id, ${seriesColumnsSql('d', { at: MONTH_START })},
    d.geo_id,
    ${geoNameSql('d')},
    ${MONTH_START} as at,
    strftime('%Y-%m', ${midnight('1')}, 'unixepoch') as local_month, d.count, d.min, d.max, d.energy / d.hours as avg, d.sum,
    case when ${hasUnitsSql('d')} then ${MONTHLY_ENERGY} else case ${measureSql('d')} when 'power' then d.energy when 'energy' then d.sum end end as energy,
    d.hours
  from (
    select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, s.time_zone, d.geo_id, d.month,
      sum(d.count) as count, min(d.min) as min, max(d.max) as max, sum(d.sum) as sum, sum(${ENERGY_SQL}) as energy, sum(d.hours) as hours
    from series s
    cross join _day d on d.series_id = s.id
    group by ${GROUPED_BY}
  ) d`

const HOURS_OF_DAY = `json_each('[${Array.from({ length: 27 }, (_, i) => i - 1)}]')`

/** Whole hours `h` of a series `s` with a value at their start, read along the key: conditions on `at` reach it. */
const STARTED_HOURS = `cross join series_geo g on g.series_id = s.id
    cross join observation h on h.series_id = g.series_id and h.geo_id = g.geo_id and h.at % 3600 = 0`

/** Hours `h` without a value at their start, on days that lack values. */
const OTHER_HOURS = `cross join (
      select m.series_id, m.geo_id, m.day, (m.start / 3600 + n.value) * 3600 as at
      from (
        select d.series_id, d.geo_id, ${midnight('d.day')} as day, ${midnight('d.day')} - ${offsetSql('v', midnight('d.day'))} as start
        from series v cross join _day d on d.series_id = v.id and d.missing > 0
      ) m
      cross join ${HOURS_OF_DAY} n on 1 = 1
    ) h on h.series_id = s.id and date(h.at + ${offsetSql('s', 'h.at')}, 'unixepoch') = date(h.day, 'unixepoch')
      and not exists (select 1 from observation e where e.series_id = s.id and e.geo_id = h.geo_id and e.at = h.at)`

const SERIES_KEY = 's.id, s.kind, s.indicator_id, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, s.time_zone'

const hoursSelect = (
  hours: string,
  geo: string,
): string => `select ${SERIES_KEY.replace('s.id', 's.id as series_id')}, ${geo}, h.at, ${hasUnitsSql('s')} as has_units,
      count(o.value) as count, min(o.value) as min, max(o.value) as max, sum(o.value) as sum,
      sum(o.value * o.step_s) as weighted, sum(iif(o.value is null, 0, o.step_s)) as seconds, min(o.at) as first_at
    from series s
    ${hours}
    cross join observation o on o.series_id = s.id and o.geo_id = h.geo_id and o.at >= h.at and o.at < h.at + 3600
    group by ${SERIES_KEY}, ${geo}, h.at`

const HOUR = { at: 's.at', hasUnits: 's.has_units' }

const hourlySql = (local: Local): string => `select s.series_id, ${seriesColumnsSql('s', HOUR)},
    s.geo_id,
    ${geoNameSql('s')},
    s.at, ${utcTime('s.at')} as at_utc,
    ${local.time('s', 's.at')} as at_local,
    ${local.date('s', 's.at')} as local_date,
    iif(s.seconds = 3600 and s.first_at = s.at, iif(${isSummedSql('s', HOUR)}, s.sum, s.weighted / 3600), null) as value,
    iif(s.seconds = 3600 and s.first_at = s.at, 1, 0) as is_complete,
    s.count, s.min, s.max, s.weighted / nullif(s.seconds, 0) as avg, s.sum,
    case ${measureSql('s', HOUR)} when 'power' then s.weighted / 3600 when 'energy' then s.sum end as energy,
    cast(s.seconds as real) / 3600 as hours
  from (
    ${hoursSelect(STARTED_HOURS, 'g.geo_id')}
    union all
    ${hoursSelect(OTHER_HOURS, 'h.geo_id')}
  ) s`

/** Views on values. */
export const VALUE_VIEWS = {
  observations: {
    about: `Current values. ${SEVERAL_SERIES}`,
    columns: CURRENT_VALUE_COLUMNS,
    ...byLocal((local) => valuesSql(local, 'observation')),
  },
  observation_history: {
    about: `All versions of values. Values known at T: valid_from <= T and (valid_to is null or valid_to > T). ${SEVERAL_SERIES}`,
    columns: {
      ...CURRENT_VALUE_COLUMNS,
      valid_from: optional(moment('Time at which this version was fetched, not published; the same as fetched_at')),
      valid_to: optional(text('Time at which it was replaced or withdrawn; NULL = current')),
    },
    ...byLocal(historySql),
  },
  observations_hourly: {
    about: `Aggregates per hour, by the start of each period. Example: the prices 40, 42, 44 and 46 of four quarter-hours make one row with value 43, count 4 and hours 1. A period of a whole day makes one row, at its first hour, with value NULL, count 1 and hours 24. ${SEVERAL_SERIES}`,
    columns: {
      ...SERIES_COLUMNS,
      at: instant('Start of the hour'),
      at_utc: text('Start of the hour'),
      at_local: text("Start of the hour in the series' zone"),
      local_date: text('Local day of the hour'),
      value: optional(
        real(
          'Sum, for energy per period and series with time_agg = sum; else the time-weighted average. NULL unless is_complete',
        ),
      ),
      is_complete: flag('1 if the periods with values that start in the hour make up exactly the hour'),
      ...TOTAL_COLUMNS,
    },
    ...byLocal(hourlySql),
  },
  observations_daily: {
    about: `Aggregates per local day of 23, 24 or 25 hours. A period belongs to the day in which it starts. ${SEVERAL_SERIES}`,
    columns: {
      ...SERIES_COLUMNS,
      at: instant('Start of the day'),
      local_date: text("Day in the series' zone"),
      ...TOTAL_COLUMNS,
    },
    sql: DAILY_VIEW,
    postgres: DAILY_VIEW_POSTGRES,
  },
  observations_monthly: {
    about: `Aggregates per local month. A period belongs to the month in which it starts. ${SEVERAL_SERIES}`,
    columns: {
      ...SERIES_COLUMNS,
      at: instant('Start of the month'),
      local_month: text("Month in the series' zone"),
      ...TOTAL_COLUMNS,
    },
    sql: MONTHLY_VIEW,
  },
  latest: {
    about: `Last value of each series and geo. ${SEVERAL_SERIES}`,
    columns: CURRENT_VALUE_COLUMNS,
    ...byLocal(latestSql),
  },
} as const
