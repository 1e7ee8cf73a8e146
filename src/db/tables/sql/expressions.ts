import type { ExpressionBuilder, ExpressionWrapper, ReferenceExpression } from 'kysely'
import { LOCALES } from '../../../service/routes.ts'
import type { Instant } from '../../../util/time/instant.ts'

/* Pieces of SQL that several views and queries share. `of` is the alias of the row that has the columns. */

/** The language in which readers see names where it is stored: the first one of the specification's service, whatever service filled the database. */
export const [FIRST_LOCALE] = LOCALES
/** That language as SQL. */
export const FIRST_LOCALE_SQL = `'${FIRST_LOCALE}'`

/** The order in which texts are taken: the first language, then the others by name. `locale` is the column. */
export const localeOrderSql = (locale: string): string => `${locale} = ${FIRST_LOCALE_SQL} desc, ${locale}`

/** The name of an indicator: in the first language where stored, else in the one that is. */
export const indicatorNameSql = (of: string): string => `coalesce(
      (select t.name from indicator_text t where t.kind = ${of}.kind and t.id = ${of}.indicator_id and t.locale = ${FIRST_LOCALE_SQL}),
      (select t.name from indicator_text t where t.kind = ${of}.kind and t.id = ${of}.indicator_id and t.name is not null order by t.locale limit 1)
    ) as indicator_name`

/** The name of a geo: in the first language where stored, else in the one that is. */
export const geoNameSql = (of: string): string => `coalesce(
      (select t.name from geo_text t where t.id = ${of}.geo_id and t.locale = ${FIRST_LOCALE_SQL}),
      (select t.name from geo_text t where t.id = ${of}.geo_id and t.name is not null order by t.locale limit 1)
    ) as geo_name`

/** The unit of an indicator, as the service names it. */
export const unitSql = (of: string): string =>
  `(select i.magnitude from indicator i where i.kind = ${of}.kind and i.id = ${of}.indicator_id) as unit`

/** The magnitude of powers. Its number is stable, its name is not. Source: the operator's answers. */
const POWER_MAGNITUDE = 20

/**
 * Whether the values of a series are powers, so that value times hours is an energy: 1, else NULL. A power that the service summed
 * over time is none any more: twelve values of five minutes add up to twelve times the power of their hour.
 */
export const powerSql = (of: string): string =>
  `(select 1 from indicator i where i.kind = ${of}.kind and i.id = ${of}.indicator_id and i.magnitude_id = ${POWER_MAGNITUDE}
      and (${of}.time_trunc is null or ${of}.time_agg = 'average'))`

/** The same of a series and its indicator that were read. */
export const isPower = (row: {
  readonly magnitude_id: number | null
  readonly time_trunc: string | null
  readonly time_agg: string | null
}): boolean => row.magnitude_id === POWER_MAGNITUDE && (row.time_trunc === null || row.time_agg === 'average')

/** An instant in local time with its offset. */
export const localTime = (at: string, offset: string): string =>
  `strftime('%Y-%m-%dT%H:%M:%S', ${at} + ${offset}, 'unixepoch') || printf('%s%02d:%02d', iif(${offset} < 0, '-', '+'), abs(${offset}) / 3600, abs(${offset}) % 3600 / 60)`

/** An instant in UTC. */
export const utcTime = (at: string): string => `strftime('%Y-%m-%dT%H:%M:%SZ', ${at}, 'unixepoch')`

/** The condition of a join with the row of `time_zone_offset`, as `z`, for the series `s` at an instant. */
export const clockJoinSql = (at: string): string => `time_zone_offset z on z.zone = s.time_zone and z.from_at = (
      select max(c.from_at) from time_zone_offset c where c.zone = s.time_zone and c.from_at <= ${at}
    )`

/**
 * The same row for PostgreSQL, looked up once for each value. Joined by the condition above, it would be looked up twice there: for the
 * hash and for the comparison.
 */
export const clockLateralSql = (at: string): string => `lateral (
      select c.offset_s from time_zone_offset c where c.zone = s.time_zone and c.from_at <= ${at} order by c.from_at desc limit 1
    ) z`

/** The offset in force at an instant in the zone `of` names. */
export const offsetSql = (of: string, at: string): string =>
  `(select z.offset_s from time_zone_offset z where z.zone = ${of}.time_zone and z.from_at <= ${at} order by z.from_at desc limit 1)`

/**
 * The instant at which the clocks of a zone show a time, given as if it were UTC: the first where they show it twice, the change
 * itself where they skip it.
 */
export const instantSql = (zone: string, local: string): string => `(select max(c.from_at, ${local} - c.offset_s) from (
      select * from time_zone_offset n where n.zone = ${zone} and n.from_at <= ${local} + 86400 order by n.from_at desc limit 3
    ) c where ${local} - c.offset_s < c.to_at order by c.from_at limit 1)`

/** The instant that a column holds as text, in UTC. PostgreSQL has the function, too: it is one of the schema `compat`. */
export const epochSeconds = <DB, TB extends keyof DB>(
  { fn }: ExpressionBuilder<DB, TB>,
  column: ReferenceExpression<DB, TB>,
): ExpressionWrapper<DB, TB, Instant> => fn<Instant>('unixepoch', [column])
