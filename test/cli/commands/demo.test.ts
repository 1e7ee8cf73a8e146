import { expect, test } from 'vitest'
import { emulate, runCommand, tempFolder } from '../../support/kit.ts'
import { jobFolder, serviceAt } from '../jobFolder.ts'

test('the demo refuses to write into a database with real data', async () => {
  const { url, key } = await emulate()
  const dir = jobFolder()
  await runCommand(dir, ['sync', 'job.yaml'], serviceAt(url, key))
  const { code, err } = await runCommand(dir, ['demo', '--database', 'data/indicator-sync.db'])
  expect([code, err]).toEqual([2, expect.stringMatching(/contains real data of job one/)])
  const jobs = await runCommand(dir, ['query', 'select count(*) from _run', '--format', 'csv'])
  expect(jobs.out.trim().split('\n')[1]).toBe('1')
})

test('a new demo has revisions, because it syncs as of yesterday and as of today', async () => {
  const dir = tempFolder()
  const first = await runCommand(dir, ['demo'])
  expect(first.out).toMatch(/^Yesterday: done .*\nToday: done .* [1-9]\d* revised/)
  const again = await runCommand(dir, ['demo'])
  expect(again.out).toMatch(/^demo: /)
  const runs = await runCommand(dir, [
    'query',
    'select count(*) from _run',
    '--format',
    'csv',
    '--database',
    'data/demo.db',
  ])
  expect(runs.out.trim().split('\n')[1]).toBe('3')
})

test('the demo prints rows and its next steps within 80 columns', async () => {
  const dir = tempFolder()
  const result = await runCommand(dir, ['demo'])
  expect(result.code).toBe(0)
  expect(result.out).toMatch(/data\/demo\.db contains \d{2},\d{3} values of \d+ series/)
  expect(result.out.match(/──/g)!.length).toBeGreaterThanOrEqual(3)
  const [, sql = ''] = /query --database \S+ "(.*)"/.exec(result.out) ?? []
  expect(sql.split(/,| from /).length).toBeLessThanOrEqual(7)
  // A narrow terminal gets shortened names, and one record per row for all columns of a view.
  const widest = ({ out }: { readonly out: string }) => Math.max(...out.split('\n').map((line) => [...line].length))
  const query = (sql: string) => runCommand(dir, ['query', sql, '--database', 'data/demo.db'], { COLUMNS: '80' })
  const short = await query(sql)
  expect(short.out).toMatch(/^at_local +indicator_name/)
  const records = await query('select * from latest')
  expect(records.out).toMatch(/^── 1 ─+\nseries_id +1\n/)
  for (const shown of [short, records]) expect(widest(shown)).toBeLessThanOrEqual(80)
})
