import { expressionBuilder, sql } from 'kysely'
import type { Reader } from '../store.ts'
import type { Database } from '../tables/schema.ts'
import { localeOrderSql, unitSql } from '../tables/sql/expressions.ts'

const expressions = expressionBuilder<Database, never>()

/** The column with the name of an indicator, in the preferred language if stored. `kind` and `id` are columns of the query. */
export const indicatorNameColumn = (kind: string, id: string) =>
  expressions
    .selectFrom('indicator_text as t')
    .select('t.name')
    .where('t.kind', '=', sql.ref<string>(kind))
    .where('t.id', '=', sql.ref<number>(id))
    .where('t.name', 'is not', null)
    .orderBy(sql.raw(localeOrderSql('t.locale')))
    .limit(1)
    .as('name')

/** The column with the name of a geo. */
export const geoNameColumn = <A extends string>(id: string, alias: A) =>
  expressions
    .selectFrom('geo_text as t')
    .select('t.name')
    .where('t.id', '=', sql.ref<number>(id))
    .where('t.name', 'is not', null)
    .orderBy(sql.raw(localeOrderSql('t.locale')))
    .limit(1)
    .as(alias)

/** The column with the unit of an indicator, or the name of its quantity if the unit is unknown. */
export const unitColumn = (kind: string, id: string) =>
  expressions
    .selectFrom('indicator as n')
    .leftJoin('magnitude as m', 'm.id', 'n.magnitude_id')
    .select(({ fn }) => fn.coalesce('m.unit', 'n.magnitude').as('unit'))
    .where('n.kind', '=', sql.ref<string>(kind))
    .where('n.id', '=', sql.ref<number>(id))
    .as('unit')

/** The column with the unit of a series, an alias of the query: `sum of MW` for sums of powers over time. */
export const seriesUnitColumn = (series: string) => sql.raw<string | null>(unitSql(series)).as('unit')

/** Reads the stored kinds of indicators, content or archives, of any service. */
export async function readKinds({ kysely }: Reader, table: 'indicator' | 'content' | 'archive'): Promise<string[]> {
  const rows = await kysely.selectFrom(table).select('kind').distinct().orderBy('kind').execute()
  return rows.map(({ kind }) => kind)
}
