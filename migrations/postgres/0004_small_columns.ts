import { type Kysely, sql } from 'kysely'
import { postgresType } from '../../src/db/tables/ddl.ts'
import { MAX_SMALL } from '../../src/db/tables/declare.ts'
import { TABLE_NAMES, type TableName, tableOf } from '../../src/db/tables/schema.ts'
import { StoreError } from '../../src/util/errors.ts'
import { run } from '../upgrade.ts'
import { withoutViews } from './dependentViews.ts'

/** The small columns of a table that a database still stores in eight bytes. */
async function readWideColumns(db: Kysely<unknown>, table: TableName): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_attribute
    where attrelid = ${`public.${table}`}::text::regclass and atttypid = 'bigint'::regtype`.execute(db)
  const stored = new Set(rows.map(({ name }) => name))
  return Object.entries(tableOf(table).columns).flatMap(([name, { isSmall }]) =>
    isSmall && stored.has(name) ? [name] : [],
  )
}

/** Refuses a table with a number that does not fit, before anything is written. */
async function requireSmallNumbers(db: Kysely<unknown>, table: TableName, columns: readonly string[]): Promise<void> {
  const isTooLarge = columns.map((name) => `abs(${name}) > ${MAX_SMALL}`).join(' or ')
  const { rows } = await sql
    .raw<Record<string, unknown>>(`select ${columns.join(', ')} from ${table} where ${isTooLarge} limit 1`)
    .execute(db)
  for (const [name, number] of Object.entries(rows[0] ?? {}))
    if (Math.abs(Number(number)) > MAX_SMALL)
      throw new StoreError(`The column ${name} of ${table} contains ${number}; ${MAX_SMALL} is the largest number.`, {
        hint: `Delete the rows with this ${name}, then run the command again. Nothing was changed.`,
        code: 'number-too-large',
      })
}

/**
 * Stores the small columns of values in four bytes. This writes the tables and their indexes anew, in the transaction of the migrations:
 * an interruption undoes it. A new database has these columns already.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const changed: { readonly table: TableName; readonly columns: readonly string[] }[] = []
  for (const table of TABLE_NAMES) {
    const columns = await readWideColumns(db, table)
    if (columns.length > 0) changed.push({ table, columns })
  }
  if (changed.length === 0) return
  await run(db, 'set local statement_timeout = 0')
  for (const { table, columns } of changed) await requireSmallNumbers(db, table, columns)
  const tables = changed.map(({ table }) => table)
  await withoutViews(db, tables, async () => {
    for (const { table, columns } of changed) {
      const types = columns.map((name) => `alter ${name} type ${postgresType(tableOf(table).columns[name]!)}`)
      await run(db, `alter table ${table} ${types.join(', ')}`)
    }
  })
  // The statistics of a changed column are lost.
  for (const table of tables) await run(db, `analyze ${table}`)
}
