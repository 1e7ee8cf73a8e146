import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { CompiledQuery, type Insertable, type Transaction } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openQueue } from '../../src/cluster/queue.ts'
import type { QueuedRequest } from '../../src/cluster/queuedRequest.ts'
import { allRows } from '../../src/db/engine.ts'
import { isLocked, openWriter } from '../../src/db/lock.ts'
import { openReader, openStore } from '../../src/db/open.ts'
import { queryRows, runSql } from '../../src/db/postgres/connection/statements.ts'
import { prepareQuery } from '../../src/db/prepared.ts'
import { readQueues } from '../../src/db/queries/queues.ts'
import type { Reader, Store } from '../../src/db/store.ts'
import type { Database } from '../../src/db/tables/schema.ts'
import { prometheusText } from '../../src/findings/metrics.ts'
import { BusyError, InputError, StoreError } from '../../src/util/errors.ts'
import { jobFolder, serviceAt } from '../cli/jobFolder.ts'
import { emulate, ms, runCommand, runJob, tempFolder } from '../support/kit.ts'
import { databaseWithRoles, migratedDatabase, tempDatabase, withClient } from './database.ts'
import { startServer } from './server.ts'

const open = async (url: string): Promise<Store> => {
  const store = await openStore(url)
  onTestFinished(() => store.close())
  return store
}

const rowOf = (host: string) => ({ host, base_url: 'x', service: 'x', first_called_at: 'x', wait_until: null })
const hosts = async (store: Store): Promise<string[]> =>
  (await store.kysely.selectFrom('_source').select('host').orderBy('host').execute()).map(({ host }) => host)

test('one of several concurrent processes creates a new database while the others wait', async () => {
  const url = await tempDatabase()
  const stores = await Promise.all(Array.from({ length: 4 }, () => open(url)))
  for (const { kysely } of stores)
    expect(await kysely.selectFrom('data_dictionary').select('object').limit(1).execute()).toHaveLength(1)
})

describe('a transaction', () => {
  test('transactions are atomic and run one after the other', async () => {
    const store = await open(await migratedDatabase())
    const failed = store.write(async (tx) => {
      await tx.insertInto('_source').values(rowOf('a')).execute()
      throw new Error('no')
    })
    const done = store.write((tx) => tx.insertInto('_source').values(rowOf('b')).execute())
    await expect(failed).rejects.toThrow('no')
    await done
    expect(await hosts(store)).toEqual(['b'])
  })

  test('a transaction with a lost connection is repeated once', async () => {
    const url = await migratedDatabase()
    const store = await open(url)
    let attempts = 0
    await store.write(async (tx) => {
      await tx.insertInto('_source').values(rowOf('a')).execute()
      if (++attempts > 1) return
      const { rows } = await tx.executeQuery<{ pid: number }>(CompiledQuery.raw('select pg_backend_pid() as pid'))
      await withClient(url, (client) => client.query('select pg_terminate_backend($1)', [rows[0]!.pid]))
      await tx.insertInto('_source').values(rowOf('b')).execute()
    })
    expect(attempts).toBe(2)
    expect(await hosts(store)).toEqual(['a'])
  })

  test('a transaction in a deadlock is repeated', async () => {
    const url = await migratedDatabase()
    const one = await open(url)
    const other = await open(url)
    for (const host of ['a', 'b']) await one.write((tx) => tx.insertInto('_source').values(rowOf(host)).execute())
    let met = 0
    let meet!: () => void
    const both = new Promise<void>((resolve) => {
      meet = resolve
    })
    const cross = (store: Store, order: readonly string[]) => {
      let attempts = 0
      return store.write(async (tx) => {
        attempts++
        for (const [i, host] of order.entries()) {
          await tx
            .updateTable('_source')
            .set({ service: `${order}` })
            .where('host', '=', host)
            .execute()
          if (i > 0 || attempts > 1) continue
          if (++met === 2) meet()
          await both
        }
        return attempts
      })
    }
    const attempts = await Promise.all([cross(one, ['a', 'b']), cross(other, ['b', 'a'])])
    expect(attempts.reduce((sum, n) => sum + n)).toBe(3)
  })

  const insert = prepareQuery((db, row: Insertable<Database['_source']>) => db.insertInto('_source').values(row))

  test.each([
    ['at its end', async () => undefined],
    ['at the next result', (tx: Transaction<Database>) => tx.selectFrom('_source').select('host').execute()],
  ])('a transaction reports %s the error of a statement without await, and writes nothing', async (_when, then) => {
    const store = await open(await migratedDatabase())
    let attempts = 0
    const twice = store.write(async (tx) => {
      attempts++
      for (const host of ['a', 'b', 'a']) await insert.run(tx, rowOf(host))
      await then(tx)
    })
    await expect(twice).rejects.toThrow(/duplicate key/)
    // The repetition sees a row that another session inserted; a duplicate row fails every time.
    expect(attempts).toBe(3)
    expect(await hosts(store)).toEqual([])
    await store.write((tx) => insert.run(tx, rowOf('c')))
    expect(await hosts(store)).toEqual(['c'])
  })

  test('a transaction whose work hides the error of a statement fails with it at its end', async () => {
    const store = await open(await migratedDatabase())
    const hidden = store.write(async (tx) => {
      await runSql(tx, 'select no_such_column').catch(() => undefined)
      await insert.run(tx, rowOf('a'))
      await runSql(tx, 'select 1').catch(() => undefined)
    })
    await expect(hidden).rejects.toThrow(/no_such_column/)
    expect(await hosts(store)).toEqual([])
  })

  test('a statement that is not awaited outside of a transaction reports its own error', async () => {
    const store = await open(await migratedDatabase())
    await insert.run(store.kysely, rowOf('a'))
    await expect(insert.run(store.kysely, rowOf('a'))).rejects.toThrow(/duplicate key/)
    expect(await hosts(store)).toEqual(['a'])
  })

  test('a comment in a statement never decides whether it is awaited', async () => {
    const store = await open(await migratedDatabase())
    const rows = await store.write((tx) => queryRows(tx, '/* later */ select 1 as one'))
    expect(rows).toEqual([{ one: 1 }])
  })

  test('a transaction replaces NUL, which PostgreSQL cannot store', async () => {
    const store = await open(await migratedDatabase())
    await store.write((tx) => tx.insertInto('_source').values(rowOf('a\0b\ud800')).execute())
    expect(await hosts(store)).toEqual(['a\ufffdb\ufffd'])
  })
})

describe('the write lock', () => {
  test('the write lock is exclusive, names its holder, and is released', async () => {
    const url = await migratedDatabase()
    const writer = await openWriter(url, 'sync')
    expect(await isLocked(url)).toBe(true)
    await expect(openWriter(url, 'retry')).rejects.toThrow(BusyError)
    await writer.close()
    expect(await isLocked(url)).toBe(false)
    await (await openWriter(url, 'retry')).close()
  })

  test('a lost lock stops its holder after another process acquired it', async () => {
    const url = await migratedDatabase()
    const writer = await openWriter(url, 'sync')
    await withClient(url, (client) =>
      // Other tests have such locks in other databases of the same server.
      client.query(`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
        and database = (select oid from pg_database where datname = current_database())`),
    )
    const next = await openWriter(url, 'retry')
    await expect(writer.write((tx) => tx.insertInto('_source').values(rowOf('a')).execute())).rejects.toThrow(
      /is now writing to/,
    )
    await next.write((tx) => tx.insertInto('_source').values(rowOf('b')).execute())
    expect(await hosts(next)).toEqual(['b'])
    await next.close()
    await writer.close()
  })
})

describe('an address', () => {
  test('an address is displayed without its password in every error', async () => {
    const secret = 's3cret-word'
    const url = new URL(await tempDatabase())
    url.password = secret
    url.pathname = '/nowhere'
    const reader = openReader(url.href)
    const error = await reader.kysely
      .selectFrom('_run')
      .selectAll()
      .execute()
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(StoreError)
    expect(reader.file).not.toContain(secret)
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(secret)
    const { code, out, err } = await runCommand(tempFolder(), ['status', '--database', url.href])
    expect(code).toBe(7)
    expect(err).toContain('nowhere')
    expect(`${out}${err}`).not.toContain(secret)
    expect(() => openReader(`postgres://u:${secret}@ho st/x`)).toThrow(/database URL is not valid/)
  })
})

test('a connection that breaks during a query is reported with its database', async () => {
  const url = new URL(await migratedDatabase())
  const port = Number(url.port)
  const proxy = createServer((client) => {
    const server = connect(port, url.hostname)
    // Errors after the reset do not matter.
    for (const end of [client, server]) end.on('error', () => undefined)
    server.pipe(client)
    client.on('data', (sent) => {
      if (sent.includes('now_it_is_cut')) {
        client.resetAndDestroy()
        server.destroy()
      } else server.write(sent)
    })
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void proxy.close())
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const reader = openReader(url.href)
  onTestFinished(() => reader.close())
  const query = reader.kysely.selectFrom('_run').select('id').where('job', '=', 'now_it_is_cut')
  const error = await query.execute().catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(StoreError)
  expect(String(error)).toContain(`The connection to the database ${reader.file} was lost`)
})

/** Terminates the connection of a waiting statement, like a server restart. */
const endWaiting = (url: string, words: string): Promise<void> =>
  withClient(url, async (client) => {
    // Other tests use other databases of the same server.
    const ended = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state = 'active' and query ~ $1`
    while ((await client.query(ended, [words])).rowCount === 0) await sleep(20)
  })

describe('server errors', () => {
  const slow = ({ kysely }: Reader) => kysely.executeQuery(CompiledQuery.raw('select pg_sleep(600)'))

  test.each<[string, (reader: Reader) => Promise<unknown>]>([
    ['in a query', slow],
    ["in a user's statement", async ({ engine }) => allRows((await engine.query('select pg_sleep(600)')).rows)],
  ])('a lost connection and a timeout %s are StoreErrors', async (_name, ask) => {
    const url = await migratedDatabase()
    const reader = openReader(url)
    onTestFinished(() => reader.close())
    const asking = ask(reader).catch((thrown: unknown) => thrown)
    // User statements are read through a cursor.
    await endWaiting(url, 'pg_sleep|^fetch')
    const cut = await asking
    expect(cut).toBeInstanceOf(StoreError)
    expect(cut).toMatchObject({
      code: '57p01',
      message: expect.stringContaining(`The connection to the database ${reader.file} was lost`),
      hint: 'Run the command again. Committed data is kept.',
    })
    const hasty = openReader(`${url}?statement_timeout=50`)
    onTestFinished(() => hasty.close())
    const late = await ask(hasty).catch((thrown: unknown) => thrown)
    expect(late).toBeInstanceOf(StoreError)
    expect(late).toMatchObject({ code: '57014', message: expect.stringContaining('exceeded the time limit') })
  })
})

test.each([
  'select 1; commit; create table taken (a int); select 1',
  'explain select 1; commit; create table taken (a int)',
  'with gone as (delete from data_dictionary returning 1) select * from gone',
  "select set_config('transaction_read_only', 'off', true)",
])('a user statement is a single read-only statement: %s', async (sql) => {
  const url = await migratedDatabase()
  const { engine } = await open(url)
  const read = async () => {
    for await (const _ of (await engine.query(sql)).rows);
  }
  await expect(read()).rejects.toThrow(/more than one statement|read-only|must be set before/)
  await expect(engine.findValueTypes('select 1) q; commit; create table taken (a int); --', 1)).rejects.toThrow(
    InputError,
  )
  const { rows } = await withClient(url, (client) => client.query("select to_regclass('public.taken') as taken"))
  expect(rows).toEqual([{ taken: null }])
})

test('each role has exactly its intended permissions', async () => {
  const { as } = await databaseWithRoles()
  const writer = await open(as('writer'))
  const queueFor = async (store: Store) => {
    const queue = await openQueue(store, 'service.test', (error) => expect(String(error)).toBe(''))
    onTestFinished(() => queue.close())
    return queue
  }
  const planner = await queueFor(writer)
  await planner.send([1, 2].map((n) => ({ data: { run: n } as QueuedRequest, key: `${n}`, priority: n })))
  const worker = await open(as('worker'))
  const ended = Promise.withResolvers<boolean>()
  const stuck = Promise.withResolvers<void>()
  const queue = await queueFor(worker)
  onTestFinished(() => stuck.resolve())
  await queue.work(1, async (job) => {
    if (job.data.run === 1) return stuck.promise
    ended.resolve(await worker.write(async (tx) => (await planner.confirm(job, tx)) && planner.complete(job, tx)))
  })
  expect(await ended.promise).toBe(true)
  await worker.write((tx) => tx.insertInto('_source').values(rowOf('a')).execute())
  await expect(withClient(as('worker'), (client) => client.query('drop table _run'))).rejects.toThrow(/owner/)
  const reader = openReader(as('reader'))
  onTestFinished(() => reader.close())
  expect(await reader.kysely.selectFrom('_source').select('host').execute()).toEqual([{ host: 'a' }])
  expect(await reader.kysely.selectFrom('gaps').selectAll().execute()).toEqual([])
  await expect
    .poll(() => readQueues(reader), { timeout: 30_000 })
    .toEqual([{ host: 'service.test', queued: 0, active: 1, dead: 0 }])
  const figures = (await prometheusText(reader)).split('\n')
  for (const [state, requests] of Object.entries({ queued: 0, active: 1, dead: 0 }))
    expect(figures).toContain(`indicator_sync_queue_requests{host="service.test",state="${state}"} ${requests}`)
  await expect(reader.kysely.deleteFrom('_source').execute()).rejects.toThrow(/permission denied/)
})

test('commands work with an address, and unsupported ones name an alternative', async () => {
  const cwd = tempFolder()
  const url = await migratedDatabase()
  const other = await tempDatabase()
  const NOW = ms('2025-11-04T12:00:00Z')
  const emulator = await emulate({ now: NOW / 1000 })
  const store = await open(url)
  const JOB = `catalogue: true
series: [{ indicators: [600, 1293], window: { from: 2025-10-01, to: 2025-10-03 } }]
content: [{ kinds: [news] }]
`
  await runJob(store, emulator, JOB, { now: NOW })
  const command = (...args: string[]) => runCommand(cwd, args, { INDICATOR_SYNC_DATABASE: url })
  for (const args of [
    ...[['status'], ['gaps'], ['check'], ['show', '600'], ['discover', 'precio'], ['quarantine', 'list'], ['doctor']],
    ['diff', '--from', '2020-01-01', '--to', '2030-01-01'],
    ['status', '--format', 'prometheus'],
    ['query', 'daily-average'],
    ['query', 'select count(*) from observations where indicator_id is distinct from :n', '--param', 'n=1293'],
    ['export', '--indicator', '600', '--geo', '3', '--output', 'a.csv'],
    ['export', '--sql', 'select indicator_id, count(*) as n from observations group by 1', '--output', 'b.parquet'],
    ['lake', 'sync', 'lake'],
    ['publish', 'copy.db', '--page', 'public'],
    ['replay'],
    ['replay', '--output', 'rebuilt.db'],
    ['prune', '1d', '--vacuum'],
    ['archives', 'list'],
    ['migrate', '--from', 'rebuilt.db', '--database', other],
  ]) {
    const { code, out, err } = await command(...args)
    // doctor reports the missing key, and whether the server checks for damage.
    if (args[0] === 'doctor') expect(out).toMatch(/integrity +(not )?checked.*data_checksums o(n|ff)/)
    expect([args.join(' '), code, args[0] === 'doctor' || err.includes('→')]).toEqual([
      args.join(' '),
      args[0] === 'doctor' ? 6 : 0,
      args[0] === 'doctor',
    ])
  }
  for (const args of [
    ['publish', 'postgres://x/y'],
    ['replay', '--output', other],
    ['demo', '--database', url],
  ]) {
    const { code, err } = await command(...args)
    expect([2, 7], args.join(' ')).toContain(code)
    expect(err, args.join(' ')).toContain('→')
  }
  const copied = await open(other)
  const count = ({ kysely }: Store) =>
    kysely
      .selectFrom('observation')
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .execute()
  expect(await count(copied)).toEqual(await count(store))
})

test('a range fetched again without changes writes no values', async () => {
  // A separate server, because WAL bytes are counted for the whole server.
  const server = await startServer({ autovacuum: 'off', synchronous_commit: 'on' })
  onTestFinished(() => server.close())
  const { url } = server
  const store = await open(url)
  const NOW = ms('2025-11-04T12:00:00Z')
  const JOB = `pace: { perSecond: 50, concurrency: 1 }
series: [{ indicators: [600, 1293, 551], window: { from: 2025-09-01, to: 2025-11-01 } }]
`
  const emulator = await emulate({ now: NOW / 1000 })
  await runJob(store, emulator, JOB, { now: NOW })
  const query = async (sql: string, parameters: unknown[] = []) =>
    (await withClient(url, (client) => client.query(sql, parameters))).rows[0] as Record<string, number>
  const { values } = (await query('select count(*)::int as values from observation')) as { values: number }
  expect(values).toBeGreaterThan(15_000)
  await query('create extension pg_walinspect')
  const before = await query('select pg_current_xact_id()::text as id, pg_current_wal_insert_lsn() as lsn')
  await runJob(store, emulator, JOB, { now: NOW + 60_000, options: { restate: true } })
  // Writes of other databases on this server do not count.
  const { bytes } = (await query(
    `select sum(record_length)::int as bytes from pg_get_wal_records_info($1, pg_current_wal_flush_lsn()) where block_ref like
     '%/' || (select oid from pg_database where datname = current_database()) || '/%'`,
    [before.lsn],
  )) as { bytes: number }
  // A row that was written or locked since then has a later transaction id.
  for (const table of ['observation', '_day'])
    expect(
      await query(
        `select count(*)::int as n from ${table} where greatest(xmin::text::bigint, xmax::text::bigint) >= $1`,
        [before.id],
      ),
      table,
    ).toEqual({ n: 0 })
  // Bookkeeping of requests; row locks would be 56 bytes per value.
  expect(bytes / values).toBeLessThan(20)
})

test('transaction pooling requires settings in the database, which the error names', async () => {
  const url = await tempDatabase()
  const pooled = `${url}?pooling=transaction`
  const name = new URL(url).pathname.slice(1)
  await expect(openStore(pooled)).rejects.toMatchObject({
    code: 'not-set-up',
    hint: expect.stringContaining(`alter database "${name}" set search_path = public, compat`),
  })
  await expect(openStore(`${url}?pooling=statement`)).rejects.toThrow('pooling=statement')
  const set = (...settings: readonly string[]) =>
    withClient(url, (client) =>
      client.query(settings.map((setting) => `alter database "${name}" set ${setting}`).join('; ')),
    )
  const isolation = (level: string) => `default_transaction_isolation = '${level}'`
  await set('search_path = public, compat', "timezone = 'UTC'", isolation('repeatable read'))
  // Of two sessions that wait for a lock, the second would not see writes of the first.
  await expect(openStore(pooled)).rejects.toMatchObject({ hint: expect.stringContaining(isolation('read committed')) })
  await set(isolation('read committed'))
  const store = await openWriter(pooled, 'sync')
  await store.write((tx) => tx.insertInto('_source').values(rowOf('a')).execute())
  expect(await hosts(store)).toEqual(['a'])
  const kept = await store.kysely.executeQuery<{ count: number }>(
    CompiledQuery.raw('select count(*) as count from pg_prepared_statements'),
  )
  expect(kept.rows).toEqual([{ count: 0 }])
  expect(await isLocked(pooled)).toBe(true)
  await expect(openWriter(pooled, 'sync')).rejects.toBeInstanceOf(BusyError)
  await store.close()
  expect(await isLocked(pooled)).toBe(false)
})

test('a worker refuses a database of a newer version and explains how to continue', async () => {
  const url = await migratedDatabase()
  await withClient(url, (client) => client.query(`insert into _migration values ('9999_later', '2030-01-01')`))
  const { code, err } = await runCommand(tempFolder(), ['worker', '--service', 'generic', '--until-empty'], {
    INDICATOR_SYNC_DATABASE: url,
    INDICATOR_SYNC_BASE_URL: 'http://127.0.0.1:9',
    INDICATOR_SYNC_API_KEY: 'k'.repeat(64),
  })
  expect(code).toBe(7)
  expect(err).toContain('has schema 9999; this version of indicator-sync supports up to')
  expect(err).toContain('→ Update indicator-sync')
})

test('a worker fetches and loads the requests of a distributed sync and reports their number', async () => {
  const emulator = await emulate()
  const env = { ...serviceAt(emulator.url, emulator.key), INDICATOR_SYNC_DATABASE: await migratedDatabase() }
  const dir = jobFolder()
  const synced = runCommand(dir, ['sync', 'job.yaml', '--distributed', '--json'], env)
  // Until the plan is queued there is nothing to do.
  let worked: string
  do worked = (await runCommand(dir, ['worker', '--until-empty'], env)).out
  while (worked === '0 requests done, 0 of them failed.\n' && emulator.requests.length === 0)
  const { code, out } = await synced
  expect([code, JSON.parse(out)]).toMatchObject([0, [{ job: 'one', outcome: 'done', requests: 1, failures: [] }]])
  expect(worked).toBe('1 request done, 0 of them failed.\n')
  expect(emulator.requests).toHaveLength(1)
})
