import type pg from 'pg'
import { shownAddress } from '../address.ts'
import { type LockHolder, lockedBy } from '../holder.ts'
import { connectAlone, LOCKS, nameLock, withClient } from './connection/connection.ts'

const { program: PROGRAM, writer: WRITER, schema: SCHEMA } = LOCKS

/** Milliseconds. Two processes that try at the same moment: how long the one that is about to end is waited for. */
const MEETING_MS = 200
/** How long a new holder has for making the tables, and saying who it is. */
const INTRODUCTION_MS = 5_000

/** How long the server may take a holder that was cut off for alive. */
const KEEPALIVE = 'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3'

/** Who holds a database, as it says itself: null while it has not said so yet, undefined where that cannot be read. */
async function findHolder(client: pg.Client): Promise<LockHolder | null | undefined> {
  try {
    // A statement that fails would end the transaction that a lock behind a pooler lives in.
    const { rows: tables } = await client.query<{ there: string | null }>(`select to_regclass('public._lock') as there`)
    if (tables[0]!.there === null) return null
    const { rows } = await client.query<LockHolder>(
      `select pid, host, command, acquired_at from public._lock where name = 'writer'`,
    )
    return rows[0] ?? null
  } catch {
    return undefined
  }
}

/**
 * Takes the writer's lock on a connection of its own, and returns how to release it. It ends with the connection, and so with
 * the process, however that ends. Throws BusyError while another one has it.
 */
export async function lockWriter(address: string): Promise<() => Promise<void>> {
  let client: pg.Client | undefined
  try {
    client = await connectAlone(address)
    await client.query(KEEPALIVE)
    const began = performance.now()
    for (;;) {
      const { rows } = await client.query<{ taken: 0 | 1 }>('select pg_try_advisory_lock($1, $2) as taken', [
        PROGRAM,
        WRITER,
      ])
      if (rows[0]!.taken === 1) break
      const holder = await findHolder(client)
      if (holder !== undefined && performance.now() - began < (holder ? MEETING_MS : INTRODUCTION_MS)) {
        await new Promise((resolve) => setTimeout(resolve, 50))
        continue
      }
      throw lockedBy(shownAddress(address), holder ?? undefined)
    }
    const holder = client
    return async () => {
      await holder.end().catch(() => undefined)
    }
  } catch (error) {
    await client?.end().catch(() => undefined)
    throw await nameLock(error, address)
  }
}

/** Runs work while no other process creates or changes the schema of a database; waits for one that does. */
export async function withSchemaLock<T>(address: string, work: () => Promise<T>): Promise<T> {
  try {
    return await withClient(address, async (client) => {
      await client.query('select pg_advisory_lock($1, $2)', [PROGRAM, SCHEMA])
      return work()
    })
  } catch (error) {
    throw await nameLock(error, address)
  }
}

/** Whether somebody holds a database for writing; undefined when that cannot be found out. */
export async function isLocked(address: string): Promise<boolean | undefined> {
  try {
    const stored = `select 1 from pg_locks where locktype = 'advisory' and classid = $1 and objid = $2 and granted
      and database = (select oid from pg_database where datname = current_database())`
    return (await withClient(address, (client) => client.query(stored, [PROGRAM, WRITER]))).rows.length > 0
  } catch {
    return undefined
  }
}
