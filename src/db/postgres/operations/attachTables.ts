import type pg from 'pg'
import { InputError } from '../../../util/errors.ts'
import type { AttachedTable } from '../../engine.ts'
import { createTakenNameError, quoteName } from '../../statementErrors.ts'
import type { Connection } from '../connection/connection.ts'
import { underlyingError } from '../storeErrors.ts'

const TYPES = {
  integer: 'bigint',
  real: 'double precision',
  text: 'text',
  date: 'date',
  time: 'timestamp',
  instant: 'timestamptz',
} as const

/** PostgreSQL ignores the rest of a name. */
const NAME_BYTES = 63

/** Throws InputError if two columns have the same name for PostgreSQL. */
function refuseEqualNames({ name: table, columns }: AttachedTable): void {
  // A character that ends later is ignored, too.
  const start = (name: string) => new TextDecoder().decode(Buffer.from(name).subarray(0, NAME_BYTES), { stream: true })
  const byStart = Map.groupBy(columns, ({ name }) => start(name))
  for (const [first, second] of byStart.values())
    if (first && second)
      throw new InputError(
        `The columns ${first.name} and ${second.name} of ${table} begin with the same ${NAME_BYTES} bytes, and PostgreSQL ignores the rest.`,
        { hint: 'Shorten one of the names in the CSV file.', code: 'bad-csv' },
      )
}

async function createTables(client: pg.ClientBase, tables: readonly AttachedTable[]): Promise<void> {
  // A temporary table would hide a table of the server with its name, such as pg_class.
  const stored = `select from pg_catalog.pg_class
    where relnamespace in ('public'::regnamespace, 'pg_catalog'::regnamespace) and lower(relname) = lower($1)`
  for (const table of tables) {
    const { name, columns, rows } = table
    refuseEqualNames(table)
    if ((await client.query(stored, [name])).rows.length > 0) throw createTakenNameError(name)
    const declared = columns.map((column) => `${quoteName(column.name)} ${TYPES[column.type]}`)
    await client.query(`create temporary table ${quoteName(name)} (${declared.join(', ')}) on commit drop`)
    const arrays = columns.map(({ type }, i) => `$${i + 1}::${TYPES[type]}[]`)
    await client.query(
      `insert into pg_temp.${quoteName(name)} select * from unnest(${arrays.join(', ')})`,
      columns.map((_, i) => rows.map((row) => row[i])),
    )
  }
}

/** Adds temporary tables to a transaction, which is read-only afterwards. They end with it. */
export async function attachTables(connection: Connection, tables: readonly AttachedTable[]): Promise<void> {
  try {
    await connection.beginSnapshot((client) => createTables(client, tables))
  } catch (error) {
    const code = String((underlyingError(error) as { readonly code?: unknown } | undefined)?.code)
    // The role lacks the privilege, or the server is a standby.
    if (code !== '42501' && code !== '25006' && code !== '0A000') throw error
    throw new InputError('This user of the server cannot create temporary tables.', {
      hint: 'Grant TEMPORARY on the database to the user, or query a database file or a published copy.',
      code: 'not-allowed',
      cause: error,
    })
  }
}
