import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { VALUE_VIEWS } from '../tables/sql/valueViews.ts'
import { duckText } from './duckdb.ts'
import { requireManifest } from './manifest.ts'

/*
 * The statements that DuckDB gets before a question: the tables of a lake, and for recipes the tables of the database on top of
 * them.
 */

/** Makes views of the tables of a lake, all of one snapshot; nothing else can be read. */
export function tablesOfLake(lake: string): string[] {
  const { folder, tables } = requireManifest(lake)
  const root = realpathSync(join(lake, folder))
  return [
    `set timezone = 'UTC'`,
    ...Object.entries(tables).map(([name, { files, partitioned_by }]) => {
      const list = files.map(({ path }) => duckText(join(root, path))).join(', ')
      return `create view ${name} as from read_parquet([${list}], hive_partitioning = ${partitioned_by.length > 0})`
    }),
    `create view observations as
       select o.*, s.* exclude (series_id), cast(o.at_utc at time zone s.time_zone as date) as local_date
       from observation o join series s using (series_id)`,
    `set allowed_directories = [${duckText(root)}]`,
  ]
}

/** The function of DuckDB. In the schema of the views, the name alone is the function of SQLite. */
const STRFTIME = 'system.main.strftime'
const ISO = '%Y-%m-%dT%H:%M:%S'
const clock = (seconds: string): string => `make_timestamp(cast(${seconds} as bigint) * 1000000)`
const isoMillis = (at: string): string => `${STRFTIME}(${at}, '${ISO}.%gZ')`

/** How each column of a view on values is computed here; the type check names one that is missing. */
type ViewColumns<View extends keyof typeof VALUE_VIEWS> = Readonly<
  Record<keyof (typeof VALUE_VIEWS)[View]['columns'], string>
>
const selected = (columns: Readonly<Record<string, string>>): string =>
  Object.entries(columns)
    .map(([name, sql]) => `${sql} as "${name}"`)
    .join(', ')

/** Which series a row is of. */
const IDENTITY_COLUMNS = {
  series_id: 's.series_id',
  kind: 's.kind',
  indicator_id: 's.indicator_id',
  indicator_name: 's.name',
  unit: 's.unit',
  time_trunc: 's.time_trunc',
  time_agg: 's.time_agg',
  geo_agg: 's.geo_agg',
  geo_trunc: 's.geo_trunc',
}

/** A value under the clock of its series, as the views of the database have it, except for when it was known. */
const VALUE_COLUMNS = {
  ...IDENTITY_COLUMNS,
  geo_id: 'o.geo_id',
  geo_name: 'g.name',
  at: 'o."at"',
  at_utc: `${STRFTIME}(${clock('o."at"')}, '${ISO}Z')`,
  at_local: `${STRFTIME}(${clock('o."at" + z.offset_s')}, '${ISO}') || (case when z.offset_s < 0 then '-' else '+' end)
      || ${STRFTIME}(${clock('abs(z.offset_s)')}, '%H:%M')`,
  local_date: `${STRFTIME}(${clock('o."at" + z.offset_s')}, '%Y-%m-%d')`,
  step_s: 'o.step_s',
  value: 'o.value',
}
const CURRENT_COLUMNS: ViewColumns<'observations'> = { ...VALUE_COLUMNS, fetched_at: isoMillis('o.fetched_at') }
/** A version of a value; it was fetched when it began to be valid. */
const versionColumns = (from: string, to: string): ViewColumns<'observation_history'> => ({
  ...VALUE_COLUMNS,
  fetched_at: isoMillis(from),
  valid_from: isoMillis(from),
  valid_to: to,
})

const valuesSql = (table: string, columns: Readonly<Record<string, string>>): string => `select ${selected(columns)}
  from main.series s
  join (select *, cast(epoch(at_utc) as bigint) as "at" from main.${table}) o on o.series_id = s.series_id
  left join main.geo g on g.geo_id = o.geo_id
  asof join main.time_zone_offset z on z.zone = s.time_zone and o."at" >= z.from_s`

/** The totals of `rows` of days or months, each under the first clock that shows the midnight at which it begins. */
const totalsSql = (columns: Readonly<Record<string, string>>, rows: string): string => `select ${selected(columns)}
  from (select *, cast(epoch(first) as bigint) as midnight from (${rows})) d
  join main.series s on s.series_id = d.series_id
  left join main.geo g on g.geo_id = d.geo_id
  asof join (select zone, from_s, offset_s, to_s + offset_s as end_s from main.time_zone_offset) z
    on z.zone = s.time_zone and d.midnight < z.end_s`
const TOTAL_COLUMNS = {
  ...IDENTITY_COLUMNS,
  geo_id: 'd.geo_id',
  geo_name: 'g.name',
  at: 'greatest(z.from_s, d.midnight - z.offset_s)',
  count: 'd.count',
  min: 'd.min',
  max: 'd.max',
  avg: 'd.avg',
  sum: 'd.sum',
  energy: 'd.energy',
  hours: 'd.hours',
}
const DAILY_COLUMNS: ViewColumns<'observations_daily'> = {
  ...TOTAL_COLUMNS,
  local_date: `${STRFTIME}(d.first, '%Y-%m-%d')`,
}
const MONTHLY_COLUMNS: ViewColumns<'observations_monthly'> = {
  ...TOTAL_COLUMNS,
  local_month: `${STRFTIME}(d.first, '%Y-%m')`,
}
const MONTH_ROWS = `select series_id, geo_id, date_trunc('month', local_date) as first, cast(sum(count) as bigint) as count, min(min) as min,
      max(max) as max, sum(sum) as sum, sum(energy) as energy, sum(hours) as hours, sum(energy) / sum(hours) as avg
    from main.day group by all`

/** The views on values, as the database has them. */
export const VALUE_VIEWS_IN_DUCKDB: Readonly<Record<keyof typeof VALUE_VIEWS, string>> = {
  observations: valuesSql('observation', CURRENT_COLUMNS),
  observation_history: `${valuesSql('observation', versionColumns('o.fetched_at', 'null'))}
    union all ${valuesSql('observation_revision', versionColumns('o.valid_from', isoMillis('o.valid_to')))}`,
  observations_daily: totalsSql(DAILY_COLUMNS, 'select *, local_date as first from main.day'),
  observations_monthly: totalsSql(MONTHLY_COLUMNS, MONTH_ROWS),
  latest: `${valuesSql('observation', CURRENT_COLUMNS)} qualify row_number() over (partition by o.series_id, o.geo_id order by o."at" desc) = 1`,
}

/**
 * The tables and views of the database that recipes on values read, in a schema of their own, together with the functions of
 * SQLite that DuckDB lacks or understands differently.
 */
export const AS_DATABASE: readonly string[] = [
  'create schema compat',
  `create view compat.series as select series_id as id, * exclude (series_id) from main.series`,
  `create view compat.time_zone_offset as select zone, from_s as from_at, to_s as to_at, offset_s from main.time_zone_offset`,
  `create view compat.observation as select * exclude (at_utc), cast(epoch(at_utc) as bigint) as "at" from main.observation`,
  ...Object.entries(VALUE_VIEWS_IN_DUCKDB).map(([name, sql]) => `create view compat.${name} as ${sql}`),
  'create macro compat.iif(a, b, c) as case when a then b else c end',
  `create macro compat.strftime(form, t) as
    ${STRFTIME}(case when t = 'now' then now() at time zone 'UTC' else cast(t as timestamp) end, form)`,
  `create macro compat.unixepoch(t) as cast(epoch(cast(t as timestamp)) as bigint),
    (t, further) as cast(epoch(cast(t as timestamp) + cast(replace(further, '+', '') as interval)) as bigint)`,
  'create macro compat.json_each(list) as table select unnest(cast(list as bigint[])) as value',
  'create macro compat.json_array_length(list) as len(cast(list as bigint[]))',
  // Rounds half of the last decimal away from zero, by the exact value of the double; adding 0 takes the sign from a zero.
  `create macro compat.round(v) as system.main.round(v) + 0,
    (v, digits) as case when abs(v) > 4503599627370496 then v else 0 + sign(v) * cast(
      cast(trunc(abs(v)) as hugeint) * cast(10 ^ digits as hugeint) + (cast((abs(v) - trunc(abs(v))) * 4611686018427387904 as hugeint)
        * cast(10 ^ digits as hugeint) * 2 + 4611686018427387904) // 9223372036854775808 as double) / 10 ^ digits end`,
  // Dividing whole numbers gives a whole number, and NULL sorts first.
  'set integer_division = true',
  `set default_null_order = 'sqlite'`,
  `set schema = 'compat'`,
]

/** DuckDB requires quotes around a column of this name. */
export const withQuotedAt = (sql: string): string => sql.replaceAll(/(?<![:\w"])at(?!\w)/g, '"at"')
