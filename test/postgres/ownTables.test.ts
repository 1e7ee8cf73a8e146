import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../src/db/open.ts'
import { runCommand, tempFolder } from '../support/kit.ts'
import { databaseWithRoles, migratedDatabase, withClient } from './database.ts'

const CSV = `day;eur;n;at;note
2025-10-26;1.234,5;1;2025-10-26T02:00:00+01:00;a
2025-10-27;2,5;;2025-10-27T00:15Z;"b ""c"""
`

function folder(): string {
  const dir = tempFolder()
  writeFileSync(join(dir, 'costs.csv'), CSV)
  return dir
}

test('--with reads a CSV file as a temporary table, and the transaction is read-only afterwards', async () => {
  const url = await migratedDatabase()
  const dir = folder()
  const query = (sql: string) => runCommand(dir, ['query', sql, '--json', '--with', 'costs.csv', '--database', url])
  const done = await query('select day, eur, n, at, note, day - 1 as before from costs order by day')
  expect(done.err).toBe('costs: day date, eur real, n integer, at instant, note text (2 rows)\n')
  expect(JSON.parse(done.out)).toEqual([
    { day: '2025-10-26', eur: 1234.5, n: 1, at: '2025-10-26T01:00:00Z', note: 'a', before: '2025-10-25' },
    { day: '2025-10-27', eur: 2.5, n: null, at: '2025-10-27T00:15:00Z', note: 'b "c"', before: '2025-10-26' },
  ])
  for (const sql of ['delete from _run', 'drop table costs', "select nextval('_run_id_seq')"])
    expect(await query(sql)).toMatchObject({ code: 2 })
  const { rows } = await withClient(url, (client) => client.query("select from pg_class where relname = 'costs'"))
  expect(rows).toEqual([])
  expect(await query('set transaction read write')).toMatchObject({ code: 2 })
  const taken = await runCommand(dir, ['query', 'select 1', '--with', 'Series=costs.csv', '--database', url])
  expect(taken).toMatchObject({ code: 2, err: expect.stringContaining('already has a table or view Series') })
})

test('--with refuses names that hide tables of the server, or that are equal to it', async () => {
  const url = await migratedDatabase()
  const dir = folder()
  const start = 'é'.repeat(31)
  writeFileSync(join(dir, 'long.csv'), `${start}Ω,${start}é\n1,2\n`)
  const query = (file: string) =>
    runCommand(dir, ['query', 'select 1 as one', '--json', '--with', file, '--database', url])
  expect(await query('pg_class=costs.csv')).toMatchObject({
    code: 2,
    err: expect.stringContaining('already has a table or view pg_class'),
  })
  expect(await query('long.csv')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/The columns é+Ω and é+ of long begin with the same 63 bytes/),
  })
})

test('--with names the privilege that a role lacks', async () => {
  const { url, as } = await databaseWithRoles()
  await (await openStore(as('writer'))).close()
  const query = () =>
    runCommand(folder(), ['query', 'select n from costs', '--with', 'costs.csv', '--database', as('reader')])
  await withClient(url, (client) =>
    client.query(
      `do $$ begin execute format('revoke temporary on database %I from public', current_database()); end $$`,
    ),
  )
  expect(await query()).toMatchObject({ code: 2, err: expect.stringContaining('TEMPORARY') })
})
