import { sql } from 'kysely'
import type { TakeOverSource } from './copying.ts'
import type { Blocks } from './engine.ts'
import { type TableName, tableOf } from './tables/schema.ts'

/** A row by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>

/** Who writes, and what is said of the schema: each database has its own, and none takes over that of another. */
export const OWN_TABLES: readonly TableName[] = ['_lock', '_fence', 'data_dictionary']

/** Rows at a time; of bodies, which are large, few. */
const ROWS_PER_TABLE_BLOCK = 20_000
const BODIES = 100

/** The rows of a table in the order of its key, from after a key on where one is given. */
export async function* tableBlocks(
  { kysely }: Pick<TakeOverSource, 'kysely'>,
  table: TableName,
  from?: Row,
): Blocks<Row> {
  const { columns, key } = tableOf(table)
  const refs = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)))
  const limit = table === '_reply' ? BODIES : ROWS_PER_TABLE_BLOCK
  for (let after = from; ; ) {
    const later = after ? sql`where (${refs(key)}) > (${sql.join(key.map((name) => after![name]))})` : sql``
    const { rows } = await sql<Row>`select ${refs(Object.keys(columns))} from ${sql.table(table)} ${later}
      order by ${refs(key)} limit ${sql.lit(limit)}`.execute(kysely)
    if (rows.length > 0) yield rows
    if (rows.length < limit) return
    after = rows.at(-1)!
  }
}
