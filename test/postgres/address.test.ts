import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { isAddress, passwordIn, shownAddress } from '../../src/db/address.ts'
import { openReader, openStore, readSchemaState } from '../../src/db/open.ts'
import { driverConfig } from '../../src/db/postgres/connection/driverConfig.ts'
import { runCommand, tempFolder } from '../support/kit.ts'
import { migratedDatabase, serverUrl, tempDatabase, withClient } from './database.ts'

/** The parts of refused addresses after the server name. */
const REFUSED = [
  ...'?port=five ?statement_timeout=5s ?service=x ?dbname=x ?hostaddr=127.0.0.1 ?passfile=x'.split(' '),
  ...'?channel_binding=require ?sslmode=verfy-full ?sslmode=prefer ?sslmode=allow'.split(' '),
  ...'?sslmode=verify-ca ?sslmode=require&sslrootcert=system ?pooling=statement'.split(' '),
  ...'?sslmode=verify-full&sslmode=disable ?sslnegotiation=bad #b ?host=x#b'.split(' '),
]

test.each([
  ...'postgres:/u:secret@h/d postgres:u:secret@h/d postgres://u:secret%zz@h/d'.split(' '),
  ...'postgres://u:secret@h:99999/d postgres://u:se/cret@h:1/d postgres://[::1/secret'.split(' '),
  ...'postgres://u:123?secret@h/d'.split(' '),
  ...REFUSED.map((rest) => `postgres://u:secret@h/d${rest}`),
])('%s is refused before any connection, without revealing its password', async (address) => {
  expect(isAddress(address)).toBe(true)
  const error = (await Promise.resolve(address)
    .then(readSchemaState)
    .catch((thrown: unknown) => thrown)) as Error & { hint?: string }
  expect(error).toMatchObject({ name: 'StoreError', code: 'bad-address', hint: expect.any(String) })
  expect(`${error.message} ${error.hint}`).not.toContain('secret')
})

test.each(['mysql://u:secret@h/d', 'postgre://u:secret@h/d', 'host=h user=u password=secret dbname=d'])(
  '%s is not taken for a file name, and its password is not revealed',
  async (name) => {
    const { code, out, err } = await runCommand(tempFolder(), ['status', '--database', name])
    expect(code).toBe(2)
    expect(err).toMatch(/is neither a file nor a PostgreSQL address/)
    expect(`${out}${err}`).not.toContain('secret')
  },
)

test('displayed addresses identify their server and contain no password', () => {
  const shown = ['postgres:///d?host=/a', 'postgres:///d?host=/b', 'postgres://u:s%2Be@/d?host=/a&port=1'].map(
    shownAddress,
  )
  expect(shown).toEqual([
    'postgres:///d?host=/a',
    'postgres:///d?host=/b',
    expect.stringMatching(/^postgres:\/\/\/d\?user=u&host=(\/|%2F)a&port=1$/),
  ])
  expect(passwordIn('postgres://u:s%2Be@/d?host=/a')).toBe('s+e')
  expect(passwordIn('postgres://user:p%40ss@[::1]:5432/db')).toBe('p@ss')
  expect(shownAddress('postgresql://user:p%40ss@[::1]:5432/db?sslmode=require&password=x')).toBe(
    'postgresql://user@[::1]:5432/db?sslmode=require',
  )
})

test.each(['?', '#', '/', '@', ':', '&', '=', '+', '%', ' ', '"', "'", 'ñ'])(
  'a percent-encoded %s in the names of user and database is decoded',
  async (sign) => {
    const user = `user${sign}${process.pid}`
    const database = `data${sign}${process.pid}`
    const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
    const server = await serverUrl()
    await withClient(server, async (client) => {
      await client.query(`create role ${quoted(user)} login superuser`)
      await client.query(`create database ${quoted(database)}`)
    })
    onTestFinished(() =>
      withClient(server, async (client) => {
        await client.query(`drop database ${quoted(database)} with (force)`)
        await client.query(`drop role ${quoted(user)}`)
      }),
    )
    const { host } = new URL(server)
    const reader = openReader(
      shownAddress(`postgres://${encodeURIComponent(user)}@${host}/${encodeURIComponent(database)}`),
    )
    onTestFinished(() => reader.close())
    // The database is reached, but has no tables.
    await expect(reader.kysely.selectFrom('_run').select('id').execute()).rejects.toMatchObject({ code: 'no-database' })
    expect(driverConfig(reader.file)).toMatchObject({ user, database })
  },
)

test('PGSSLMODE and its files are used, but parameters of the address take precedence', () => {
  const file = join(tempFolder(), 'root.pem')
  writeFileSync(file, 'certificate')
  const tlsOf = (address: string) => driverConfig(address).ssl
  expect(tlsOf('postgres://h/d')).toBeUndefined()
  onTestFinished(() => void vi.unstubAllEnvs())
  vi.stubEnv('PGSSLMODE', 'verify-ca')
  vi.stubEnv('PGSSLROOTCERT', file)
  expect(tlsOf('postgres://h/d')).toEqual({ ca: 'certificate', checkServerIdentity: expect.any(Function) })
  expect(tlsOf('postgres://h/d?sslmode=disable')).toBe(false)
  expect(tlsOf('postgres:///d?host=/tmp')).toBeUndefined()
  vi.stubEnv('PGSSLMODE', 'verify-ca')
  vi.stubEnv('PGSSLROOTCERT', join(tempFolder(), 'none.pem'))
  expect(() => driverConfig('postgres://h/d')).toThrow(/Cannot read the file of sslrootcert/)
  vi.stubEnv('PGSSLMODE', 'prefer')
  expect(() => driverConfig('postgres://h/d')).toThrow(/sslmode=prefer is not supported/)
  vi.stubEnv('PGSSLMODE', 'disable')
  vi.stubEnv('PGPORT', 'five')
  expect(() => driverConfig('postgres://h/d')).toThrow(/PGPORT five/)
})

/** Settings of a role that could change the meaning of a statement or its result. */
const STRANGE = [
  ...[
    "datestyle = 'SQL, DMY'",
    "intervalstyle = 'iso_8601'",
    'standard_conforming_strings = off',
    "timezone = 'Asia/Tokyo'",
  ],
  ...[
    "bytea_output = 'escape'",
    'extra_float_digits = -10',
    "client_encoding = 'LATIN1'",
    'transform_null_equals = on',
  ],
  ...[
    'array_nulls = off',
    "default_transaction_isolation = 'serializable'",
    // Longer than the setup takes, even on a busy machine.
    'statement_timeout = 300',
    'lock_timeout = 1',
  ],
  ...["work_mem = '64kB'", 'search_path = pg_temp', 'enable_indexscan = off'],
]

test('settings of a role or database do not change values', async () => {
  const role = `strange_${process.pid}`
  // Runs after the database is dropped, whose objects the role owns.
  onTestFinished(async () => {
    await withClient(await serverUrl(), (client) => client.query(`drop role if exists ${role}`))
  })
  const url = await tempDatabase()
  const strange = new URL(url)
  strange.username = role
  await withClient(url, async (client) => {
    await client.query(`create role ${strange.username} login superuser`)
    const { rows } = await client.query(`select from pg_settings where name = 'transaction_timeout'`)
    for (const setting of [...STRANGE, ...(rows.length > 0 ? ['transaction_timeout = 5000'] : [])])
      await client.query(`alter role ${strange.username} set ${setting}`)
  })
  const read = async (address: string) => {
    const reader = openReader(address)
    const all: unknown[] = []
    const { rows } = await reader.engine.query(
      `select 1.1::float8 / 3, 1e-300::float8, '2025-03-04'::date, '2025-03-04T05:06Z'::timestamptz, interval '1 day 2 hours',
         '\\x5c41'::bytea, 'ñ\\n', :text, (null = null) is null, '{null}'::text[], null as none, pg_sleep(0.5)::text as slept`,
      { text: "a\\'b" },
    )
    for await (const block of rows) all.push(...block)
    await reader.close()
    return all
  }
  const store = await openStore(strange.href)
  await store.write(async (tx) => {
    await tx.insertInto('geo').values({ id: 1 }).execute()
  })
  await store.close()
  expect(await read(strange.href)).toEqual(await read(url))
})

describe('a role with session_replication_role = replica', () => {
  const withRole = async (rights: 'superuser' | 'nosuperuser') => {
    const role = `replica_${rights}_${process.pid}`
    onTestFinished(async () => {
      await withClient(await serverUrl(), (client) => client.query(`drop role if exists ${role}`))
    })
    const url = await migratedDatabase()
    await withClient(url, async (client) => {
      await client.query(`create role ${role} login ${rights} in role pg_read_all_data, pg_write_all_data`)
      await client.query(`alter role ${role} set session_replication_role = replica`)
    })
    const address = new URL(url)
    address.username = role
    return address.href
  }

  test('the role uses triggers and foreign keys if it can change the setting', async () => {
    const store = await openStore(await withRole('superuser'))
    onTestFinished(() => store.close())
    const orphan = store.write((tx) =>
      tx
        .insertInto('content_term')
        .values({ kind: 'news', id: 1, term_id: 1 } as never)
        .execute(),
    )
    await expect(orphan).rejects.toThrow(/foreign key/)
  })

  test('the role is refused if it cannot change the setting, with the statement that resets it', async () => {
    const reader = openReader(await withRole('nosuperuser'))
    onTestFinished(() => reader.close())
    await expect(reader.kysely.selectFrom('_run').select('id').execute()).rejects.toMatchObject({
      code: 'not-set-up',
      message: expect.stringContaining('session_replication_role = replica'),
      hint: expect.stringContaining('alter role replica_nosuperuser_'),
    })
  })
})

test('a database with an encoding other than UTF8 is refused before its tables are created', async () => {
  const name = `latin_${process.pid}`
  const server = await serverUrl()
  await withClient(server, (client) =>
    client.query(`create database ${name} encoding 'LATIN1' locale 'C' template template0`),
  )
  onTestFinished(async () => void (await withClient(server, (client) => client.query(`drop database ${name}`))))
  const url = new URL(server)
  url.pathname = name
  await expect(openStore(url.href)).rejects.toMatchObject({
    code: 'bad-encoding',
    message: expect.stringMatching(/has the encoding LATIN1; UTF8 is required/),
  })
})

test('a statement is sent unchanged, with its parameters', async () => {
  const reader = openReader(await migratedDatabase())
  onTestFinished(() => reader.close())
  const answer = async (sql: string, parameters = {}) => {
    const all: unknown[] = []
    for await (const block of (await reader.engine.query(sql, parameters)).rows) all.push(...block)
    return all
  }
  expect(
    await answer(`select 0.1 + 0.2 = 0.3, pg_typeof(round(2.5))::text, pg_typeof(date('2025-01-01'))::text`),
  ).toEqual([[1n, 'numeric', 'date']])
  const quoted = `select ':x', $$:x$$, e'\\':x', ':y' as ":x", 'a'::text, :x /* :x */, (array[1, 2, 3])[1:2] -- :x`
  expect(await answer(quoted, { x: "it's", y: 1 })).toEqual([[':x', ':x', `':x`, ':y', 'a', "it's", '{1,2}']])
  await expect(answer('select 1 is not 2')).rejects.toMatchObject({ code: 'bad-sql' })
})

test('statement errors on PostgreSQL have the same codes as on SQLite', async () => {
  const url = await migratedDatabase()
  const reader = openReader(url)
  onTestFinished(() => reader.close())
  const refused = (sql: string) =>
    reader.engine.query(sql).then(
      () => 'answered',
      (error: Error & { code?: string }) => error,
    )
  expect(await refused('select :x')).toMatchObject({
    code: 'missing-parameter',
    hint: expect.stringMatching(/--param/),
  })
  expect(await refused('selekt 1')).toMatchObject({ code: 'bad-sql', message: expect.stringMatching(/syntax error/) })
  for (const sql of [
    'delete from geo',
    'CREATE table x (a int)',
    'commit',
    'set role postgres',
    'do $$ begin end $$',
    '',
  ])
    expect(await refused(sql), sql).toMatchObject({ code: 'no-rows' })
  expect(await refused('select 1 from where')).toMatchObject({ code: 'bad-sql' })
  const large = async (sql: string) => {
    try {
      for await (const _ of (await reader.engine.query(sql)).rows);
      return 'answered'
    } catch (error) {
      return error
    }
  }
  expect(await large(`select repeat('x', 2000000000)`)).toMatchObject({ name: 'InputError', code: 'value-too-large' })
})

test('a refused writer waits until the lock holder has recorded its name', async () => {
  const url = await migratedDatabase()
  await withClient(url, async (client) => {
    // The key of the write lock.
    await client.query('select pg_advisory_lock($1, $2)', [0x494e_4453, 1])
    const { openWriter } = await import('../support/testStore.ts')
    const refused = openWriter(url, 'loser').catch((error: unknown) => error)
    await client.query(
      `insert into _lock (name, fence, pid, host, command, acquired_at) values ('writer', 1, 42, 'here', 'holder of a test', '2025-01-01T00:00:00.000Z')`,
    )
    expect(await refused).toMatchObject({
      message: expect.stringMatching(/^Process 42 on here .*\(holder of a test\)/),
    })
  })
})
