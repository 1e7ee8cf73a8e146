import * as bookkeeping from './bookkeeping.ts'
import * as contents from './content.ts'
import type { RowOf, Table } from './declare.ts'
import * as indicators from './indicator.ts'
import * as judgement from './judgement.ts'
import * as seriesTables from './series.ts'
import type { ViewRows } from './sql/views.ts'

/** Every table of the database; docs/schema.md describes them. */
export const TABLES = {
  ...indicators,
  ...seriesTables,
  ...judgement,
  ...contents,
  ...bookkeeping,
}

export type TableName = keyof typeof TABLES
export const TABLE_NAMES = Object.keys(TABLES) as TableName[]
/** A declaration without its literal types, for code that treats all tables alike. */
export const tableOf = (name: TableName): Table => TABLES[name] as unknown as Table

/** The names of the columns of a table, optionally with an alias. */
export const columnList = (table: TableName, row?: string): string =>
  Object.keys(tableOf(table).columns)
    .map((name) => (row ? `${row}.${name}` : name))
    .join(', ')

/** The database as Kysely sees it: every table and every view. */
export type Database = { [T in TableName]: RowOf<(typeof TABLES)[T]> } & ViewRows

export { SEVERAL_SERIES } from './sql/valueViews.ts'
export { VIEWS } from './sql/views.ts'
