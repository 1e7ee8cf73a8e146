import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { copyDemo } from '../../support/demoCopy.ts'
import { runCli, runCommand, tempFolder } from '../../support/kit.ts'
import { testLinux } from '../../support/systems.ts'
import { openStore } from '../../support/testStore.ts'

async function folder(): Promise<string> {
  const dir = tempFolder()
  await (await openStore(join(dir, 'x.db'))).close()
  return dir
}
const DATABASE = ['--database', 'x.db']
const SPOT_DAYS =
  'select local_date, avg from observations_daily where indicator_id = 600 and geo_id = 3 and time_trunc is null and geo_agg is null'
const ENDLESS = 'with recursive n (i) as (select 1 union all select i + 1 from n) select count(*) from n'

testLinux.each<[NodeJS.Signals, number | null]>([
  ['SIGKILL', null],
  ['SIGTERM', 143],
])('a query ends when only its parent process gets %s', async (signal, code) => {
  const dir = await folder()
  const children: number[] = []
  const ended = await runCli(dir, ['query', ENDLESS, '--database', 'x.db'], {}, (parent) => {
    // The child process runs the statement.
    const look = setInterval(() => {
      const listed = readFileSync(`/proc/${parent.pid}/task/${parent.pid}/children`, 'utf8').trim()
      if (listed === '') return
      clearInterval(look)
      children.push(...listed.split(' ').map(Number))
      parent.kill(signal)
      // The children inherit this output, which closes when they end.
    }, 20)
  })
  expect(children.length).toBeGreaterThan(0)
  if (code !== null) expect(ended.code).toBe(code)
  const alive = () => children.filter((pid) => existsSync(`/proc/${pid}/exe`))
  while (alive().length > 0) await sleep(50)
})

test.each([
  ['select hex(zeroblob(200000000)) as v', 'csv', '0'],
  ['select hex(zeroblob(300000000)) as v', 'csv', '60'],
  ['select zeroblob(500000000) as v', 'json', '60'],
  ['select zeroblob(1500000000) as v', 'table', '60'],
])('the query %s as %s ends with a clear error when its result is too large', async (sql, format, timeout) => {
  const args = ['query', sql, '--format', format, '--timeout', timeout, '--database', 'x.db']
  const { code, err } = await runCommand(await folder(), args)
  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringMatching(
      /(?:too large|more memory than it may use|at most [\d,]+ fit).*\n {2}→ (?:Ask for|Select) less/,
    ),
  })
})

test.each([
  ['zeroblob(100000000)', '100000000 bytes'],
  ['hex(zeroblob(50000000))', '000…'],
])('a table shortens %s for the terminal', async (value, shown) => {
  const { code, out } = await runCommand(await folder(), ['query', `select ${value} as v`, '--database', 'x.db'])
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(shown) })
})

test.each(['', ' ; ', '/* nothing */'])('the statement "%s" is reported as a user error, not as a bug', async (sql) => {
  const { code, err } = await runCommand(await folder(), ['query', sql, '--database', 'x.db'])
  expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/does not return rows.*\n {2}→ Use a SELECT/) })
})

test('--with reads CSV files as tables that can be joined with the database', async () => {
  const dir = tempFolder()
  await (await copyDemo(join(dir, 'x.db'))).close()
  const [{ day, avg }] = JSON.parse(
    (await runCommand(dir, ['query', `select max(local_date) as day, avg from (${SPOT_DAYS})`, '--json', ...DATABASE]))
      .out,
  )
  writeFileSync(
    join(dir, 'Mis costes.csv'),
    `fecha;coste\n${day.split('-').reverse().join('/')};1.000,5\n30/01/2020;2,25\n`,
  )
  writeFileSync(join(dir, 'b.csv'), 'x\n1\n')
  const sql = `select local_date, round(avg + coste, 4) as total, t.x from (${SPOT_DAYS}) join mis_costes on fecha = local_date join t on true`
  const done = await runCommand(dir, [
    'query',
    sql,
    '--json',
    '--with',
    'Mis costes.csv',
    '--with',
    't=b.csv',
    ...DATABASE,
  ])
  expect(done).toMatchObject({ code: 0, err: 'mis_costes: fecha date, coste real (2 rows)\nt: x integer (1 row)\n' })
  expect(JSON.parse(done.out)).toEqual([{ local_date: day, total: Math.round((avg + 1000.5) * 1e4) / 1e4, x: 1 }])
})

test('a CSV file at its limits is read, and named if the statement needs too much memory', async () => {
  const dir = await folder()
  const cell = (i: number) => `${i}`.padEnd(15, 'x')
  const lines = Array.from({ length: 499_999 }, (_, i) => `${cell(i)};${cell(i)}\n`)
  writeFileSync(join(dir, 'big.csv'), `a;b\n${lines.join('')}`)
  const query = (sql: string) => runCommand(dir, ['query', sql, '--with', 'big.csv', '--json', ...DATABASE])
  expect(await query('select count(*) as n from big')).toMatchObject({ code: 0, out: expect.stringMatching('499999') })
  expect(await query('select group_concat(x.a) from big x, big y')).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      /needs more memory than it may use \(768 MiB\), with the values of big\.csv \(15\.3 MiB\).*\n.*Leave out rows and columns of the CSV/,
    ),
  })
})

test.each<[string, string, RegExp]>([
  ['select 1', 'observations=a.csv', /already has a table or view observations/],
  ['select 1', '1.csv', /does not give a table name/],
  ['select 1', 'sqlite_x=a.csv', /names that begin with sqlite_ belong to the database/],
  ['select * from café', 'Café Ñu.csv', /no such table: café.*\n.*Tables of --with: cafe_nu\./],
  ['select 1', 'wide.csv', /wide\.csv, line 1: the file has 3,001 columns; at most 1,000 fit/],
  ['select 1', 'missing.csv', /missing\.csv does not exist/],
  ['select 1', 'bad.csv', /bad\.csv, line 2, column x: 1\.234 may be 1\.234 or 1234/],
  ['delete from observation', 'a.csv', /read-only/],
  ['insert into a values (1) returning x', 'a.csv', /read-only/],
  ["attach 'y.db' as y", 'a.csv', /does not return rows/],
])('%s with the file %s is refused', async (sql, file, message) => {
  const dir = await folder()
  for (const name of ['a.csv', '1.csv', 'Café Ñu.csv']) writeFileSync(join(dir, name), 'x\n1\n')
  writeFileSync(join(dir, 'wide.csv'), `${'a;'.repeat(3000)}\n`)
  writeFileSync(join(dir, 'bad.csv'), 'x;y\n1.234;\n')
  const done = await runCommand(dir, ['query', sql, '--with', file, ...DATABASE])
  expect(done).toMatchObject({ code: 2, err: expect.stringMatching(message) })
  expect(existsSync(join(dir, 'y.db'))).toBe(false)
})
