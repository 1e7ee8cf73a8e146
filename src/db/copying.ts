import type { Kysely } from 'kysely'
import { StoreError } from '../util/errors.ts'
import type { Database, TableName } from './tables/schema.ts'

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
  new StoreError(`${what} only with a database in a file.`, {
    hint: 'Keep a file beside the server with the same job (it requests what it lacks), and do it there; docs/scale.md lists other ways.',
    code: 'only-files',
  })

/** How a database is copied. Throws StoreError where it is on a server. */
export function copyingOf({ copying }: Pick<TakeOverSource, 'copying'>): Copying {
  if (copying) return copying
  throw onlyFiles('A copy is made')
}
