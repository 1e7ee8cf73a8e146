import type { Kysely } from 'kysely'
import type pg from 'pg'
import { StoreError } from '../../util/errors.ts'
import { shownAddress } from '../address.ts'
import {
  createOlderSchemaError,
  migrateToLatest,
  migrationNumber,
  newestSchema,
  POSTGRES_MIGRATIONS,
  refuseNewerSchema,
  stateAt,
} from '../migrations.ts'
import type { SchemaState, Store } from '../store.ts'
import type { Database } from '../tables/schema.ts'
import { describeError, withClient } from './connection/connection.ts'
import { queryRows, runSql } from './connection/statements.ts'

/** The schema that this program supports. */
export const SCHEMA_VERSION = newestSchema(POSTGRES_MIGRATIONS)

const describeDatabase = (address: string): string => `The database ${shownAddress(address)}`

/**
 * Returns the schema version; 0 for an empty database. Refuses a database of another program or a newer version, and an
 * unfinished copy unless `allowsUnfinished`.
 */
async function checkOwner(client: pg.ClientBase, address: string, allowsUnfinished = false): Promise<number> {
  const { rows } = await client.query<{ migrations: string | null; mark: string | null; tables: number }>(
    `select to_regclass('public._migration')::text as migrations, ${MARK_SQL} as mark,
       (select count(*) from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace) as tables`,
  )
  const { migrations, mark, tables } = rows[0]!
  if (migrations === null && tables > 0)
    throw new StoreError(`${describeDatabase(address)} contains tables of another program.`, {
      hint: 'Pass another database with --database, or move your own tables into another schema. Nothing was changed.',
      code: 'foreign-database',
    })
  if (migrations === null) {
    await requireUtf8(client, address)
    return 0
  }
  if (mark !== null && !allowsUnfinished) throw createUnfinishedCopyError(address)
  const { rows: names } = await client.query<{ name: string }>('select name from public._migration')
  const version = Math.max(0, ...names.map(({ name }) => migrationNumber(name)))
  refuseNewerSchema(describeDatabase(address), version, SCHEMA_VERSION)
  return version
}

/** Refuses an empty database with another encoding, which cannot store all texts. */
async function requireUtf8(client: pg.ClientBase, address: string): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>(`select current_setting('server_encoding') as encoding`)
  const [{ encoding }] = rows as [{ encoding: string }]
  if (encoding === 'UTF8') return
  throw new StoreError(`The database ${shownAddress(address)} has the encoding ${encoding}; UTF8 is required.`, {
    hint: 'Create another one: createdb --encoding UTF8 --template template0 NAME.',
    code: 'bad-encoding',
  })
}

/** Refuses an open database that a newer version has migrated meanwhile. */
export async function checkStillOurs(db: Kysely<Database>, address: string): Promise<void> {
  const [row] = await queryRows<{ name: string }>(db, 'select max(name) as name from public._migration')
  refuseNewerSchema(describeDatabase(address), migrationNumber(row!.name), SCHEMA_VERSION)
}

/** Refuses a database without tables, or with an older schema. */
export async function checkReadable(client: pg.ClientBase, address: string): Promise<void> {
  const version = await checkOwner(client, address)
  if (version === SCHEMA_VERSION) return
  if (version > 0)
    throw createOlderSchemaError(describeDatabase(address), version, SCHEMA_VERSION, 'Run `indicator-sync migrate`.')
  throw new StoreError(`The database ${shownAddress(address)} has no tables yet.`, {
    hint: 'Run `indicator-sync sync <job>` or `indicator-sync migrate` first.',
    code: 'no-database',
  })
}

export const migrate = (db: Kysely<Database>): Promise<void> => migrateToLatest(db, POSTGRES_MIGRATIONS)

export async function readSchemaState(address: string, allowsUnfinished = false): Promise<SchemaState> {
  try {
    const version = await withClient(address, (client) => checkOwner(client, address, allowsUnfinished))
    return stateAt(POSTGRES_MIGRATIONS, version > 0, version)
  } catch (error) {
    throw await describeError(error, address)
  }
}

/*
 * The comment on `_run` marks an unfinished copy: it can only be continued, and only from the same source.
 */

const MARK = 'taken over from '

export const copyMark = (source: string): string => `${MARK}${source}`

/** The mark of a database, in SQL; null without tables. */
export const MARK_SQL = `(select d from obj_description(to_regclass('public._run'), 'pg_class') d where starts_with(d, '${MARK}'))`

export const writeMark = ({ kysely }: Store, mark: string | null) =>
  runSql(kysely, `comment on table _run is ${mark === null ? 'null' : `'${mark.replaceAll("'", "''")}'`}`)

const createUnfinishedCopyError = (address: string): StoreError =>
  new StoreError(`The database ${shownAddress(address)} is an unfinished copy of a file: values are missing.`, {
    hint: 'Run the same `indicator-sync migrate --from FILE` again to finish it, or drop the database.',
    code: 'unfinished-copy',
  })
