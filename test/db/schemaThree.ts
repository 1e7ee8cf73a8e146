import { viewSql } from '../../migrations/postgres/0001_schema.ts'
import { TABLE_NAMES, tableOf, VIEWS } from '../../src/db/tables/schema.ts'
import type { DatabaseView } from '../../src/db/tables/sql/views.ts'

/* The changes by the migration of PostgreSQL from schema 3: small columns had eight bytes, and views had their types. */

const columnsOf = (table: (typeof TABLE_NAMES)[number]): string[] =>
  Object.entries(tableOf(table).columns).flatMap(([name, { isSmall }]) => (isSmall ? [name] : []))

/** The tables with small columns. */
export const CHANGED_TABLES = TABLE_NAMES.filter((table) => columnsOf(table).length > 0)

/** The statements that turn a database into one of schema 3, with views of another program and their privileges. */
export const TO_SCHEMA_THREE: readonly string[] = [
  `drop view ${Object.keys(VIEWS).join(', ')}`,
  ...CHANGED_TABLES.map(
    (table) =>
      `alter table ${table} ${columnsOf(table)
        .map((name) => `alter ${name} type bigint`)
        .join(', ')}`,
  ),
  ...Object.entries<DatabaseView>(VIEWS).map(
    ([name, view]) => `create view ${name} as ${viewSql(view).replaceAll('step_s::bigint as step_s', 'step_s')}`,
  ),
  "delete from _migration where name >= '0004_small_columns'",
  'create schema other',
  `create view other."my view" with (security_invoker=true) as
     select series_id, geo_id, count(*) as n, sum(value * step_s) as weighted from observation group by series_id, geo_id`,
  'create view other.of_year as select at, value from observation_2025',
  'create view public.of_mine as select indicator_id, m.n from observations o join other."my view" m using (series_id, geo_id)',
  'grant select on other.of_year to public',
  'grant select on observations to public',
]
