import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openStore } from '../../src/db/open.ts'
import { createStatementRunner } from '../../src/page/statementQueue.ts'
import { servePage } from '../page/site.ts'
import { runCli, tempFolder } from '../support/kit.ts'
import { testSignals } from '../support/systems.ts'
import { databaseWithRoles, migratedDatabase, withClient } from './database.ts'
import { startServer } from './server.ts'

const ENDLESS = 'with recursive n (i) as (select 1 union all select i + 1 from n) select max(i) from n'

/** Returns the page's data for a statement. */
const query = async (url: string, sql: string) => {
  const answer = await fetch(`${url}/sql.json?sql=${encodeURIComponent(sql)}`)
  return (await answer.json()) as {
    readonly result: { readonly rows: unknown[][]; readonly cut: string | null } | null
    readonly refused: { readonly message: string; readonly code: string } | null
  }
}

/** Returns the number of other connections with an active statement. */
const working = (url: string): Promise<number> =>
  withClient(url, async (client) => {
    const { rows } = await client.query(
      `select count(*)::int as n from pg_stat_activity
       where datname = current_database() and state = 'active' and pid <> pg_backend_pid()`,
    )
    return rows[0].n
  })

describe('an SQL statement on the page of a PostgreSQL database', () => {
  test('an endless statement is also cancelled on the server', async () => {
    const file = await migratedDatabase()
    const { url } = await servePage(file)
    expect((await query(url, ENDLESS)).refused).toMatchObject({ code: 'timeout' })
    await expect.poll(() => working(file), { timeout: 60_000 }).toBe(0)
    expect((await query(url, 'select 1 as one')).result?.rows).toEqual([[1]])
  })

  test('a statement reads only what its role may read, up to the row limit', async () => {
    const { url: file, as } = await databaseWithRoles()
    await (await openStore(as('writer'))).close()
    await withClient(file, (client) =>
      client.query(
        `do $$ begin if to_regrole('visitor') is null then create role visitor login; end if; end $$; grant indicator_reader to visitor`,
      ),
    )
    const visitor = new URL(file)
    visitor.username = 'visitor'
    const { url } = await servePage(visitor.href)
    const many = await query(url, 'select g from generate_series(1, 1000000) g')
    expect([many.result?.rows.length, many.result?.cut]).toEqual([1000, 'rows'])
    // More attacks are in security.test.ts, which uses the same code.
    for (const attack of ['delete from series', 'commit; drop table series', 'set role postgres', 'notify x'])
      expect((await query(url, attack)).refused?.message, attack).toMatch(/\.$/)
    // Before PostgreSQL 16, a read-only transaction can write a large object; it is rolled back.
    await query(url, `select lo_from_bytea(0, 'x')`)
    const kept = 'select (select count(*) from series), (select count(*) from pg_largeobject_metadata)'
    expect((await query(url, kept)).result?.rows).toEqual([[0, 0]])
  })

  test('a statement has a field for each parameter, but none for a cast, a slice or a quoted text', async () => {
    const { url } = await servePage(await migratedDatabase())
    const sql = `select 1::text, :day, '{:x}', $$:x$$, :day, (array[1])[1:1], "id" as ":x" from geo -- :x`
    const page = await (await fetch(`${url}/sql?sql=${encodeURIComponent(sql)}`)).text()
    expect([...page.matchAll(/name="p\.(\w+)"/g)].map(([, name]) => name)).toEqual(['day'])
  })

  test('a statement uses the password of the page, from any source', async () => {
    const server = await startServer()
    onTestFinished(() => server.close())
    const secret = 'pass-word-nobody-says'
    await withClient(server.url, (client) => client.query(`create role guest login superuser password '${secret}'`))
    const hba = join(server.folder, 'data/pg_hba.conf')
    writeFileSync(hba, `host all guest 127.0.0.1/32 scram-sha-256\n${readFileSync(hba, 'utf8')}`)
    await withClient(server.url, (client) => client.query('select pg_reload_conf()'))
    const plain = new URL(server.url)
    plain.username = 'guest'
    const inAddress = new URL(plain)
    inAddress.password = secret
    await (await openStore(inAddress.href)).close()
    expect((await query((await servePage(inAddress.href)).url, 'select 1 as one')).result?.rows).toEqual([[1]])
    vi.stubEnv('PGPASSWORD', secret)
    onTestFinished(() => void vi.unstubAllEnvs())
    const runner = createStatementRunner()
    onTestFinished(() => runner.close())
    plain.hostname = 'localhost'
    expect((await runner.run({ file: plain.href, sql: 'select 1 as one', parameters: {} })).rows).toEqual([[1]])
  })
})

testSignals.each(['SIGTERM', 'SIGKILL'] as const)(
  'a query whose command ends by %s is cancelled on the server',
  async (signal) => {
    const file = await migratedDatabase()
    await runCli(tempFolder(), ['query', ENDLESS, '--database', file], {}, (child) => {
      void expect
        .poll(() => working(file), { timeout: 60_000 })
        .toBe(1)
        .finally(() => child.kill(signal))
    })
    await expect.poll(() => working(file), { timeout: 60_000 }).toBe(0)
  },
)

test('the runs page returns 304 until something is written', async () => {
  const file = await migratedDatabase()
  const { url } = await servePage(file)
  let etag = ''
  const again = () => fetch(`${url}/runs`, { headers: { 'If-None-Match': etag } })
  // Transaction ids belong to the whole server, so that writes of other tests, or the next minute, cause a new
  // response.
  const polled = async (): Promise<number> => {
    etag = (await fetch(`${url}/runs`)).headers.get('etag')!
    return (await again()).status
  }
  await expect.poll(polled, { timeout: 300_000 }).toBe(304)
  expect(etag).toMatch(/^W\/".+"$/)
  await withClient(file, (client) => client.query('insert into geo (id) values (9)'))
  const changed = await again()
  expect([changed.status, changed.headers.get('etag') === etag]).toEqual([200, false])
})
