import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openReader, openStore, readSchemaState } from '../../src/db/open.ts'
import { connectAlone } from '../../src/db/postgres/connection/connection.ts'
import { runCommand, tempFolder } from '../support/kit.ts'
import { testModes } from '../support/systems.ts'
import { databaseWithRoles, migratedDatabase, withClient } from './database.ts'
import { type Server, startServer } from './server.ts'

/** Creates a certificate for a name, signed by its own authority, in a folder. */
function certify(
  folder: string,
  name: string,
): { readonly authority: string; readonly cert: string; readonly key: string } {
  const run = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const at = (file: string) => join(folder, `${name}-${file}`)
  writeFileSync(at('san'), `subjectAltName=DNS:${name}\n`)
  run(
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=authority of ${name}`],
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
  )
  run(...['req', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${name}`, '-keyout', at('key'), '-out', at('csr')])
  run(
    ...['x509', '-req', '-days', '2', '-in', at('csr'), '-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial'],
    '-extfile',
    at('san'),
    '-out',
    at('pem'),
  )
  return { authority: at('ca.pem'), cert: at('pem'), key: at('key') }
}

async function withServer(settings: Readonly<Record<string, string>> = {}): Promise<Server> {
  const server = await startServer(settings)
  onTestFinished(() => server.close())
  return server
}

const address = (server: Server, parameters: string, { host = '127.0.0.1', user = 'postgres' } = {}): string => {
  const url = new URL(server.url)
  url.hostname = host
  url.username = user
  url.search = parameters
  return url.href
}

testModes('sslmode has its PostgreSQL meaning, and each refusal is explained', async () => {
  const folder = tempFolder()
  const ours = certify(folder, 'localhost')
  const another = certify(folder, 'elsewhere')
  const server = await withServer()
  await expect(readSchemaState(address(server, 'sslmode=require'))).rejects.toMatchObject({ code: 'tls' })
  // The server reads its key as its own user, and refuses a key that others can read.
  const data = join(server.folder, 'data')
  const { uid, gid } = statSync(data)
  for (const [file, name] of [
    [ours.cert, 'server.crt'],
    [ours.key, 'server.key'],
  ] as const) {
    copyFileSync(file, join(data, name))
    chownSync(join(data, name), uid, gid)
    execFileSync('chmod', ['600', join(data, name)])
  }
  await withClient(server.url, async (client) => {
    await client.query('alter system set ssl = on')
    await client.query('select pg_reload_conf()')
  })
  const encrypted = async (url: string): Promise<boolean> => {
    const client = await connectAlone(url)
    try {
      return (
        (await client.query('select ssl::int as yes from pg_stat_ssl where pid = pg_backend_pid()')).rows[0].yes === 1
      )
    } finally {
      await client.end()
    }
  }
  const root = (file: string) => `&sslrootcert=${file}`
  await expect
    .poll(() => encrypted(address(server, 'sslmode=require')).catch(() => false), { timeout: 60_000 })
    .toBe(true)
  expect(await encrypted(address(server, 'sslmode=disable'))).toBe(false)
  expect(await encrypted(address(server, `sslmode=verify-ca${root(ours.authority)}`))).toBe(true)
  expect(await encrypted(address(server, `sslmode=verify-full${root(ours.authority)}`, { host: 'localhost' }))).toBe(
    true,
  )
  for (const refused of [
    address(server, `sslmode=verify-ca${root(another.authority)}`),
    address(server, `sslmode=verify-full${root(another.authority)}`, { host: 'localhost' }),
    // The name differs from that of the certificate.
    address(server, `sslmode=verify-full${root(ours.authority)}`),
  ])
    await expect(readSchemaState(refused), refused).rejects.toMatchObject({
      code: 'tls',
      message: expect.stringContaining('The TLS connection to the database'),
    })
})

testModes('a password is read from PGPASSWORD or a file and is never displayed', async () => {
  const server = await withServer()
  const secret = 'pass-word-nobody-says'
  await withClient(server.url, (client) => client.query(`create role guest login superuser password '${secret}'`))
  const hba = join(server.folder, 'data/pg_hba.conf')
  writeFileSync(hba, `host all guest 127.0.0.1/32 scram-sha-256\n${readFileSync(hba, 'utf8')}`)
  await withClient(server.url, (client) => client.query('select pg_reload_conf()'))
  const url = address(server, '', { user: 'guest' })
  const cwd = tempFolder()
  const file = join(cwd, 'passwords')
  writeFileSync(file, `127.0.0.1:*:*:guest:${secret}\n`, { mode: 0o600 })
  const migrate = async (env: Record<string, string>) => {
    const { code, out, err } = await runCommand(cwd, ['migrate', '--verbose', '--database', url], env)
    expect(`${out}${err}`).not.toContain(secret)
    return code
  }
  await expect.poll(() => migrate({}), { timeout: 60_000 }).toBe(7)
  expect(await migrate({ PGPASSWORD: `${secret}x` })).toBe(7)
  expect(await migrate({ PGPASSWORD: secret })).toBe(0)
  expect(await migrate({ PGPASSFILE: file })).toBe(0)
  writeFileSync(join(cwd, '.pgpass'), `*:*:*:guest:${secret}\n`, { mode: 0o600 })
  expect(await migrate({})).toBe(0)
  chmodSync(file, 0o644)
  expect(await migrate({ PGPASSFILE: file })).toBe(7)
  const withPassword = url.replace('guest@', `guest:${secret}@`)
  const { code, out, err } = await runCommand(cwd, ['doctor', '--database', withPassword])
  expect(`${out}${err}`).not.toContain(secret)
  expect(out).toContain(url)
  expect(code, err).not.toBe(7)
  const distributed = ['--base-url', 'http://127.0.0.1:9', '--database', withPassword]
  const env = { INDICATOR_SYNC_API_KEY: '0'.repeat(64), PGPASSWORD: 'another' }
  writeFileSync(join(cwd, 'job.yaml'), 'name: x\ncatalogue: true\n')
  const synced = await runCommand(cwd, ['sync', 'job.yaml', ...distributed], env)
  expect(synced.code, synced.err).not.toBe(7)
  expect(`${synced.out}${synced.err}`).not.toContain(secret)
  // The driver's error contains the whole connection, including the password.
  process.env.PGPASSWORD = `${secret}x`
  onTestFinished(() => void delete process.env.PGPASSWORD)
  const error = await Promise.resolve(readSchemaState(url)).catch((thrown: unknown) => thrown)
  expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(secret)
})

test('names are resolved only in the schemas of the program, whatever the search path', async () => {
  const url = await migratedDatabase()
  const store = await openStore(url)
  onTestFinished(() => store.close())
  await withClient(url, (client) =>
    client.query(`create schema postgres; create view postgres._run as select 666 as id;
      create schema evil; create function evil.strftime(text, text) returns text language sql as $$ select 'evil' $$;
      alter role postgres in database ${new URL(url).pathname.slice(1)} set search_path = evil, postgres, public`),
  )
  const reader = openReader(url)
  onTestFinished(() => reader.close())
  expect(await reader.kysely.selectFrom('_run').select('id').execute()).toEqual([])
  const { rows } = await reader.engine.query(`select strftime('%Y', '2025-01-01T00:00:00Z')`)
  for await (const block of rows) expect(block).toEqual([['2025']])
})

describe('user statements', () => {
  /** Returns all rows of a statement, or its error. */
  const query = async (url: string, sql: string): Promise<unknown> => {
    const reader = openReader(url)
    try {
      const all: unknown[] = []
      for await (const block of (await reader.engine.query(sql)).rows) all.push(...block)
      return all
    } catch (error) {
      return error
    } finally {
      await reader.close()
    }
  }

  test('a statement of the reader role can only access the tables', async () => {
    const { url, as } = await databaseWithRoles()
    await (await openStore(as('writer'))).close()
    // A separate login, because `set role` could be reverted.
    await withClient(url, (client) =>
      client.query(
        `do $$ begin if to_regrole('visitor') is null then create role visitor login; end if; end $$; grant indicator_reader to visitor`,
      ),
    )
    const visitor = new URL(url)
    visitor.username = 'visitor'
    expect(await query(visitor.href, 'select count(*) as n from series')).toEqual([[0n]])
    for (const attack of [
      `select pg_read_file('/etc/passwd')`,
      `select pg_ls_dir('.')`,
      `select lo_import('/etc/passwd')`,
      `select set_config('role', 'postgres', false)`,
      `select pg_reload_conf()`,
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'postgres'`,
      `select rolpassword from pg_authid`,
      `select query_to_xml('delete from series', true, true, '')`,
      `select query_to_xml('copy series to program ''id''', true, true, '')`,
      `select nextval(pg_get_serial_sequence('public._run', 'id'))`,
      `copy series to program 'id'`,
      'set role postgres',
      'reset role',
      'begin; drop table series',
      `do $$ begin execute 'drop table series'; end $$`,
      'select * from series for update',
      'select 1 into temporary t',
      'explain analyze delete from series',
      'create extension dblink',
      'listen x',
      'call x()',
      'lock table series',
      'with gone as (delete from series returning 1) select * from gone',
      'set transaction read write',
      'declare c cursor with hold for select 1',
      'vacuum',
    ]) {
      const answer = await query(visitor.href, attack)
      // The server returns null, false or an error; no superuser connection is terminated.
      expect(answer, attack).toBeInstanceOf(Error)
      expect(answer, attack).toMatchObject({ name: expect.stringMatching(/InputError|StoreError/) })
    }
    expect(await query(visitor.href, 'select count(*) as n from series')).toEqual([[0n]])
  })

  test('a statement that takes too long is cancelled by the server, with a limit from the address', async () => {
    const url = await migratedDatabase()
    const refusal = await query(`${url}?statement_timeout=200`, 'select pg_sleep(600)')
    expect(refusal).toMatchObject({ code: '57014', message: expect.stringMatching(/exceeded the time limit/) })
  })
})
