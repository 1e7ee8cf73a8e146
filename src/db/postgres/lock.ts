import type pg from 'pg'
import { shownAddress } from '../address.ts'
import { createLockedError, type LockHolder } from '../holder.ts'
import { connectAlone, describeError, LOCKS, withClient } from './connection/connection.ts'

const { program: PROGRAM, writer: WRITER, schema: SCHEMA } = LOCKS

/** Milliseconds to wait for a process that is about to end. */
const ENDING_MS = 200
/** Milliseconds in which a new holder creates the tables and records itself. */
const RECORD_MS = 5_000

/** Limits how long a disconnected holder keeps the lock. */
const KEEPALIVE = 'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3'

/** Reads the recorded holder: null if there is none yet, undefined if it cannot be read. */
async function findHolder(client: pg.Client): Promise<LockHolder | null | undefined> {
  try {
    // A failed statement would end the transaction that keeps the lock behind a pooler.
    const { rows: tables } = await client.query<{ name: string | null }>(`select to_regclass('public._lock') as name`)
    if (tables[0]!.name === null) return null
    const { rows } = await client.query<LockHolder>(
      `select pid, host, command, acquired_at from public._lock where name = 'writer'`,
    )
    return rows[0] ?? null
  } catch {
    return undefined
  }
}

/**
 * Acquires the writer's lock on a separate connection, and returns how to release it. The lock ends with the connection, and so
 * with the process. Throws BusyError if another process has it.
 */
export async function lockWriter(address: string): Promise<() => Promise<void>> {
  let client: pg.Client | undefined
  try {
    client = await connectAlone(address)
    await client.query(KEEPALIVE)
    const began = performance.now()
    for (;;) {
      const { rows } = await client.query<{ acquired: 0 | 1 }>('select pg_try_advisory_lock($1, $2) as acquired', [
        PROGRAM,
        WRITER,
      ])
      if (rows[0]!.acquired === 1) break
      const holder = await findHolder(client)
      if (holder !== undefined && performance.now() - began < (holder ? ENDING_MS : RECORD_MS)) {
        await new Promise((resolve) => setTimeout(resolve, 50))
        continue
      }
      throw createLockedError(shownAddress(address), holder ?? undefined)
    }
    const holder = client
    return async () => {
      await holder.end().catch(() => undefined)
    }
  } catch (error) {
    await client?.end().catch(() => undefined)
    throw await describeError(error, address)
  }
}

/** Runs work while no other process changes the schema, after waiting for one that does. */
export async function withSchemaLock<T>(address: string, work: () => Promise<T>): Promise<T> {
  try {
    return await withClient(address, async (client) => {
      await client.query('select pg_advisory_lock($1, $2)', [PROGRAM, SCHEMA])
      return work()
    })
  } catch (error) {
    throw await describeError(error, address)
  }
}

export async function isLocked(address: string): Promise<boolean | undefined> {
  try {
    const stored = `select 1 from pg_locks where locktype = 'advisory' and classid = $1 and objid = $2 and granted
      and database = (select oid from pg_database where datname = current_database())`
    return (await withClient(address, (client) => client.query(stored, [PROGRAM, WRITER]))).rows.length > 0
  } catch {
    return undefined
  }
}
