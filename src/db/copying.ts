import { type Kysely, sql } from 'kysely'
import { StoreError } from '../util/errors.ts'
import type { Blocks } from './engine.ts'
import { type Database, type TableName, tableOf } from './tables/schema.ts'

/** An open database whose tables are copied. */
export interface TakeOverSource {
  readonly kysely: Kysely<Database>
  readonly file: string
  readonly copying: Copying | null
}

/** Operations to copy a file. Servers have their own. */
export interface Copying {
  /**
   * Makes another file equal to this database, in one transaction there. Creates it if necessary. Others may write here meanwhile.
   */
  copyInto(file: string): Promise<void>
  /** Copies tables from another database of the same schema. */
  takeTables(source: TakeOverSource, tables: readonly TableName[]): Promise<void>
  /** Copies earlier `first_seen_at` of rows from another database of the same schema. Each table has its key. */
  takeFirstSeen(source: TakeOverSource, tables: Readonly<Record<string, readonly string[]>>): Promise<void>
  /** Makes an open copy a published one, and writes it to a file. */
  finishCopy(file: string, keepsBookkeeping: boolean): Promise<void>
}

/** Returns the copying of a file. Throws StoreError for a server. */
export function requireCopying({ copying }: Pick<TakeOverSource, 'copying'>): Copying {
  if (copying) return copying
  throw new StoreError('A copy requires an SQLite file.', {
    hint: 'Run it on an SQLite file that the same job keeps up to date; docs/postgresql.md lists other ways.',
    code: 'only-files',
  })
}

/** A row by column name. */
export type Row = Readonly<Record<string, unknown>>

/** Tables that are not copied, because each database has its own. */
export const UNCOPIED_TABLES: readonly TableName[] = ['_lock', '_fence', 'data_dictionary']

const ROWS_PER_TABLE_BLOCK = 20_000
/** Bodies are large. */
const REPLIES_PER_BLOCK = 100

/** The rows of a table in the order of its key, optionally after one of them. */
export async function* tableBlocks(
  { kysely }: Pick<TakeOverSource, 'kysely'>,
  table: TableName,
  from?: Row,
): Blocks<Row> {
  const { columns, key } = tableOf(table)
  const refs = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)))
  const limit = table === '_reply' ? REPLIES_PER_BLOCK : ROWS_PER_TABLE_BLOCK
  for (let after = from; ; ) {
    const later = after ? sql`where (${refs(key)}) > (${sql.join(key.map((name) => after![name]))})` : sql``
    const { rows } = await sql<Row>`select ${refs(Object.keys(columns))} from ${sql.table(table)} ${later}
      order by ${refs(key)} limit ${sql.lit(limit)}`.execute(kysely)
    if (rows.length > 0) yield rows
    if (rows.length < limit) return
    after = rows.at(-1)!
  }
}
