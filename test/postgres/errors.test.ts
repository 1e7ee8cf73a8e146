import { createServer, type Socket } from 'node:net'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openReader } from '../../src/db/open.ts'
import { describeError } from '../../src/db/postgres/connection/connection.ts'
import { asStoreError, isConnectionLost } from '../../src/db/postgres/storeErrors.ts'
import { BusyError, type SyncError } from '../../src/util/errors.ts'
import { asSyncError } from '../../src/util/systemErrors.ts'
import { migratedDatabase } from './database.ts'
import { freePort } from './server.ts'

const ADDRESS = 'postgres://db/x'

test.each([
  [{ code: 'ENETUNREACH', syscall: 'connect' }, 'connect ENETUNREACH 10.0.0.1:5432'],
  [{ code: 'ENETDOWN', syscall: 'connect' }, 'connect ENETDOWN 10.0.0.1:5432'],
  [{ code: 'EADDRNOTAVAIL', syscall: 'connect' }, 'connect EADDRNOTAVAIL ::1:5432'],
  [{ code: 'ECONNABORTED', syscall: 'write' }, 'write ECONNABORTED'],
  [{}, 'timeout expired'],
  [{}, 'There was an error establishing an SSL connection'],
  [{}, 'Received unexpected commandComplete message from backend.'],
  [{}, 'Connection terminated unexpectedly'],
])('an unreachable or disconnected database is a StoreError, not a bug: %j %s', (fields, message) => {
  const error = asStoreError(Object.assign(new Error(message), fields), ADDRESS)
  expect(error).toMatchObject({ name: 'StoreError', hint: expect.any(String) })
  expect((error as SyncError).message).toContain(ADDRESS)
  expect(isConnectionLost(error)).toBe(true)
  expect(asSyncError(error)).toBe(error)
})

/** Builds the server message of an authentication step. */
const asking = (step: number, text: string): Buffer =>
  Buffer.concat([Buffer.from('R'), Buffer.from([0, 0, 0, 8 + text.length, 0, 0, 0, step]), Buffer.from(text)])

test('a missing password closes the connection immediately', async () => {
  const ended = Promise.withResolvers<void>()
  const server = createServer((socket: Socket) => {
    socket.once('data', () => {
      socket.write(asking(10, 'SCRAM-SHA-256\0\0'))
      socket.once('data', () => socket.write(asking(11, 'r=x,s=eA==,i=1')))
    })
    socket.once('end', ended.resolve)
    onTestFinished(() => void socket.destroy())
  })
  onTestFinished(() => void server.close())
  const port = await freePort()
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening))
  const reader = openReader(`postgres://nobody@127.0.0.1:${port}/x`)
  onTestFinished(() => reader.close())
  await expect(reader.kysely.selectFrom('_fetch').selectAll().execute()).rejects.toMatchObject({ code: 'no-password' })
  await ended.promise
})

test('the error about missing free connections names the responsible limit', () => {
  const refusal = new Error('too many connections for role "analyst"')
  const error = asStoreError(Object.assign(refusal, { severity: 'FATAL', code: '53300' }), ADDRESS)
  expect(error).toMatchObject({
    message: `The server of the database ${ADDRESS} has no free connections: too many connections for role "analyst".`,
    hint: expect.stringContaining('the limit of the role'),
  })
})

test.each([
  ['42P05', 'prepared statement "p-1" already exists'],
  ['26000', 'prepared statement "p-1" does not exist'],
])('%s names the setting for a pooler in transaction mode', (code, message) => {
  const error = asStoreError(Object.assign(new Error(message), { severity: 'ERROR', code }), ADDRESS)
  expect(error).toMatchObject({
    message: `The connection to the database ${ADDRESS} changed between two statements (${message}), as behind pgbouncer in transaction mode.`,
    hint: expect.stringContaining('?pooling=transaction'),
  })
})

describe('a table locked by another session', () => {
  const lockedDatabase = async (table: string) => {
    const url = await migratedDatabase()
    const other = new pg.Client({ connectionString: url, application_name: 'maintenance' })
    other.on('error', () => undefined)
    await other.connect()
    onTestFinished(() => other.end())
    await other.query(`begin; lock table ${table}`)
    const { rows } = await other.query('select pg_backend_pid() as pid')
    return { url, pid: rows[0].pid as number }
  }
  const named = (pid: number, table: string) => ({
    message: expect.stringMatching(
      new RegExp(
        `^Session ${pid} \\(maintenance, user postgres, idle in transaction, .*lock on ${table}\\) held locks on the database `,
      ),
    ),
    hint: expect.stringMatching(new RegExp(`pg_terminate_backend\\(${pid}\\).*again`)),
  })

  test.each(['_fetch', '_migration'])('the error names the session that locks %s', async (table) => {
    const { url, pid } = await lockedDatabase(table)
    const reader = openReader(`${url}?lock_timeout=50`)
    onTestFinished(() => reader.close())
    const error = await reader.kysely
      .selectFrom('_fetch')
      .selectAll()
      .execute()
      .catch((error: unknown) => error)
    expect(error).toBeInstanceOf(BusyError)
    expect(error).toMatchObject({ code: '55p03', ...named(pid, table) })
  })

  test('the error names the locking session if all connections wait for it', async () => {
    const { url, pid } = await lockedDatabase('_fetch')
    const waited = new Error('timeout exceeded when trying to connect')
    const error = await describeError(waited, url)
    expect(error).toBeInstanceOf(BusyError)
    expect(error).toMatchObject({ code: 'all-busy', ...named(pid, '_fetch') })
    expect(isConnectionLost(error)).toBe(false)
  })
})

test('a timeout while waiting for a free connection is not reported as an unresponsive server', async () => {
  expect(
    await describeError(new Error('timeout exceeded when trying to connect'), await migratedDatabase()),
  ).toMatchObject({
    name: 'BusyError',
    message: expect.stringMatching(/^All connections of this command to the database .* are in use/),
  })
})

test.each([
  ['40001', 'could not serialize access due to concurrent update'],
  ['40P01', 'deadlock detected'],
])('%s after the last attempt is reported as a conflict with other sessions', (code, message) => {
  const error = asStoreError(Object.assign(new Error(message), { severity: 'ERROR', code }), ADDRESS)
  expect(error).toBeInstanceOf(BusyError)
  expect((error as SyncError).message).toBe(
    `Other sessions held locks on the database ${ADDRESS} for too long (${message}).`,
  )
})
