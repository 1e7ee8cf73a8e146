import type { Kysely } from 'kysely'
import type pg from 'pg'
import { StoreError } from '../../util/errors.ts'
import { shownAddress } from '../address.ts'
import {
  migrateToLatest,
  migrationNumber,
  newestSchema,
  olderSchema,
  POSTGRES_MIGRATIONS,
  refuseUnknownSchema,
  stateAt,
  UNRELEASED_MIGRATION,
} from '../migrations.ts'
import type { SchemaState, Store } from '../store.ts'
import type { Database } from '../tables/schema.ts'
import { nameLock, withClient } from './connection/connection.ts'
import { queryRows, runSql } from './connection/statements.ts'

/** The schema that this program speaks. */
export const SCHEMA_VERSION = newestSchema(POSTGRES_MIGRATIONS)

const named = (address: string): string => `The database ${shownAddress(address)}`

/**
 * The number of the last migration that a database has seen; 0 if it is empty. Refuses a database of another program, one of a
 * newer version of this one, and an unfinished copy (unless `unfinished`), before anything of it is touched.
 */
async function checkOwner(client: pg.ClientBase, address: string, unfinished = false): Promise<number> {
  const { rows } = await client.query<{ there: string | null; mark: string | null; tables: number }>(
    `select to_regclass('public._migration')::text as there, ${MARK_SQL} as mark,
       (select count(*) from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace) as tables`,
  )
  const { there, mark, tables } = rows[0]!
  if (there === null && tables > 0)
    throw new StoreError(`${named(address)} contains tables of another program.`, {
      hint: 'Pass another database with --database, or move your own tables into another schema. Nothing was changed.',
      code: 'foreign-database',
    })
  if (there === null) {
    await requireUtf8(client, address)
    return 0
  }
  if (mark !== null && !unfinished) throw unfinishedCopy(address)
  const { rows: names } = await client.query<{ name: string }>('select name from public._migration')
  const version = Math.max(0, ...names.map(({ name }) => migrationNumber(name)))
  const isUnreleased = names.some(({ name }) => name === UNRELEASED_MIGRATION)
  refuseUnknownSchema(named(address), version, SCHEMA_VERSION, isUnreleased)
  return version
}

/** Refuses an empty database that would keep texts in another encoding: it lacks signs, or does not know what one is. */
async function requireUtf8(client: pg.ClientBase, address: string): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>(`select current_setting('server_encoding') as encoding`)
  const [{ encoding }] = rows as [{ encoding: string }]
  if (encoding === 'UTF8') return
  throw new StoreError(`The database ${shownAddress(address)} has the encoding ${encoding}; UTF8 is required.`, {
    hint: 'Create another one: createdb --encoding UTF8 --template template0 NAME.',
    code: 'bad-encoding',
  })
}

/** Refuses an open database that a newer version of this program has migrated meanwhile. */
export async function checkStillOurs(db: Kysely<Database>, address: string): Promise<void> {
  const [row] = await queryRows<{ name: string }>(db, 'select max(name) as name from public._migration')
  refuseUnknownSchema(named(address), migrationNumber(row!.name), SCHEMA_VERSION)
}

/** Refuses what cannot be read. */
export async function checkReadable(client: pg.ClientBase, address: string): Promise<void> {
  const version = await checkOwner(client, address)
  if (version === SCHEMA_VERSION) return
  if (version > 0) throw olderSchema(named(address), version, SCHEMA_VERSION, 'Run `indicator-sync migrate`.')
  throw new StoreError(`The database ${shownAddress(address)} has no tables yet.`, {
    hint: 'Run `indicator-sync sync <job>` or `indicator-sync migrate` first.',
    code: 'no-database',
  })
}

/** Brings the schema up to date: all or nothing, under a lock that others wait for. */
export const migrate = (db: Kysely<Database>): Promise<void> => migrateToLatest(db, POSTGRES_MIGRATIONS)

/** The schema of a database, and the migrations that this program knows; of an unfinished copy only where `unfinished`. */
export async function schemaState(address: string, unfinished = false): Promise<SchemaState> {
  try {
    const version = await withClient(address, (client) => checkOwner(client, address, unfinished))
    return stateAt(POSTGRES_MIGRATIONS, version > 0, version)
  } catch (error) {
    throw await nameLock(error, address)
  }
}

/*
 * What is written beside `_run` while another database is taken over: an interrupted copy is continued, and only from the same
 * source; until then nobody else takes it for a whole database.
 */

const MARK = 'taken over from '

export const markOf = (source: string): string => `${MARK}${source}`

/** The mark of a database, as an expression of SQL; null where there are no tables. */
export const MARK_SQL = `(select d from obj_description(to_regclass('public._run'), 'pg_class') d where starts_with(d, '${MARK}'))`

export const writeMark = ({ kysely }: Store, mark: string | null) =>
  runSql(kysely, `comment on table _run is ${mark === null ? 'null' : `'${mark.replaceAll("'", "''")}'`}`)

/** Why an unfinished copy is not opened. */
const unfinishedCopy = (address: string): StoreError =>
  new StoreError(`The database ${shownAddress(address)} is an unfinished copy of a file: values are missing.`, {
    hint: 'Run the same `indicator-sync migrate --from FILE` again to finish it, or drop the database.',
    code: 'unfinished-copy',
  })
