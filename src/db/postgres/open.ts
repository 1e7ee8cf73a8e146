import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely, Transaction } from 'kysely'
import type pg from 'pg'
import { BusyError, SignalError, StoreError } from '../../util/errors.ts'
import { shownAddress } from '../address.ts'
import { refreshZones, writeDictionary } from '../queries/referenceTables.ts'
import type { InternalStoreOptions, Reader, Store } from '../store.ts'
import type { Database } from '../tables/schema.ts'
import { type Connection, connect } from './connection/connection.ts'
import { writeIdleLimit } from './connection/session.ts'
import { queryRows, runSql } from './connection/statements.ts'
import { createCoordination } from './coordination.ts'
import { createEngine } from './engine.ts'
import { withSchemaLock } from './lock.ts'
import { replaceTables } from './replaceTables.ts'
import { checkReadable, checkStillOurs, migrate, readSchemaState, SCHEMA_VERSION } from './schema.ts'
import { attemptsFor, isConnectionLost } from './storeErrors.ts'

/**
 * Changed rows after which statistics are updated here. The server never updates those of a partitioned table.
 */
const CHANGED_ROWS = 20_000

/** Updates missing or outdated statistics for the query planner. */
async function tidyDatabase(db: Kysely<Database>): Promise<void> {
  const rows = await queryRows<{ name: string }>(
    db,
    `select distinct coalesce(p.inhparent, s.relid)::regclass::text as name
     from pg_stat_user_tables s left join pg_inherits p on p.inhrelid = s.relid
     where s.schemaname = 'public' and has_table_privilege(s.relid, 'insert')
       and (s.n_mod_since_analyze > ${CHANGED_ROWS} or s.n_mod_since_analyze > 0 and s.last_analyze is null)`,
  )
  for (const { name } of rows) await runSql(db, `analyze ${name}`)
}

function createReader(connection: Connection, address: string): Reader {
  return {
    file: shownAddress(address),
    address,
    schema: SCHEMA_VERSION,
    kysely: connection.kysely,
    engine: createEngine(connection),
    coordination: createCoordination(connection.kysely),
    copying: null,
    close: () => connection.close(),
  }
}

/** The web page reads concurrently. */
const READER_CONNECTIONS = 4
/** Transactions are written one after the other; reads do not wait for them. */
const WRITER_CONNECTIONS = 3

/** Opens a database for reading. The first query checks it. */
export function openReader(address: string): Reader {
  const first = (client: pg.ClientBase) => checkReadable(client, address)
  return createReader(connect(address, { connections: READER_CONNECTIONS, first }), address)
}

/** Attempts to find out whether a transaction was committed, and the first pause between them. */
const MAX_ATTEMPTS = 8
const PAUSE_MS = 50

const createTakenOverError = (address: string): BusyError =>
  new BusyError(`Another process is now writing to ${shownAddress(address)}; this one has stopped.`, {
    hint: 'The connection was lost, and another command took over. Run the command again when that one has finished.',
    code: 'taken-over',
  })

/** Creates or migrates the tables, and updates reference tables. */
async function updateSchema({ kysely }: Reader, address: string, allowsUnfinished: boolean): Promise<void> {
  const { version } = await readSchemaState(address, allowsUnfinished)
  if (version < SCHEMA_VERSION) await migrate(kysely)
  await refreshZones(kysely)
  const entry = await kysely.selectFrom('data_dictionary').select('object').limit(1).executeTakeFirst()
  if (version < SCHEMA_VERSION || !entry) await writeDictionary(kysely)
}

export async function openStore(
  address: string,
  { durability = 'normal', signal, allowsUnfinished = false }: InternalStoreOptions = {},
): Promise<Store> {
  // A crash of the server may lose the transactions of the last half second, which the next sync fetches again.
  const settings = [`synchronous_commit = ${durability === 'full' ? 'on' : 'off'}`]
  const connection = connect(address, { connections: WRITER_CONNECTIONS, settings })
  const { kysely } = connection
  const reader = createReader(connection, address)
  try {
    await withSchemaLock(address, () => updateSchema(reader, address, allowsUnfinished))
  } catch (error) {
    await connection.close()
    throw error
  }

  let ours: number | null = null
  const idleLimit = writeIdleLimit(address)
  /** Checks the fence, limits idle time, and returns the number of the transaction. */
  async function begin(tx: Transaction<Database>): Promise<string> {
    const columns = `select pg_current_xact_id()::text as id, ${idleLimit}`
    if (ours === null) return (await queryRows<{ id: string }>(tx, columns))[0]!.id
    const [row] = await queryRows<{ id: string; number: number }>(
      tx,
      `${columns}, number from _fence where name = 'writer' for share`,
    )
    if (row?.number !== ours) throw createTakenOverError(address)
    return row.id
  }

  /** Whether a transaction was committed whose connection was lost during the commit. */
  async function isCommitted(id: string): Promise<boolean> {
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++)
      try {
        const [row] = await queryRows<{ status: string | null }>(
          kysely,
          'select pg_xact_status($1::text::xid8) as status',
          [id],
        )
        if (row?.status === 'committed' || row?.status === 'aborted') return row.status === 'committed'
        await sleep(PAUSE_MS * 2 ** attempts)
      } catch (error) {
        if (!isConnectionLost(error)) throw error
        await sleep(PAUSE_MS * 2 ** attempts)
      }
    throw new StoreError(`The connection to ${shownAddress(address)} was lost during a commit.`, {
      hint: 'Run the command again: it fetches missing data.',
      code: 'commit-unknown',
    })
  }

  async function attempt<T>(work: (tx: Transaction<Database>) => Promise<T>): Promise<T> {
    let id: string | undefined
    let done: { readonly result: T } | undefined
    try {
      return await kysely.transaction().execute(async (tx) => {
        const beginning = begin(tx)
        beginning.catch(() => undefined)
        const result = await work(tx)
        id = await beginning
        done = { result }
        return result
      })
    } catch (error) {
      if (isConnectionLost(error) && id !== undefined && done && (await isCommitted(id))) return done.result
      throw error
    }
  }

  /** Retries after conflicts and lost connections. */
  async function repeated<T>(work: () => Promise<T>): Promise<T> {
    for (let attempts = 0; ; attempts++)
      try {
        return await work()
      } catch (error) {
        if (attempts + 1 >= attemptsFor(error)) throw error
        if (signal?.aborted) throw new SignalError(error)
        // A random factor, so that two processes do not collide again.
        await sleep(PAUSE_MS * 2 ** Math.min(attempts, 6) * (0.5 + Math.random()))
      }
  }

  let last: Promise<unknown> = Promise.resolve()
  const store: Store = {
    ...reader,
    coordination: createCoordination(kysely, repeated),
    // Runs one transaction at a time, as in a file.
    write(work) {
      const result = last.then(() => repeated(() => attempt(work)))
      last = result.catch(() => undefined)
      return result
    },
    replaceTables: (rebuilt, tables) => replaceTables(rebuilt, store, tables),
    tidy: () => tidyDatabase(kysely),
    // Only stored responses are deleted in bulk.
    async shrink() {
      await runSql(kysely, 'vacuum (full) _reply')
    },
    async check() {
      await checkStillOurs(kysely, address)
      if (ours === null) return
      const row = await kysely.selectFrom('_fence').select('number').where('name', '=', 'writer').executeTakeFirst()
      if (row?.number !== ours) throw createTakenOverError(address)
    },
    fence(number) {
      ours = number
    },
    async close() {
      await last
      await connection.close()
    },
  }
  return store
}
