import type { ExpressionBuilder, ExpressionWrapper, ReferenceExpression } from 'kysely'
import { LOCALES } from '../../../service/routes.ts'
import type { Instant } from '../../../util/time/instant.ts'
import { integer, optional, pick, text } from '../declare.ts'
import { series } from '../series.ts'

/* Columns and SQL expressions that views and queries share. `row` is the alias of the row with the columns. */

/** The columns of a view that identify the indicator of a series. */
export const INDICATOR_COLUMNS = {
  series_id: integer('Series (series.id)'),
  ...pick(series, 'kind'),
  indicator_id: integer('Indicator (indicator.id); several series may share it'),
  indicator_name: optional(text('Name, in the preferred language if stored (setting)')),
}

/** The columns of a view that identify a geo. */
export const GEO_COLUMNS = {
  geo_id: integer('Geo (geo.id); 0 = none'),
  geo_name: optional(text('Name, in the preferred language if stored (setting)')),
}

/** The first language of the live service, for every service. */
const [FIRST_LOCALE] = LOCALES

/** The language of names if nobody chose one. */
const DEFAULT_LANGUAGE = 'en'

/** The preferred language of names: the chosen one (`setting`), or English. */
export const LANGUAGE_SQL = `coalesce((select value from setting where name = 'language'), '${DEFAULT_LANGUAGE}')`

/** The order of languages: the preferred one, the first one of the service, then the others by name. `locale` is the column. */
export const localeOrderSql = (locale: string): string =>
  `${locale} = ${LANGUAGE_SQL} desc, ${locale} = '${FIRST_LOCALE}' desc, ${locale}`

/** The first name in the order of languages, each looked up by key; the last lookup rarely happens. */
const nameSql = (from: string): string => `coalesce(
      (select t.name from ${from} and t.locale = ${LANGUAGE_SQL}),
      (select t.name from ${from} and t.locale = '${FIRST_LOCALE}'),
      (select t.name from ${from} and t.name is not null order by t.locale limit 1)
    )`

/** The name of an indicator, in the preferred language if stored. */
export const indicatorNameSql = (row: string): string =>
  `${nameSql(`indicator_text t where t.kind = ${row}.kind and t.id = ${row}.indicator_id`)} as indicator_name`

/** The name of a geo, in the preferred language if stored. */
export const geoNameSql = (row: string): string => `${nameSql(`geo_text t where t.id = ${row}.geo_id`)} as geo_name`

/** Whether the unit of a series has changed over time. */
export const hasUnitsSql = (row: string): string =>
  `exists (select 1 from indicator_unit u where u.kind = ${row}.kind and u.id = ${row}.indicator_id)`

/** An expression of the last quantity `q` of a series up to an instant, if its quantity changed. Without an instant: of the last one. */
const quantityAtSql = (row: string, at: string | null, expression: string): string =>
  `(select ${expression} from indicator_unit q left join magnitude m on m.id = q.magnitude_id
      where q.kind = ${row}.kind and q.id = ${row}.indicator_id${at === null ? '' : ` and q.from_at <= ${at}`} order by q.from_at desc limit 1)`

/** An expression of the quantity `q` that a series always had. */
const quantitySql = (row: string, expression: string): string =>
  `(select ${expression} from indicator q left join magnitude m on m.id = q.magnitude_id where q.kind = ${row}.kind and q.id = ${row}.indicator_id)`

/** The time of a value, and whether the quantity of its series changed, if a column says so. */
interface AtTime {
  readonly at: string | null
  readonly hasUnits?: string
}
const LATEST: AtTime = { at: null }

/** Chooses between two expressions for a series. The second is much cheaper, and nearly always right. */
const byQuantity = (row: string, expression: string, { at, hasUnits = hasUnitsSql(row) }: AtTime): string =>
  `case when ${hasUnits} then ${quantityAtSql(row, at, expression)} else ${quantitySql(row, expression)} end`

/** The unit of a quantity `q` with its magnitude `m`, for the values of a series. */
export const unitOfQuantity = (row: string): string =>
  `case when ${row}.time_agg = 'sum' and coalesce(m.measure, '') <> 'energy' then 'sum of ' else '' end || coalesce(m.unit, q.magnitude)`

/**
 * The unit of the values of a series; the name of its quantity, if the unit is not known. Sums over time are `sum of MW`, except
 * those of energies, which are energies. Without `time`, the latest unit.
 */
export const unitSql = (row: string, time = LATEST): string => `(${byQuantity(row, unitOfQuantity(row), time)})`

/** The unit at an instant of a series whose quantity changed. */
export const unitAtSql = (row: string, at: string): string => quantityAtSql(row, at, unitOfQuantity(row))

/** The `Measure` of a magnitude `m`, for the values of a series. */
export const measureOfQuantity = (row: string): string =>
  `case when ${row}.time_trunc is null and m.measure in ('power', 'energy')
      or ${row}.time_agg = case m.measure when 'power' then 'average' when 'energy' then 'sum' end then m.measure end`

/** How the energy of a series follows from its values: `power` times hours, or `energy` per period. */
export type Measure = 'power' | 'energy'

/**
 * The `Measure` of a series; NULL if its values are not energy. Sums of powers over time are not powers: twelve values of five
 * minutes add up to twelve times the power of their hour. Averages of energies do not add up. Without `time`, that of the latest quantity.
 */
export const measureSql = (row: string, time = LATEST): string => `(${byQuantity(row, measureOfQuantity(row), time)})`

/** The `Measure` at an instant of a series whose quantity changed. */
export const measureAtSql = (row: string, at: string): string => quantityAtSql(row, at, measureOfQuantity(row))

/** Whether the values of a series are summed over time (energy per period), not averaged. */
export const isSummedSql = (row: string, time = LATEST): string =>
  `coalesce(${row}.time_agg = 'sum', ${measureSql(row, time)} = 'energy', 1 = 0)`

/** An instant in UTC. */
export const utcTime = (at: string): string => `strftime('%Y-%m-%dT%H:%M:%SZ', ${at}, 'unixepoch')`

/**
 * An expression of the UTC offset at an instant in the zone of `row`. It is a subquery rather than a join, so that it costs nothing
 * in a view whose column is not read.
 */
const withOffsetSql = (row: string, at: string, expression: (offset: string) => string): string =>
  `(select ${expression('tz.offset_s')} from time_zone_offset tz where tz.zone = ${row}.time_zone and tz.from_at <= ${at} order by tz.from_at desc limit 1)`

/** The UTC offset at an instant in the zone of `row`. */
export const offsetSql = (row: string, at: string): string => withOffsetSql(row, at, (offset) => offset)

/** An instant in local time with its offset. */
export const localTimeSql = (row: string, at: string): string =>
  withOffsetSql(
    row,
    at,
    (offset) =>
      `strftime('%Y-%m-%dT%H:%M:%S', ${at} + ${offset}, 'unixepoch') || printf('%s%02d:%02d', iif(${offset} < 0, '-', '+'), abs(${offset}) / 3600, abs(${offset}) % 3600 / 60)`,
  )

/** The local day of an instant. */
export const localDateSql = (row: string, at: string): string =>
  withOffsetSql(row, at, (offset) => `date(${at} + ${offset}, 'unixepoch')`)

/**
 * The instant of a local time, written as if it were UTC. A repeated time is the first one; a skipped time is the clock
 * change.
 */
export const instantSql = (zone: string, local: string): string => `(select max(c.from_at, ${local} - c.offset_s) from (
      select * from time_zone_offset n where n.zone = ${zone} and n.from_at <= ${local} + 86400 order by n.from_at desc limit 3
    ) c where ${local} - c.offset_s < c.to_at order by c.from_at limit 1)`

/** The instant of a text column in UTC. PostgreSQL has the function in the schema `compat`. */
export const epochSeconds = <DB, TB extends keyof DB>(
  { fn }: ExpressionBuilder<DB, TB>,
  column: ReferenceExpression<DB, TB>,
): ExpressionWrapper<DB, TB, Instant> => fn<Instant>('unixepoch', [column])
