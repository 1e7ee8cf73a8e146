import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openReader, openStore, takeOver } from '../../src/db/open.ts'
import { emulate, ms, runCli, runCommand, runJob, tempFolder } from '../support/kit.ts'
import { createDatabase, tempDatabase, withClient } from './database.ts'
import { startServer } from './server.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const JOB = `name: job
series: [{ indicators: [600, 1293], window: { from: 2025-10-01, to: 2025-10-03 } }]
`

test('an interrupted copy is refused by every command until the same command completes it', async () => {
  const cwd = tempFolder()
  const url = await tempDatabase()
  await (await openStore(url)).close()
  const emulator = await emulate({ now: NOW / 1000 })
  writeFileSync(join(cwd, 'job.yaml'), JOB)
  for (const name of ['source.db', 'other.db']) {
    const store = await openStore(join(cwd, name))
    await runJob(store, emulator, JOB, { now: NOW + (name === 'other.db' ? 1000 : 0) })
    await store.close()
  }
  const copying = ['migrate', '--from', 'source.db', '--database', url]

  // The copy cannot write coverage and is killed while it waits.
  await withClient(url, async (client) => {
    await client.query('begin; lock table _coverage in share mode')
    const { code } = await runCli(cwd, copying, {}, (child) => {
      const look = async (): Promise<void> => {
        const { rows } = await client.query(
          `select 1 from pg_locks where not granted and relation = 'public._coverage'::regclass
           and database = (select oid from pg_database where datname = current_database())`,
        )
        if (rows.length > 0) child.kill('SIGKILL')
        else if (child.exitCode === null) await look()
      }
      void look()
    })
    expect(code).toBe(null)
    await client.query('rollback')
    const { rows } = await client.query(
      'select (select count(*)::int from observation) as stored, (select count(*)::int from _coverage) as covered',
    )
    expect(rows).toEqual([{ stored: expect.toSatisfy((count: number) => count > 0), covered: 0 }])
  })

  const env = {
    INDICATOR_SYNC_DATABASE: url,
    INDICATOR_SYNC_API_KEY: emulator.key,
    INDICATOR_SYNC_SERVICE: 'generic',
    INDICATOR_SYNC_BASE_URL: emulator.url,
  }
  for (const args of [
    ...[['status'], ['check'], ['gaps'], ['plan', 'job.yaml'], ['sync', 'job.yaml'], ['show', '600'], ['migrate']],
    ...[
      ['sync', 'job.yaml', '--distributed'],
      ['worker', '--until-empty'],
      ['publish', 'copy.db'],
      ['migrate', '--list'],
    ],
    ['query', 'select count(*) from observations'],
    ['migrate', '--from', 'other.db'],
  ]) {
    const { code, out, err } = await runCommand(cwd, args, env)
    expect([args.join(' '), code, out]).toEqual([args.join(' '), 7, ''])
    expect(err, args.join(' ')).toMatch(
      args.includes('--from') ? /not an unfinished copy of/ : /is an unfinished copy of a file/,
    )
  }
  const doctor = await runCommand(cwd, ['doctor'], env)
  expect(doctor).toMatchObject({
    code: 6,
    out: expect.stringMatching(/FIX {2}database .* is an unfinished copy of a file/),
  })
  expect(doctor.out).toContain('migrate --from FILE')
  await expect(openReader(url).kysely.selectFrom('_run').select('id').execute()).rejects.toMatchObject({
    code: 'unfinished-copy',
  })

  expect(await runCommand(cwd, copying)).toMatchObject({ code: 0, err: expect.stringContaining('both are equal') })
  expect(await runCommand(cwd, ['status'], env)).toMatchObject({ code: 0 })
  // A complete database is not a valid target.
  const source = openReader(join(cwd, 'source.db'))
  await expect(takeOver(source, url, () => undefined)).rejects.toMatchObject({ code: 'not-empty' })
  await source.close()
})

test('a copy interrupted by a server crash loses no copied rows and can be continued', async () => {
  // Data that is not flushed at a commit is lost.
  const server = await startServer({ wal_writer_delay: '10s', wal_buffers: '16MB' })
  onTestFinished(() => server.close())
  const { url } = await createDatabase(server.url)
  const file = join(tempFolder(), 'source.db')
  const store = await openStore(file)
  // More values than one batch of the copy.
  const long = 'series: [{ indicators: [1293], geoIds: [8741], window: { from: 2025-06-01, to: 2025-10-03 } }]'
  await runJob(store, await emulate({ now: NOW / 1000 }), long, { now: NOW })
  await store.close()
  const source = openReader(file)
  onTestFinished(() => source.close())
  let restarting: Promise<void> | undefined
  const copied = takeOver(source, url, (table) => {
    if (table === 'observation') restarting ??= server.restart('immediate')
  })
  await copied.catch((error: unknown) => error)
  await restarting
  // If it waited for the server, it is complete already.
  await takeOver(source, url, () => undefined).catch((error: unknown) =>
    expect(error).toMatchObject({ code: 'not-empty' }),
  )
  const stored = 'select count(*) as rows from observation'
  const { rows } = await withClient(url, (client) => client.query(stored))
  const [whole] = await source.kysely
    .selectFrom('observation')
    .select((of) => of.fn.countAll<number>().as('rows'))
    .execute()
  expect(Number(rows[0].rows)).toBe(whole!.rows)
  // Without statistics, views over the copy take minutes.
  const analyzed = `select 1 from pg_stat_user_tables where relname in ('observation', 'series') and last_analyze is not null`
  expect((await withClient(url, (client) => client.query(analyzed))).rowCount).toBe(2)
})
