import { type Kysely, sql } from 'kysely'
import { StoreError } from '../util/errors.ts'
import type { Blocks } from './engine.ts'
import { type Database, type TableName, tableOf } from './tables/schema.ts'

/** An open database from which tables are taken over. */
export interface TakeOverSource {
  readonly kysely: Kysely<Database>
  readonly file: string
  readonly copying: Copying | null
}

/** How a database is copied, and what a copy is filled with and made into. Only a file has it: a server copies by its own means. */
export interface Copying {
  /** How the file encodes texts: `UTF-8`, `UTF-16le` or `UTF-16be`. */
  encoding(): string
  /**
   * Makes another database equal to this one as it is now, in one transaction there; creates it where there is none. Others may
   * write here meanwhile.
   */
  copyInto(file: string): Promise<void>
  /** Takes over tables, row for row, from another database of the same schema. */
  takeTables(source: TakeOverSource, tables: readonly TableName[]): Promise<void>
  /** Takes over when rows were first seen in another database of the same schema, where that was earlier; each table with its key. */
  takeFirstSeen(source: TakeOverSource, tables: Readonly<Record<string, readonly string[]>>): Promise<void>
  /** Turns an open copy into a product, and writes it to a file. */
  finishCopy(file: string, bookkeeping: boolean): Promise<void>
}

/** What is made of a file can only be made of a file. */
export const onlyFiles = (what: string): StoreError =>
  new StoreError(`${what} requires an SQLite file.`, {
    hint: 'Run it on an SQLite file that the same job keeps up to date; docs/postgresql.md lists other ways.',
    code: 'only-files',
  })

/** How a database is copied. Throws StoreError where it is on a server. */
export function requireCopying({ copying }: Pick<TakeOverSource, 'copying'>): Copying {
  if (copying) return copying
  throw onlyFiles('A copy')
}

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
