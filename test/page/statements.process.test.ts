import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createStatementRunner, STATEMENT_LIMITS } from '../../src/page/statementQueue.ts'
import { addSeries, fillBy } from '../cli/filled.ts'
import { fileFolder } from '../support/kit.ts'
import { testLinux } from '../support/systems.ts'
import { openStore } from '../support/testStore.ts'

/** Limits above the start time on a slow machine. */
const PATIENT: typeof STATEMENT_LIMITS = { ...STATEMENT_LIMITS, ms: 120_000 }
const ENDLESS = 'with recursive n (i) as (select 1 union all select i + 1 from n) select max(i) from n'

const folder = fileFolder()
let file: string
beforeAll(async () => {
  file = join(folder, 'own.db')
  await fillBy(file, (store) => addSeries(store, 1, {}, 3, [['2025-05-01', 1.5]]))
})

function runner(limits = PATIENT) {
  const made = createStatementRunner(limits)
  onTestFinished(() => made.close())
  return (sql: string, parameters = {}) => made.run({ file, sql, parameters })
}

describe('statements from users', () => {
  test('a statement returns unique column names and values that JSON can represent', async () => {
    const sql = `select at_utc, value, value, 9007199254740993 as big, 1e999 as endless, x'00ff' as bytes, null as none from observations where geo_id = :geo`
    expect(await runner()(sql, { geo: 3n })).toEqual({
      columns: ['at_utc', 'value', 'value_2', 'big', 'endless', 'bytes', 'none'],
      rows: [['2025-05-01T00:00:00Z', 1.5, 1.5, '9007199254740993', 'Infinity', 'AP8=', null]],
      cut: null,
    })
  })

  test('an endless statement times out, and the next one runs', async () => {
    const made = createStatementRunner({ ...STATEMENT_LIMITS, ms: 300 })
    onTestFinished(() => made.close())
    await expect(made.run({ file, sql: ENDLESS, parameters: {} })).rejects.toMatchObject({ code: 'timeout' })
    expect((await runner()('select 1 as one')).rows).toEqual([[1]])
  })

  test('a running statement ends when its reader closes', async () => {
    const made = createStatementRunner(PATIENT)
    const running = made.run({ file, sql: ENDLESS, parameters: {} })
    made.close()
    await expect(running).rejects.toThrow()
  })

  test('a result is truncated after a number of rows or bytes and marked as such', async () => {
    const many = 'with recursive n (i) as (select 1 union all select i + 1 from n) select i from n'
    const rows = await runner({ ...PATIENT, rows: 7 })(many)
    expect(rows).toMatchObject({ cut: 'rows', rows: { length: 7 } })
    const bytes = await runner({ ...PATIENT, bytes: 1000 })(`select printf('%.*c', 300, 'x') from (${many})`)
    expect(bytes).toMatchObject({ cut: 'bytes', rows: { length: 3 } })
  })

  test.each([
    ['writes', `insert into geo (id) values (9)`],
    ['creates a temporary table', 'create temp table mine (x)'],
    ['opens another file', `attach database '/tmp/other.db' as other`],
    ['writes a file', `vacuum into '/tmp/copy.db'`],
    ['loads code', `select load_extension('x')`],
    ['contains several statements', 'select 1; select 2'],
    ['lacks a parameter', 'select :x'],
  ])('a statement that %s is refused with an explanation', async (_, sql) => {
    await expect(runner()(sql)).rejects.toMatchObject({ name: 'InputError', message: expect.stringMatching(/\.$/) })
  })

  test('a statement cannot enable writes', async () => {
    const query = runner()
    await query('pragma query_only = off').catch(() => undefined)
    await expect(query(`insert into geo (id) values (9) returning id`)).rejects.toThrow()
    const store = await openStore(file)
    expect(store.get('select count(*) from geo where id = 9')).toBe(0)
    await store.close()
  })

  test('a statement that exceeds the memory limit fails alone', async () => {
    const query = runner()
    await expect(
      query(`select length(group_concat(hex(zeroblob(1000000)))) from observation, generate_series(1, 1000)`),
    ).rejects.toThrow()
    const large = `with recursive n (i) as (select 1 union all select i + 1 from n where i < 400) select group_concat(hex(zeroblob(1000000))) as x from n`
    await expect(query(large)).rejects.toMatchObject({ code: expect.stringMatching(/value-too-large|no-memory/) })
    for (const one of ['hex(zeroblob(200000000))', `printf('%400000000d', 1)`])
      await expect(query(`select ${one}`), one).rejects.toMatchObject({ code: 'no-memory' })
    expect((await query('select 1 as one')).rows).toEqual([[1]])
  })

  test.each([
    ['later', '/nowhere/node'],
    ['immediately', ''],
  ])('a process that cannot start, reported %s, fails its statement, and the next one runs', async (_when, path) => {
    const { execPath } = process
    const made = createStatementRunner(PATIENT)
    onTestFinished(() => {
      Object.assign(process, { execPath })
      made.close()
    })
    const request = { file, sql: 'select 1 as one', parameters: {} }
    process.execPath = path
    await expect(made.run(request)).rejects.toMatchObject({ name: 'StoreError', code: 'no-process' })
    // A failed start in advance is forgotten.
    made.warm()
    await nextTurn()
    process.execPath = execPath
    expect((await made.run(request)).rows).toEqual([[1]])
  })

  test('concurrent statements wait in a queue, and are refused only if it is full', async () => {
    const query = runner()
    const results = await Promise.allSettled(Array.from({ length: 30 }, (_, i) => query('select :i as i', { i })))
    const done = results.filter(({ status }) => status === 'fulfilled')
    expect(done.length).toBe(10)
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'busy' })
  })

  testLinux('a statement runs in a process without the environment of the server', async () => {
    process.env.INDICATOR_SYNC_API_KEY = 'k'.repeat(64)
    onTestFinished(() => void delete process.env.INDICATOR_SYNC_API_KEY)
    const made = createStatementRunner(PATIENT)
    onTestFinished(() => made.close())
    made.warm()
    if (process.platform !== 'linux') return
    const children = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('statementChild')
        } catch {
          return false
        }
      })
    expect(children.length).toBeGreaterThan(0)
    for (const pid of children) expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('API_KEY')
    await made.run({ file, sql: 'select 1', parameters: {} })
  })
})
