import { realpathSync } from 'node:fs'
import { join } from 'node:path'
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
const which = `s.series_id, s.kind, s.indicator_id, s.name as indicator_name, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, s.unit`

/** The values of a table under the clocks of their series, as the database shows them. */
const values = (table: string, others: string): string => `select ${which}, o.geo_id, g.name as geo_name, o."at",
    ${STRFTIME}(${clock('o."at"')}, '${ISO}Z') as at_utc,
    ${STRFTIME}(${clock('o."at" + z.offset_s')}, '${ISO}') || (case when z.offset_s < 0 then '-' else '+' end)
      || ${STRFTIME}(${clock('abs(z.offset_s)')}, '%H:%M') as at_local,
    ${STRFTIME}(${clock('o."at" + z.offset_s')}, '%Y-%m-%d') as local_date, o.step_s, o.value, ${others}
  from main.series s
  join (select *, cast(epoch(at_utc) as bigint) as "at" from main.${table}) o on o.series_id = s.series_id
  left join main.geo g on g.geo_id = o.geo_id
  asof join main.time_zone_offset z on z.zone = s.time_zone and o."at" >= z.from_s`

/** Days, each with the second at which it would begin if its clock were UTC, under the first clock that shows it. */
const begins = (
  of: string,
): string => `asof join (select zone, from_s, offset_s, to_s + offset_s as end_s from main.time_zone_offset) z
    on z.zone = ${of}.time_zone and ${of}.midnight < z.end_s`
const BEGINS = 'greatest(z.from_s, d.midnight - z.offset_s) as "at"'
const days = (first: string): string =>
  `select d.*, ${which.replaceAll('s.series_id, ', '')}, s.time_zone, cast(epoch(${first}) as bigint) as midnight
    from main.day d join main.series s on s.series_id = d.series_id`

/**
 * The tables and views of the database that recipes on values read, in a schema of their own, together with the functions of
 * SQLite that DuckDB lacks or understands differently.
 */
export const AS_DATABASE: readonly string[] = [
  'create schema compat',
  `create view compat.series as select series_id as id, * exclude (series_id) from main.series`,
  `create view compat.time_zone_offset as select zone, from_s as from_at, to_s as to_at, offset_s from main.time_zone_offset`,
  `create view compat.observation as select * exclude (at_utc), cast(epoch(at_utc) as bigint) as "at" from main.observation`,
  `create view compat.observations as ${values('observation', `${isoMillis('o.fetched_at')} as fetched_at`)}`,
  `create view compat.observation_history as
    ${values('observation', `${isoMillis('o.fetched_at')} as valid_from, null as valid_to`)}
    union all ${values('observation_revision', `${isoMillis('o.valid_from')} as valid_from, ${isoMillis('o.valid_to')} as valid_to`)}`,
  `create view compat.observations_daily as
    select d.* exclude (local_date, midnight, year), ${BEGINS}, ${STRFTIME}(d.local_date, '%Y-%m-%d') as local_date
    from (${days('d.local_date')}) d ${begins('d')}`,
  `create view compat.observations_monthly as
    select d.*, ${BEGINS}, energy / hours as avg
    from (
      select * exclude (local_date, count, min, max, avg, sum, energy, hours, year), ${STRFTIME}(local_date, '%Y-%m') as local_month,
        cast(sum(count) as bigint) as count, min(min) as min, max(max) as max, sum(sum) as sum, sum(energy) as energy, sum(hours) as hours
      from (${days(`date_trunc('month', d.local_date)`)}) group by all
    ) d ${begins('d')}`,
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
